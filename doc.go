// Package sluice limits how often things happen, across every process that shares a store.
//
//	client := sluice.New(redisengine.New(rdb, nil))
//	limiter := client.Limiter("order:submit")
//	limiter.TrySetRate(ctx, sluice.Config{Rate: sluice.Per(3, 5*time.Second)})
//
//	d, err := limiter.TryAcquire(ctx, 1) // at once; d.Allowed, d.Remaining, d.RetryAfter
//	err = limiter.Acquire(ctx, 1)        // waits its turn; ctx bounds the wait
//
// A limiter is a named rate that is stored together with its ledger: a list of the grants that are still in the
// window. So the window is a true sliding one, and exact: in every half-open window [t, t+interval) of the store's clock
// no more than the rate is granted, whatever mix of processes, waits, returns and changes of the rate there is.
//
// Callers who wait get a reservation: a grant dated in the future. They sleep until its date and go on, with no second
// request, served first come first served across all processes. When others leave or give back, they move up.
//
// Where the ledger lives is the engine's matter. Package redisengine keeps it in Redis, in the keys and bytes of
// Redisson's RRateLimiter, so that Java services can share it; package memengine keeps it in this process.
//
// A limit can also travel with the call, for millions of keys and without any set-up; several charges are taken together or not at all:
//
//	minute, hour := sluice.Limit{Rate: sluice.Per(5, time.Minute)}, sluice.Limit{Rate: sluice.Per(100, time.Hour)}
//	o, err := client.Take(ctx, minute.Charge("user:42"), hour.Charge("user:42"))
//
// A refusal is a Decision, not an error. Errors match the Err… sentinels with errors.Is.
package sluice
