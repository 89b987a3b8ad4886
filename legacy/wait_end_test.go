package legacy_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sluice-rate/sluice"
	"github.com/sluice-rate/sluice/legacy"
)

// How a wait ends otherwise than by a grant.

func TestWaitThatCannotBeAffordedIsRefusedAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake(3, 5*time.Second)
		l := legacy.New(f, nil).Limiter("x")
		take(t, l, 3)
		start := time.Now()

		ctx, cancel := context.WithTimeout(t.Context(), 4*time.Second)
		defer cancel()
		err := l.Acquire(ctx, 1)
		var limited *sluice.LimitedError
		if !errors.As(err, &limited) || limited.RetryAfter != 5*time.Second || limited.Permits != 1 || limited.Limiter != "x" {
			t.Errorf("Acquire = %v, want a LimitedError of 5s", err)
		}
		if !errors.Is(err, sluice.ErrLimited) || !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("Acquire = %v, want it to be ErrLimited and DeadlineExceeded", err)
		}
		if d, err := l.TryAcquireFor(ctx, 1, time.Hour); err != nil || d.Allowed || d.RetryAfter != 5*time.Second {
			t.Errorf("TryAcquireFor under a deadline = %+v, %v, want refused for 5s", d, err)
		}
		for _, wait := range []time.Duration{-1, 0, 5*time.Second - time.Microsecond} {
			if d, err := l.TryAcquireFor(t.Context(), 1, wait); err != nil || d.Allowed || d.RetryAfter != 5*time.Second || d.Wait != 0 {
				t.Errorf("TryAcquireFor(%v) = %+v, %v, want refused for 5s", wait, d, err)
			}
		}
		if waited := time.Since(start); waited != 0 {
			t.Errorf("the refusals took %v, want none", waited)
		}
		d, err := l.TryAcquireFor(t.Context(), 1, 5*time.Second)
		want := sluice.Decision{
			Allowed: true, Permits: 1, Remaining: 2, ResetAfter: 5 * time.Second, Wait: 5 * time.Second, Limit: sluice.Per(3, 5*time.Second),
			At: time.UnixMicro(time.Now().UnixMicro()), Date: time.UnixMicro(time.Now().UnixMicro()),
		}
		if err != nil || d != want {
			t.Errorf("TryAcquireFor(5s) = %+v, %v, want %+v", d, err, want)
		}
	})
}

// Another process is first when the window ends, and takes all of the next one.
func TestPatienceThatEndsInTheLine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake(1, time.Second)
		q := newQueue(legacy.New(f, nil).Limiter("x"))
		take(t, q.l, 1)
		q.tryFor("a", 1, 1500*time.Millisecond)
		q.tryFor("b", 1, 1500*time.Millisecond)
		q.tryFor("c", 1, 2*time.Second)
		q.acquire(t.Context(), "d", 1)
		f.set(func(f *fake) { f.ends = f.ends.Add(time.Second) })
		f.calls()
		q.wantInAnyOrder(t, "a 1s refused for 1s", "b 1s refused for 1s", "c 2s", "d 3s")
		if calls := f.calls(); calls != 3 {
			t.Errorf("there were %d trips, want one for each end of a window", calls)
		}
	})
}

func TestContextThatHasEndedTakesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake(3, time.Second)
		l := legacy.New(f, nil).Limiter("x")
		ctx, cancel := context.WithCancelCause(t.Context())
		reason := errors.New("closing time")
		cancel(reason)
		for name, call := range map[string]func() error{
			"Acquire":       func() error { return l.Acquire(ctx, 1) },
			"TryAcquire":    func() error { return second(l.TryAcquire(ctx, 1)) },
			"TryAcquireFor": func() error { return second(l.TryAcquireFor(ctx, 1, time.Second)) },
		} {
			if err := call(); !errors.Is(err, reason) {
				t.Errorf("%s = %v, want the context's cause", name, err)
			}
		}
		if calls := f.calls(); calls != 0 {
			t.Errorf("there were %d trips, want none", calls)
		}
	})
}

func second[T any](_ T, err error) error { return err }

func TestContextThatEndsInTheLine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake(1, time.Second)
		q := newQueue(legacy.New(f, nil).Limiter("x"))
		take(t, q.l, 1)
		ctx, cancel := context.WithCancel(t.Context())
		q.acquire(ctx, "a", 1)
		q.acquire(t.Context(), "b", 1)
		q.acquire(ctx, "c", 1)
		f.calls()
		time.Sleep(300 * time.Millisecond)
		cancel()
		q.wantInAnyOrder(t, "a 300ms context canceled", "b 1s", "c 300ms context canceled")
		if calls := f.calls(); calls != 1 {
			t.Errorf("there were %d trips, want one for b", calls)
		}
	})
	synctest.Test(t, func(t *testing.T) { // the last one leaves: nothing is left of the line, as the end of the bubble shows
		q := newQueue(legacy.New(newFake(1, time.Hour), nil).Limiter("x"))
		take(t, q.l, 1)
		ctx, cancel := context.WithCancel(t.Context())
		q.acquire(ctx, "a", 1)
		cancel()
		q.want(t, "a 0s context canceled")
		synctest.Wait()
	})
}

