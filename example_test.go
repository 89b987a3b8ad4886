package sluice_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/sluice-rate/sluice"
	"github.com/sluice-rate/sluice/memengine"
)

// Three lines to start. With Redis the engine is redisengine.New(rdb, nil), rdb being a go-redis client.
func Example() {
	ctx := context.Background()
	limiter := sluice.New(memengine.New(nil)).Limiter("order:submit")
	limiter.TrySetRate(ctx, sluice.Config{Rate: sluice.Per(3, time.Hour)})

	for range 4 {
		d, err := limiter.TryAcquire(ctx, 1)
		fmt.Println(d.Allowed, d.Remaining, err)
	}
	// Output:
	// true 2 <nil>
	// true 1 <nil>
	// true 0 <nil>
	// false 0 <nil>
}

// A limiter is configured once; who comes later finds it as it is.
func ExampleLimiter_TrySetRate() {
	ctx := context.Background()
	limiter := sluice.New(memengine.New(nil)).Limiter("mail")
	fmt.Println(limiter.TrySetRate(ctx, sluice.Config{Rate: sluice.Per(100, time.Minute)}))
	fmt.Println(limiter.TrySetRate(ctx, sluice.Config{Rate: sluice.Per(5, time.Second)}))
	config, err := limiter.Config(ctx)
	fmt.Println(config.Rate, config.Mode, err)
	// Output:
	// true <nil>
	// false <nil>
	// 100/1m overall <nil>
}

// SetRate begins anew: what has been used is forgotten.
func ExampleLimiter_SetRate() {
	ctx := context.Background()
	limiter := sluice.New(memengine.New(nil)).Limiter("mail")
	limiter.SetRate(ctx, sluice.Config{Rate: sluice.Per(2, time.Hour)})
	limiter.TryAcquire(ctx, 2)
	limiter.SetRate(ctx, sluice.Config{Rate: sluice.Per(5, time.Hour)})
	fmt.Println(limiter.Available(ctx))
	// Output: 5 <nil>
}

// UpdateRate keeps what has been used: two of the five are gone already.
func ExampleLimiter_UpdateRate() {
	ctx := context.Background()
	limiter := sluice.New(memengine.New(nil)).Limiter("mail")
	limiter.TrySetRate(ctx, sluice.Config{Rate: sluice.Per(2, time.Hour)})
	limiter.TryAcquire(ctx, 2)
	fmt.Println(limiter.UpdateRate(ctx, sluice.Config{Rate: sluice.Per(5, time.Hour)}))
	fmt.Println(limiter.Available(ctx))
	// Output:
	// true <nil>
	// 3 <nil>
}

// A refusal says when the call would pass; nothing was taken.
func ExampleLimiter_TryAcquire() {
	ctx := context.Background()
	clock := time.Unix(1_800_000_000, 0)
	engine := memengine.New(&memengine.Options{Now: func() time.Time { return clock }})
	limiter := sluice.New(engine).Limiter("export")
	limiter.TrySetRate(ctx, sluice.Config{Rate: sluice.Per(10, time.Minute)})

	limiter.TryAcquire(ctx, 8)
	clock = clock.Add(45 * time.Second)
	d, err := limiter.TryAcquire(ctx, 5)
	fmt.Println(d.Allowed, d.Remaining, d.RetryAfter, err)
	// Output: false 2 15s <nil>
}

// Acquire waits its turn. The context bounds the wait; one that cannot be afforded is refused at once.
func ExampleLimiter_Acquire() {
	limiter := sluice.New(memengine.New(nil)).Limiter("crawl")
	limiter.TrySetRate(context.Background(), sluice.Config{Rate: sluice.Per(1, 20*time.Millisecond)})

	fmt.Println(limiter.Acquire(context.Background(), 1)) // at once
	fmt.Println(limiter.Acquire(context.Background(), 1)) // after 20 ms

	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Millisecond)
	defer cancel()
	var limited *sluice.LimitedError
	fmt.Println(errors.As(limiter.Acquire(ctx, 1), &limited))
	// Output:
	// <nil>
	// <nil>
	// true
}

// TryAcquireFor waits for a while at most, and is refused at once when that would not do.
func ExampleLimiter_TryAcquireFor() {
	ctx := context.Background()
	limiter := sluice.New(memengine.New(nil)).Limiter("crawl")
	limiter.TrySetRate(ctx, sluice.Config{Rate: sluice.Per(1, 20*time.Millisecond)})
	limiter.TryAcquire(ctx, 1)

	d, err := limiter.TryAcquireFor(ctx, 1, time.Second)
	fmt.Println(d.Allowed, d.Wait >= 10*time.Millisecond, err)
	// Output: true true <nil>
}

// A reservation is for callers who have something else to do until their turn.
func ExampleLimiter_Reserve() {
	ctx := context.Background()
	clock := time.Unix(1_800_000_000, 0)
	now := func() time.Time { return clock }
	client := sluice.New(memengine.New(&memengine.Options{Now: now}), sluice.WithClock(now))
	limiter := client.Limiter("print")
	limiter.TrySetRate(ctx, sluice.Config{Rate: sluice.Per(1, 10*time.Second)})
	limiter.TryAcquire(ctx, 1)

	r, err := limiter.Reserve(ctx, 1, time.Minute)
	fmt.Println(r.Allowed, r.Delay(), err)
	fmt.Println(r.Cancel(ctx)) // changed our mind
	// Output:
	// true 10s <nil>
	// <nil>
}

