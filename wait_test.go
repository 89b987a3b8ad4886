package sluice_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sluice-rate/sluice"
	"github.com/sluice-rate/sluice/memengine"
)

// newLimiter is a limiter on an engine of its own, on the bubble's clock.
func newLimiter(t *testing.T, rate sluice.Rate) *sluice.Limiter {
	t.Helper()
	l := sluice.New(memengine.New(nil)).Limiter("test")
	if _, err := l.TrySetRate(t.Context(), sluice.Config{Rate: rate}); err != nil {
		t.Fatal(err)
	}
	return l
}

func mustTake(t *testing.T, l *sluice.Limiter, n int64) sluice.Receipt {
	t.Helper()
	d, err := l.TryAcquire(t.Context(), n)
	if err != nil || !d.Allowed {
		t.Fatalf("TryAcquire(%d) = %+v, %v, want allowed", n, d, err)
	}
	return d.Receipt
}

// queue starts callers of Acquire one after the other and notes when each goes on, in time since the start.
type queue struct {
	l     *sluice.Limiter
	start time.Time
	wg    sync.WaitGroup
	mu    sync.Mutex
	went  []string
}

func newQueue(l *sluice.Limiter) *queue { return &queue{l: l, start: time.Now()} }

func (q *queue) acquire(ctx context.Context, name string, n int64) {
	q.wg.Go(func() {
		err := q.l.Acquire(ctx, n)
		q.mu.Lock()
		defer q.mu.Unlock()
		entry := fmt.Sprintf("%s %v", name, time.Since(q.start))
		if err != nil {
			entry += " " + kind(err)
		}
		q.went = append(q.went, entry)
	})
	synctest.Wait() // it is in the line now
}

func kind(err error) string {
	for _, k := range []error{sluice.ErrLimited, sluice.ErrNotInitialized, sluice.ErrExceedsRate, context.Canceled, context.DeadlineExceeded} {
		if errors.Is(err, k) {
			return k.Error()
		}
	}
	return err.Error()
}

func (q *queue) want(t *testing.T, want ...string) {
	t.Helper()
	q.wg.Wait()
	slices.Sort(q.went) // those of one moment come in any order
	slices.Sort(want)
	if !slices.Equal(q.went, want) {
		t.Errorf("callers went on as %q, want %q", q.went, want)
	}
}

func TestWaitersAreServedInOrderAndExactly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLimiter(t, sluice.Per(3, 5*time.Second))
		mustTake(t, l, 3)
		q := newQueue(l)
		q.acquire(t.Context(), "a", 1)
		q.acquire(t.Context(), "b", 3) // big, and not starved
		q.acquire(t.Context(), "c", 1)
		q.acquire(t.Context(), "d", 2)
		if d, err := l.TryAcquire(t.Context(), 1); err != nil || d.Allowed || d.RetryAfter != 20*time.Second {
			t.Errorf("TryAcquire(1) behind a line = %+v, %v, want refused for 20s", d, err)
		}
		q.want(t, "a 5s", "b 10s", "c 15s", "d 15s")
	})
}

func TestContextThatHasEndedTakesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLimiter(t, sluice.Per(3, 5*time.Second))
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if err := l.Acquire(ctx, 1); !errors.Is(err, context.Canceled) {
			t.Errorf("Acquire = %v, want context.Canceled", err)
		}
		if _, err := l.TryAcquireFor(ctx, 1, time.Second); !errors.Is(err, context.Canceled) {
			t.Errorf("TryAcquireFor = %v, want context.Canceled", err)
		}
		if _, err := l.Reserve(ctx, 1, time.Second); !errors.Is(err, context.Canceled) {
			t.Errorf("Reserve = %v, want context.Canceled", err)
		}
		wantAvailable(t, l, 3)
	})
}

func wantAvailable(t *testing.T, l *sluice.Limiter, want int64) {
	t.Helper()
	if got, err := l.Available(t.Context()); err != nil || got != want {
		t.Errorf("Available() = %d, %v, want %d", got, err, want)
	}
}

func TestWaitThatCannotBeAffordedIsRefusedAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLimiter(t, sluice.Per(3, 5*time.Second))
		mustTake(t, l, 3)
		start := time.Now()

		ctx, cancel := context.WithTimeout(t.Context(), 4*time.Second)
		defer cancel()
		err := l.Acquire(ctx, 1)
		var limited *sluice.LimitedError
		if !errors.As(err, &limited) || limited.RetryAfter != 5*time.Second || !errors.Is(err, sluice.ErrLimited) || !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("Acquire = %v, want a LimitedError of 5s that is DeadlineExceeded", err)
		}
		for _, wait := range []time.Duration{-1, 0, 5*time.Second - time.Microsecond} {
			if d, err := l.TryAcquireFor(t.Context(), 1, wait); err != nil || d.Allowed || d.RetryAfter != 5*time.Second {
				t.Errorf("TryAcquireFor(%v) = %+v, %v, want refused for 5s", wait, d, err)
			}
		}
		if d, err := l.Reserve(t.Context(), 1, time.Second); err != nil || d.Allowed || d.RetryAfter != 5*time.Second || d.Delay() != 0 {
			t.Errorf("Reserve = %+v, %v, want refused for 5s", d, err)
		}
		if waited := time.Since(start); waited != 0 {
			t.Errorf("the refusals took %v, want none", waited)
		}
		if d, err := l.TryAcquireFor(t.Context(), 1, 5*time.Second); err != nil || !d.Allowed || d.Wait != 5*time.Second {
			t.Errorf("TryAcquireFor(5s) = %+v, %v, want allowed after 5s", d, err)
		}
	})
}

func TestThoseBehindACancelledWaiterMoveUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLimiter(t, sluice.Per(1, 5*time.Second))
		mustTake(t, l, 1)
		q := newQueue(l)
		ctx, cancel := context.WithCancel(t.Context())
		q.acquire(ctx, "a", 1)         // for 5s
		q.acquire(ctx, "b", 1)         // for 10s
		q.acquire(t.Context(), "c", 1) // for 15s
		time.Sleep(100 * time.Millisecond)
		cancel()
		synctest.Wait()
		q.mu.Lock()
		if len(q.went) != 2 {
			t.Errorf("%q have returned from the cancelled wait, want two", q.went)
		}
		q.went = nil
		q.mu.Unlock()
		q.want(t, "c 5s")
	})
}

// TestWaiterLearnsOfChanges: whatever frees permits while a caller waits for a minute reaches it within a second.
func TestWaiterLearnsOfChanges(t *testing.T) {
	minute := sluice.Per(2, time.Minute)
	tests := map[string]struct {
		change func(t *testing.T, l *sluice.Limiter, held sluice.Receipt) error
		n      int64         // how many the waiter asks for
		after  time.Duration // when it goes on at the latest
		err    error
	}{
		"release": {n: 1, after: time.Second, change: func(t *testing.T, l *sluice.Limiter, _ sluice.Receipt) error {
			_, err := l.Release(t.Context(), 1)
			return err
		}},
		"refund": {n: 1, after: time.Second, change: func(t *testing.T, l *sluice.Limiter, held sluice.Receipt) error {
			_, err := l.Refund(t.Context(), held)
			return err
		}},
		"a higher rate": {n: 1, after: time.Second, change: func(t *testing.T, l *sluice.Limiter, _ sluice.Receipt) error {
			_, err := l.UpdateRate(t.Context(), sluice.Config{Rate: sluice.Per(3, time.Minute)})
			return err
		}},
		"a shorter interval": {n: 1, after: 10 * time.Second, change: func(t *testing.T, l *sluice.Limiter, _ sluice.Receipt) error {
			_, err := l.UpdateRate(t.Context(), sluice.Config{Rate: sluice.Per(2, 5*time.Second)})
			return err
		}},
		"a reset": {n: 1, after: time.Second, change: func(t *testing.T, l *sluice.Limiter, _ sluice.Receipt) error {
			return l.SetRate(t.Context(), sluice.Config{Rate: sluice.Per(3, time.Minute)})
		}},
		"the other mode": {n: 1, after: time.Second, change: func(t *testing.T, l *sluice.Limiter, _ sluice.Receipt) error {
			return l.SetRate(t.Context(), sluice.Config{Rate: minute, Mode: sluice.PerClient})
		}},
		"a rate that is too low for it": {n: 2, after: time.Second, err: sluice.ErrExceedsRate, change: func(t *testing.T, l *sluice.Limiter, _ sluice.Receipt) error {
			return l.SetRate(t.Context(), sluice.Config{Rate: sluice.Per(1, time.Minute)})
		}},
		"delete": {n: 1, after: time.Second, err: sluice.ErrNotInitialized, change: func(t *testing.T, l *sluice.Limiter, _ sluice.Receipt) error {
			_, err := l.Delete(t.Context())
			return err
		}},
		"delete and another": {n: 1, after: time.Second, change: func(t *testing.T, l *sluice.Limiter, _ sluice.Receipt) error {
			if _, err := l.Delete(t.Context()); err != nil {
				return err
			}
			_, err := l.TrySetRate(t.Context(), sluice.Config{Rate: minute})
			return err
		}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := newLimiter(t, minute)
				held := mustTake(t, l, 2)
				errs := make(chan error)
				go func() { errs <- l.Acquire(t.Context(), test.n) }()
				time.Sleep(4200 * time.Millisecond)
				changed := time.Now()
				if err := test.change(t, l, held); err != nil {
					t.Fatal(err)
				}
				if err := <-errs; !errors.Is(err, test.err) {
					t.Errorf("Acquire = %v, want %v", err, test.err)
				}
				if d := time.Since(changed); d > test.after {
					t.Errorf("the waiter went on after %v, want at most %v", d, test.after)
				}
			})
		})
	}
}