// Whoever leaves during a trip is told what came of it, if anything did.
func TestContextThatEndsDuringATrip(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake(1, time.Second)
		f.trip = 10 * time.Millisecond
		q := newQueue(legacy.New(f, nil).Limiter("x"))
		take(t, q.l, 1)
		ctx, cancel := context.WithCancel(t.Context())
		q.acquire(ctx, "a", 1)
		time.Sleep(f.trip)
		q.acquire(t.Context(), "b", 1)
		time.Sleep(time.Until(q.start.Add(1012 * time.Millisecond))) // on the way there
		cancel()
		q.wantInAnyOrder(t, "a 1.012s store unavailable", "b 1.022s")
	})
	for left, want := range []string{"a 1.02s context canceled", "a 1.02s"} {
		synctest.Test(t, func(t *testing.T) {
			f := newFake(1, time.Second)
			f.trip = 10 * time.Millisecond
			q := newQueue(legacy.New(deaf{f}, nil).Limiter("x"))
			take(t, q.l, 1)
			ctx, cancel := context.WithCancel(t.Context())
			q.acquire(ctx, "a", 1)
			time.Sleep(500 * time.Millisecond)
			if left == 0 { // another process takes the next window
				f.set(func(f *fake) { f.ends = f.ends.Add(time.Second) })
			}
			time.Sleep(time.Until(q.start.Add(1012 * time.Millisecond)))
			cancel()
			q.want(t, want)
		})
	}
}

// deaf is a client that does not heed the context, as go-redis by default.
type deaf struct{ *fake }

func (d deaf) Eval(_ context.Context, script string, keys []string, args ...any) fakeReply {
	return d.fake.Eval(context.Background(), script, keys, args...)
}

// The deadline of one caller is no failure of the store for the others, whatever the client calls it.
func TestDeadlineOfOneDuringATrip(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake(1, time.Second)
		f.trip = 10 * time.Millisecond
		q := newQueue(legacy.New(hasty{f}, nil).Limiter("x"))
		take(t, q.l, 1)
		ctx, cancel := context.WithDeadline(t.Context(), q.start.Add(1012*time.Millisecond)) // on the way there
		defer cancel()
		q.acquire(ctx, "a", 1)
		time.Sleep(f.trip)
		q.acquire(t.Context(), "b", 1)
		q.want(t, "a 1.012s store unavailable", "b 1.022s")
	})
}

// hasty is a client whose connection has the context's deadline, as go-redis' with ContextTimeoutEnabled.
type hasty struct{ *fake }

func (h hasty) Eval(ctx context.Context, script string, keys []string, args ...any) fakeReply {
	r := h.fake.Eval(ctx, script, keys, args...)
	if errors.Is(r.err, context.DeadlineExceeded) {
		r.err = errors.New("read tcp: i/o timeout")
	}
	return r
}

// A failure that each of them would meet is told to all who wait, after one trip.
func TestFailureWhenTheWindowEnds(t *testing.T) {
	for _, c := range []struct {
		change func(f *fake)
		want   string
	}{
		{func(f *fake) { f.err = errors.New("connection refused") }, "store unavailable"},
		{func(f *fake) { f.rate = 0 }, sluice.ErrNotInitialized.Error()},
	} {
		synctest.Test(t, func(t *testing.T) {
			f := newFake(2, time.Second)
			q := newQueue(legacy.New(f, nil).Limiter("x"))
			take(t, q.l, 2)
			for _, name := range []string{"a", "b", "c"} {
				q.acquire(t.Context(), name, 2)
			}
			f.calls()
			f.set(c.change)
			q.wantInAnyOrder(t, "a 1s "+c.want, "b 1s "+c.want, "c 1s "+c.want)
			if calls := f.calls(); calls != 1 {
				t.Errorf("there were %d trips, want one", calls)
			}
		})
	}
}

// The rate was lowered while they waited: who wants more than that hears it, the others go on.
func TestFailureOfOneAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake(5, time.Second)
		q := newQueue(legacy.New(f, nil).Limiter("x"))
		take(t, q.l, 5)
		q.acquire(t.Context(), "a", 2)
		q.acquire(t.Context(), "b", 5)
		q.acquire(t.Context(), "c", 3)
		f.set(func(f *fake) { f.rate = 3 })
		q.wantInAnyOrder(t, "a 1s", "b 1s more permits than the rate allows at once", "c 2s")
	})
}

// A limiter that was made anew may give permits sooner than those who wait think; who comes then brings the news.
func TestLimiterThatWasMadeAnew(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake(1, time.Hour)
		q := newQueue(legacy.New(f, nil).Limiter("x"))
		take(t, q.l, 1)
		q.acquire(t.Context(), "a", 1)
		q.acquire(t.Context(), "b", 1)
		f.set(func(f *fake) { f.interval, f.ends = time.Second, time.Time{} })
		time.Sleep(time.Minute)
		q.acquire(t.Context(), "new", 1)
		q.acquire(t.Context(), "c", 1)
		q.want(t, "new 1m0s", "a 1m1s", "b 1m2s", "c 1m3s")
	})
}

func TestHandlesOfALimiterHaveOneLine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake(1, time.Second)
		client := legacy.New(f, nil)
		q := newQueue(client.Limiter("x"))
		take(t, q.l, 1)
		for _, name := range []string{"a", "b", "c"} {
			q.l = client.Limiter("x")
			q.acquire(t.Context(), name, 1)
		}
		f.calls()
		q.want(t, "a 1s", "b 2s", "c 3s")
		if calls := f.calls(); calls != 3 {
			t.Errorf("there were %d trips, want one at each end of a window", calls)
		}
	})
}
