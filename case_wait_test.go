package sluice_test

import (
	"context"
	"errors"
	"math"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sluice-rate/sluice"
	"github.com/sluice-rate/sluice/memengine"
)

// The tests named TestCase are symptoms that users of rate limiters have reported, here of callers who sleep. See docs/cases.md.

// waiter is a limit in the hands of one who waits for one permit: a named limiter, or a limit that travels with the call.
type waiter struct {
	name string
	wait func(ctx context.Context) error
	try  func(ctx context.Context, maxWait time.Duration) (sluice.Decision, error)
}

// waiters are limits of one rate of all kinds, on engines of their own.
func waiters(t *testing.T, rate sluice.Rate) (all []waiter) {
	l := newLimiter(t, rate)
	all = append(all, waiter{
		"named",
		func(ctx context.Context) error { return l.Acquire(ctx, 1) },
		func(ctx context.Context, maxWait time.Duration) (sluice.Decision, error) {
			return l.TryAcquireFor(ctx, 1, maxWait)
		},
	})
	for _, a := range []sluice.Algorithm{sluice.SlidingWindow, sluice.TokenBucket, sluice.FixedWindow} {
		c, charge := sluice.New(memengine.New(nil)), sluice.Limit{Rate: rate, Algorithm: a}.Charge("key")
		all = append(all, waiter{
			a.String(),
			func(ctx context.Context) error { return c.Wait(ctx, charge) },
			func(ctx context.Context, maxWait time.Duration) (sluice.Decision, error) {
				o, err := c.TakeFor(ctx, maxWait, charge)
				return o.Decision, err
			},
		})
	}
	return all
}

// eachWaiter plays with a limit of each kind, each in a bubble of its own, which only ends when no goroutine is left.
func eachWaiter(t *testing.T, rate sluice.Rate, play func(t *testing.T, w waiter)) {
	for i := range 4 {
		synctest.Test(t, func(t *testing.T) { play(t, waiters(t, rate)[i]) })
	}
}

func TestCaseCancelledWaitersLeaveDebt(t *testing.T) {
	for i, want := range []struct {
		served int64
		fresh  time.Duration
	}{{20, 400 * time.Millisecond}, {20, 400 * time.Millisecond}, {30, 50 * time.Millisecond}, {20, 400 * time.Millisecond}} {
		synctest.Test(t, func(t *testing.T) {
			w := waiters(t, sluice.Per(20, time.Second))[i]
			ctx, cancel := context.WithCancel(t.Context())
			var served atomic.Int64
			var wg sync.WaitGroup
			for range 1000 {
				wg.Go(func() {
					switch err := w.wait(ctx); {
					case err == nil:
						served.Add(1)
					case !errors.Is(err, context.Canceled):
						t.Errorf("%s: a waiter who gives up: %v, want context.Canceled", w.name, err)
					}
				})
			}
			time.Sleep(500*time.Millisecond + time.Microsecond)
			cancel()
			wg.Wait()
			if got := served.Load(); got < want.served-1 || got > want.served {
				t.Errorf("%s: %d were served in half a second, want %d", w.name, got, want.served)
			}
			time.Sleep(100*time.Millisecond - time.Microsecond)
			start := time.Now()
			if err := w.wait(t.Context()); err != nil || time.Since(start) > want.fresh {
				t.Errorf("%s: who comes when all are gone waits %v, %v, want at most %v", w.name, time.Since(start), err, want.fresh)
			}
		})
	}
}

func TestCaseTooLateAndYetItBlocks(t *testing.T) {
	eachWaiter(t, sluice.Per(1, 10*time.Second), func(t *testing.T, w waiter) {
		if err := w.wait(t.Context()); err != nil {
			t.Fatal(err)
		}
		start := time.Now()
		if d, err := w.try(t.Context(), 5*time.Second); err != nil || d.Allowed || d.RetryAfter != 10*time.Second {
			t.Errorf("%s: a wait of at most 5s = %+v, %v, want refused for 10s", w.name, d, err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		defer cancel()
		if err := w.wait(ctx); !errors.Is(err, sluice.ErrLimited) || !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%s: a wait with a deadline in 5s = %v, want ErrLimited and DeadlineExceeded", w.name, err)
		}
		if took := time.Since(start); took != 0 {
			t.Errorf("%s: the refusals take %v, want none", w.name, took)
		}
	})
}

func TestCasePatienceOfAllTimeWraps(t *testing.T) {
	eachWaiter(t, sluice.Per(1, time.Second), func(t *testing.T, w waiter) {
		for _, wait := range []time.Duration{0, time.Second} {
			if d, err := w.try(t.Context(), math.MaxInt64); err != nil || !d.Allowed || d.Wait != wait {
				t.Errorf("%s: a wait of at most all time = %+v, %v, want allowed after %v", w.name, d, err, wait)
			}
		}
	})
}

func TestCaseWaitersInARowLoseTicks(t *testing.T) {
	for _, interval := range []time.Duration{time.Second, 500 * time.Millisecond} {
		eachWaiter(t, sluice.Per(1, interval), func(t *testing.T, w waiter) {
			start := time.Now()
			var wg sync.WaitGroup
			for range 25 {
				wg.Go(func() {
					if err := w.wait(t.Context()); err != nil {
						t.Error(err)
					}
				})
			}
			wg.Wait()
			if took, want := time.Since(start), 24*interval; took < want || took > want+time.Millisecond {
				t.Errorf("%s: 25 callers at one in %v take %v, want %v", w.name, interval, took, want)
			}
		})
	}
}

// TestCaseClientsLeaveGoroutines: a bubble ends only when all of its goroutines have.
func TestCaseClientsLeaveGoroutines(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for range 1000 {
			c := sluice.New(memengine.New(nil))
			charge := sluice.Limit{Rate: sluice.Per(1, time.Millisecond)}.Charge("key")
			for range 3 {
				if err := c.Wait(t.Context(), charge); err != nil {
					t.Fatal(err)
				}
			}
		}
	})
}

func TestCaseBareNumberIsAnInterval(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"100/10", "100/", "100", "0.2/s", "1e3/s", "5/-1s", "0/s", "5/0s", "5/300000d"} {
		var invalid *sluice.InvalidError
		if r, err := sluice.ParseRate(text); !errors.As(err, &invalid) {
			t.Errorf("ParseRate(%q) = %v, %v, want an *InvalidError", text, r, err)
		}
	}
	for text, want := range map[string]sluice.Rate{"100/10s": sluice.Per(100, 10*time.Second), "100/s": sluice.Per(100, time.Second)} {
		if r, err := sluice.ParseRate(text); err != nil || r != want {
			t.Errorf("ParseRate(%q) = %v, %v, want %v", text, r, err, want)
		}
	}
}