// Refund gives exactly one grant back, by its receipt.
func ExampleLimiter_Refund() {
	ctx := context.Background()
	limiter := sluice.New(memengine.New(nil)).Limiter("upload")
	limiter.TrySetRate(ctx, sluice.Config{Rate: sluice.Per(10, time.Hour)})
	d, _ := limiter.TryAcquire(ctx, 4) // and then the upload fails
	fmt.Println(limiter.Refund(ctx, d.Receipt))
	fmt.Println(limiter.Refund(ctx, d.Receipt)) // a second time it frees nothing
	// Output:
	// 4 <nil>
	// 0 <nil>
}

// RefundN gives a part back; the rest goes by a new receipt.
func ExampleLimiter_RefundN() {
	ctx := context.Background()
	limiter := sluice.New(memengine.New(nil)).Limiter("tokens")
	limiter.TrySetRate(ctx, sluice.Config{Rate: sluice.Per(1000, time.Hour)})
	d, _ := limiter.TryAcquire(ctx, 500) // an estimate; 120 were needed
	freed, rest, err := limiter.RefundN(ctx, d.Receipt, 380)
	fmt.Println(freed, rest.Permits(), err)
	// Output: 380 120 <nil>
}

// Release gives back without a receipt: the oldest grants shrink first.
func ExampleLimiter_Release() {
	ctx := context.Background()
	limiter := sluice.New(memengine.New(nil)).Limiter("upload")
	limiter.TrySetRate(ctx, sluice.Config{Rate: sluice.Per(10, time.Hour)})
	limiter.TryAcquire(ctx, 4)
	fmt.Println(limiter.Release(ctx, 3))
	fmt.Println(limiter.Release(ctx, 3)) // no more than is in use
	// Output:
	// 3 <nil>
	// 1 <nil>
}

// The ledger lists the grants that are in the window, and the reservations of those who wait.
func ExampleLimiter_Ledger() {
	ctx := context.Background()
	clock := time.Unix(1_800_000_000, 0)
	engine := memengine.New(&memengine.Options{Now: func() time.Time { return clock }})
	limiter := sluice.New(engine).Limiter("print")
	limiter.TrySetRate(ctx, sluice.Config{Rate: sluice.Per(3, 5*time.Second)})

	limiter.TryAcquire(ctx, 2)
	clock = clock.Add(time.Second)
	limiter.TryAcquire(ctx, 1)
	limiter.Reserve(ctx, 2, time.Minute)
	for e, err := range limiter.Ledger(ctx) {
		fmt.Println(e.Permits, e.Kind, e.At.Sub(clock), err)
	}
	// Output:
	// 2 grant -1s <nil>
	// 1 grant 0s <nil>
	// 2 reservation 4s <nil>
}

// Each client of a PerClient limiter has a budget of its own. The client's id is a UUID unless it is set.
func ExampleWithClientID() {
	ctx := context.Background()
	engine := memengine.New(nil)
	a := sluice.New(engine, sluice.WithClientID("a")).Limiter("poll")
	b := sluice.New(engine, sluice.WithClientID("b")).Limiter("poll")
	a.TrySetRate(ctx, sluice.Config{Rate: sluice.Per(2, time.Hour), Mode: sluice.PerClient})

	a.TryAcquire(ctx, 2)
	fmt.Println(a.Available(ctx))
	fmt.Println(b.Available(ctx))
	// Output:
	// 0 <nil>
	// 2 <nil>
}

// A limiter that nobody uses for its keep-alive vanishes.
func ExampleConfig() {
	ctx := context.Background()
	clock := time.Unix(1_800_000_000, 0)
	engine := memengine.New(&memengine.Options{Now: func() time.Time { return clock }})
	limiter := sluice.New(engine).Limiter("session:42")
	limiter.TrySetRate(ctx, sluice.Config{Rate: sluice.Per(10, time.Second), KeepAlive: time.Minute})

	fmt.Println(limiter.TTL(ctx))
	clock = clock.Add(2 * time.Minute)
	fmt.Println(limiter.Exists(ctx))
	// Output:
	// 1m0s <nil>
	// false <nil>
}

// Expire, Persist, Rename and Delete take the whole limiter: its configuration and its ledger.
func ExampleLimiter_Rename() {
	ctx := context.Background()
	client := sluice.New(memengine.New(nil))
	limiter := client.Limiter("old")
	limiter.TrySetRate(ctx, sluice.Config{Rate: sluice.Per(10, time.Hour)})
	limiter.TryAcquire(ctx, 4)

	fmt.Println(limiter.Rename(ctx, "new"))
	fmt.Println(client.Limiter("new").Available(ctx))
	fmt.Println(client.Limiter("new").Delete(ctx))
	// Output:
	// <nil>
	// 6 <nil>
	// true <nil>
}

// Rates read well in flags and files.
func ExampleParseRate() {
	for _, s := range []string{"3/5s", "100/m", "1000/1d", "5 per minute"} {
		fmt.Println(sluice.ParseRate(s))
	}
	// Output:
	// 3/5s <nil>
	// 100/1m <nil>
	// 1000/24h <nil>
	// 0/0s sluice: rate is "5 per minute", but must be permits, a slash and an interval, such as "3/5s"
}