func TestWaiterIsRefusedWhenALowerRateMovesItTooFar(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLimiter(t, sluice.Per(10, 10*time.Second))
		mustTake(t, l, 10)
		q := newQueue(l)
		for _, name := range []string{"a", "b", "c"} {
			q.wg.Go(func() {
				d, err := l.TryAcquireFor(t.Context(), 5, 20*time.Second)
				q.mu.Lock()
				defer q.mu.Unlock()
				q.went = append(q.went, fmt.Sprintf("%s %v %v %v", name, time.Since(q.start), d.Allowed, err))
			})
			synctest.Wait()
		}
		time.Sleep(time.Second)
		if _, err := l.UpdateRate(t.Context(), sluice.Config{Rate: sluice.Per(5, 10*time.Second)}); err != nil {
			t.Fatal(err)
		}
		q.want(t, "c 1.5s false <nil>", "a 10s true <nil>", "b 20s true <nil>")
		wantAvailable(t, l, 0)
		time.Sleep(10 * time.Second)
		wantAvailable(t, l, 5)
	})
}

func TestTenThousandWaitersCancelledLeaveNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLimiter(t, sluice.Per(10, time.Minute))
		mustTake(t, l, 10)
		before := ledgerOf(t, l)
		ctx, cancel := context.WithCancel(t.Context())
		var wg sync.WaitGroup
		for range 10_000 {
			wg.Go(func() {
				if err := l.Acquire(ctx, 3); !errors.Is(err, context.Canceled) {
					t.Errorf("Acquire = %v, want context.Canceled", err)
				}
			})
		}
		time.Sleep(1600 * time.Millisecond)
		if n := len(ledgerOf(t, l)); n != 10_001 {
			t.Errorf("%d entries with ten thousand waiters, want 10001", n)
		}
		cancel()
		wg.Wait()
		if after := ledgerOf(t, l); !slices.Equal(after, before) {
			t.Errorf("the ledger holds %d entries, want the %d of before", len(after), len(before))
		}
	})
}

func ledgerOf(t *testing.T, l *sluice.Limiter) (entries []sluice.Entry) {
	t.Helper()
	for e, err := range l.Ledger(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		entries = append(entries, e)
	}
	return entries
}

func TestReservationIsFirm(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLimiter(t, sluice.Per(2, 5*time.Second))
		held := mustTake(t, l, 2)
		r, err := l.Reserve(t.Context(), 1, time.Minute)
		if err != nil || !r.Allowed || r.Delay() != 5*time.Second {
			t.Fatalf("Reserve = %+v, %v, want one in 5s", r, err)
		}
		time.Sleep(2 * time.Second)
		if _, err := l.Refund(t.Context(), held); err != nil {
			t.Fatal(err)
		}
		time.Sleep(2 * time.Second)
		if r.Delay() != time.Second {
			t.Errorf("Delay() = %v after four seconds, want 1s", r.Delay())
		}
		if err := r.Wait(t.Context()); err != nil {
			t.Error(err)
		}
		if r.Delay() != 0 {
			t.Errorf("Delay() = %v after the wait, want 0", r.Delay())
		}
		if err := r.Cancel(t.Context()); err != nil {
			t.Error(err)
		}
		wantAvailable(t, l, 2)
	})
}

func TestThoseBehindAHalfCancelledCrowdMoveUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLimiter(t, sluice.Per(10, time.Minute))
		mustTake(t, l, 10)
		start := time.Now()
		ctx, cancel := context.WithCancel(t.Context())
		stay, end := context.WithCancel(t.Context())
		var wg sync.WaitGroup
		for i := range 10_000 {
			of := []context.Context{ctx, stay}[i%2]
			wg.Go(func() { l.Acquire(of, 1) })
		}
		time.Sleep(time.Second)
		cancel()
		time.Sleep(3 * sluice.LookPeriod)
		entries := ledgerOf(t, l)
		last := entries[len(entries)-1]
		if n := len(entries); n != 5_001 || last.At.Sub(start) != 500*time.Minute {
			t.Errorf("%d entries, the last in %v, want 5001, the last in 500m", n, last.At.Sub(start))
		}
		end()
		wg.Wait()
	})
}

func TestThoseBehindACrowdThatLeavesBetweenLooksMoveUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLimiter(t, sluice.Per(10, time.Minute))
		mustTake(t, l, 10)
		start := time.Now()
		first, leaveFirst := context.WithCancel(t.Context())
		second, leaveSecond := context.WithCancel(t.Context())
		stay, end := context.WithCancel(t.Context())
		var wg sync.WaitGroup
		for i := range 10_000 {
			of := []context.Context{first, stay, second, stay}[i%4]
			wg.Go(func() { l.Acquire(of, 1) })
		}
		time.Sleep(time.Second)
		leaveFirst()
		time.Sleep(sluice.LookPeriod) // a look or two fall between
		leaveSecond()
		time.Sleep(3 * sluice.LookPeriod)
		entries := ledgerOf(t, l)
		last := entries[len(entries)-1]
		if n := len(entries); n != 5_001 || last.At.Sub(start) != 500*time.Minute {
			t.Errorf("%d entries, the last in %v, want 5001, the last in 500m", n, last.At.Sub(start))
		}
		end()
		wg.Wait()
	})
}
