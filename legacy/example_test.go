package legacy_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/sluice-rate/sluice"
	"github.com/sluice-rate/sluice/legacy"
)

// In your code rdb is a go-redis or rueidis client; here it is one that plays Redis.
func Example() {
	ctx := context.Background()
	rdb := newFake(0, 0)
	limiter := legacy.New(rdb, nil).Limiter("order:submit")
	limiter.TrySetRate(ctx, sluice.Config{Rate: sluice.Per(3, time.Hour)})

	for range 4 {
		d, err := limiter.TryAcquire(ctx, 1)
		fmt.Println(d.Allowed, d.Remaining, err)
	}
	fmt.Println(limiter.Available(ctx))
	// Output:
	// true 2 <nil>
	// true 1 <nil>
	// true 0 <nil>
	// false 0 <nil>
	// 0 <nil>
}

// A caller who waits sleeps until the window ends, and asks again. One who cannot wait for that long is refused at once.
func ExampleLimiter_TryAcquireFor() {
	ctx := context.Background()
	rdb := newFake(1, 20*time.Millisecond) // one per 20 ms
	limiter := legacy.New(rdb, nil).Limiter("crawl")
	limiter.TryAcquire(ctx, 1)

	d, err := limiter.TryAcquireFor(ctx, 1, time.Second)
	fmt.Println(d.Allowed, d.Wait > 0, err)
	d, err = limiter.TryAcquireFor(ctx, 1, time.Millisecond)
	fmt.Println(d.Allowed, err)
	// Output:
	// true true <nil>
	// false <nil>
}

// Acquire waits for as long as the context allows.
func ExampleLimiter_Acquire() {
	rdb := newFake(1, time.Hour)
	limiter := legacy.New(rdb, nil).Limiter("export")
	fmt.Println(limiter.Acquire(context.Background(), 1))

	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	err := limiter.Acquire(ctx, 1) // an hour is too long
	fmt.Println(errors.Is(err, sluice.ErrLimited), errors.Is(err, context.DeadlineExceeded))
	// Output:
	// <nil>
	// true true
}
