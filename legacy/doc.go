// Package legacy shares limiters with Java services that are still on a Redisson from 3.7.1 to 3.13.2.
//
//	client := legacy.New(rdb, nil) // a go-redis or rueidis client
//	limiter := client.Limiter("order:submit")
//	limiter.TrySetRate(ctx, sluice.Config{Rate: sluice.Per(3, 5*time.Second)})
//	d, err := limiter.TryAcquire(ctx, 1)
//
// Those versions keep fixed windows, and later ones sliding ones. This package keeps the old windows, by the same rules and in the same
// keys, so that a Go service can be put beside them. For anything else use the main limiter, sluice.New(redisengine.New(rdb, nil)), and go
// over to it as soon as all Java services are on Redisson 3.17 or newer: it has the same methods, and takes the configuration as
// it is; the window that is under way is forgotten.
//
// # What a fixed window is not
//
//   - It is not exact. A window begins with the first grant after the last one has ended, and lasts for the interval. Around its end up to
//     twice the rate passes within a moment: all of one window at its end, and all of the next at its beginning.
//   - Nothing is given back. There is no ledger, so a Decision has no Receipt, and there is no Refund, Release or Reserve.
//   - A call that is sent twice, because its answer was lost, is charged twice: the format has no place for a receipt by which the second
//     could be known. Nor is a take undone whose caller left before the answer came.
//   - There is no line across processes. Callers of one Client who wait for a limiter are served in the order in which they came to wait;
//     among the processes it is whoever asks first when a window has ended. Java's callers all ask at once then, and in the last
//     millisecond again and again; where they alone want more than the rate, little is left for those who wait here.
//   - There is no keep-alive, and no SetRate: to change a rate, Delete the limiter and give it a new one.
//
// # What is stored
//
// For the limiter "foo" the hash foo holds rate, interval in milliseconds and type (0 Overall, 1 PerClient). The string {foo}:value holds what
// is left of the window, and expires with it; a PerClient limiter has one for each client, {foo}:value:ID. A name with a hash tag is used
// as it is: user:{42}:api, user:{42}:api:value. Redisson before 3.10.1 counts a PerClient limiter as an Overall one; beside it use Overall.
//
// # What is refused
//
// Redisson 3.13.3 and newer, and this library's main limiter, use the same names for a sliding window, and the two kinds spoil each other: an
// old client that meets a newer one's value asks for ever without a pause, a newer Redisson that meets a window fails until that ends.
// Here a call that meets a newer limiter's ledger ({foo}:permits), or a value that does not expire, ends with a *sluice.CorruptError
// that says so, and changes nothing. So does one that meets a configuration or a value that cannot be read. Nothing is mended or guessed;
// Delete clears all but a ledger.
//
// It differs from those versions of Redisson in this: Available writes nothing, where Java's begins a window; more permits than the rate are
// an error at once, where Java's waits until the window has ended; and when the rate was lowered by hand, no more of a window is granted
// from then on than the new rate. All errors match those of package sluice.
//
// It needs Redis 6.2 or newer, or Valkey, and works on a cluster.
package legacy
