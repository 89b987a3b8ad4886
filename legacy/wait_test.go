package legacy_test

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
	"github.com/sluice-rate/sluice/legacy"
)

// queue starts callers one after the other and notes when each goes on, in time since the start, in the order in which they do.
type queue struct {
	l     *legacy.Limiter
	start time.Time
	wg    sync.WaitGroup
	mu    sync.Mutex
	went  []string
}

func newQueue(l *legacy.Limiter) *queue { return &queue{l: l, start: time.Now()} }

// acquire starts a caller of Acquire, and returns when it waits.
func (q *queue) acquire(ctx context.Context, name string, n int64) {
	q.caller(name, func() (sluice.Decision, error) { return sluice.Decision{Allowed: true}, q.l.Acquire(ctx, n) })
}

// tryFor starts a caller of TryAcquireFor.
func (q *queue) tryFor(name string, n int64, maxWait time.Duration) {
	q.caller(name, func() (sluice.Decision, error) { return q.l.TryAcquireFor(context.Background(), n, maxWait) })
}

func (q *queue) caller(name string, call func() (sluice.Decision, error)) {
	q.wg.Go(func() {
		d, err := call()
		q.mu.Lock()
		defer q.mu.Unlock()
		entry := fmt.Sprintf("%s %v", name, time.Since(q.start))
		switch {
		case err != nil:
			entry += " " + kind(err)
		case !d.Allowed:
			entry += fmt.Sprint(" refused for ", d.RetryAfter)
		}
		q.went = append(q.went, entry)
	})
	synctest.Wait()
}

func kind(err error) string {
	for _, k := range []error{
		sluice.ErrLimited, sluice.ErrNotInitialized, sluice.ErrExceedsRate, sluice.ErrInvalid, sluice.ErrStoreUnavailable, context.Canceled, context.DeadlineExceeded,
	} {
		if errors.Is(err, k) {
			return k.Error()
		}
	}
	return err.Error()
}

func (q *queue) want(t *testing.T, want ...string) {
	t.Helper()
	q.wg.Wait()
	if !slices.Equal(q.went, want) {
		t.Errorf("callers went on as %q, want %q", q.went, want)
	}
}

// wantInAnyOrder is for callers who go on in the same moment.
func (q *queue) wantInAnyOrder(t *testing.T, want ...string) {
	t.Helper()
	q.wg.Wait()
	slices.Sort(q.went)
	slices.Sort(want)
	q.want(t, want...)
}

func take(t *testing.T, l *legacy.Limiter, n int64) sluice.Decision {
	t.Helper()
	d, err := l.TryAcquire(t.Context(), n)
	if err != nil || !d.Allowed {
		t.Fatalf("TryAcquire(%d) = %+v, %v, want allowed", n, d, err)
	}
	return d
}

func TestWaitersAreServedInOrderOfArrivalByOneTripEach(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake(1, time.Second)
		f.trip = 2 * time.Millisecond
		q := newQueue(legacy.New(f, nil).Limiter("x"))
		q.start = q.start.Add(f.trip) // when the first has its permit
		for _, name := range []string{"now", "a", "b", "c", "d"} {
			q.acquire(t.Context(), name, 1)
			time.Sleep(10 * time.Millisecond)
		}
		q.want(t, "now 0s", "a 1.002s", "b 2.004s", "c 3.006s", "d 4.008s")
		if calls := f.calls(); calls != 5+4 {
			t.Errorf("there were %d trips, want one for each who came and one for each window", calls)
		}
	})
}

func TestThousandWaitersDoNotStampede(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake(10, time.Second)
		l := legacy.New(f, nil).Limiter("x")
		start := time.Now()
		var wg sync.WaitGroup
		for range 1000 {
			wg.Go(func() {
				if err := l.Acquire(t.Context(), 1); err != nil {
					t.Error(err)
				}
			})
		}
		synctest.Wait()
		if calls := f.calls(); calls != 1000 {
			t.Errorf("there were %d trips, want one for each who came", calls)
		}
		wg.Wait()
		if took, calls := time.Since(start), f.calls(); took != 99*time.Second || calls != 990 {
			t.Errorf("it took %v and %d trips more, want 99 windows and one for each who waited", took, calls)
		}
	})
}

// What is left of a window is of no use to who wants more than that: others may have it, and it comes first in the next.
func TestBigRequestStaysInFront(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake(10, time.Second)
		q := newQueue(legacy.New(f, nil).Limiter("x"))
		take(t, q.l, 7)
		q.acquire(t.Context(), "big", 9)
		q.acquire(t.Context(), "small", 2) // has it at once: three are left
		q.acquire(t.Context(), "second", 9)
		q.acquire(t.Context(), "third", 2)
		q.acquire(t.Context(), "fourth", 1) // the last one of this window
		q.want(t, "small 0s", "fourth 0s", "big 1s", "second 2s", "third 3s")
	})
	synctest.Test(t, func(t *testing.T) {
		f := newFake(10, time.Second)
		q := newQueue(legacy.New(f, nil).Limiter("x"))
		take(t, q.l, 10)
		for _, c := range []struct {
			name string
			n    int64
		}{{"a", 4}, {"b", 8}, {"c", 3}, {"d", 3}, {"e", 1}, {"f", 1}} {
			q.acquire(t.Context(), c.name, c.n)
		}
		f.calls()
		// The first window has 6 after a, too few for b, and so c and d have them. The second has 2 after b.
		q.wantInAnyOrder(t, "a 1s", "b 2s", "c 1s", "d 1s", "e 2s", "f 2s")
		if calls := f.calls(); calls != 6 {
			t.Errorf("there were %d trips, want none for who wants more than is left", calls)
		}
	})
}

func TestWhoComesWhenTheWindowEndsStandsBehind(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake(1, time.Second)
		f.trip = 10 * time.Millisecond
		q := newQueue(legacy.New(f, nil).Limiter("x"))
		take(t, q.l, 1) // the window is from 5 ms to 1.005 s; who waits knows that it is over at 1.01 s
		q.acquire(t.Context(), "a", 1)
		time.Sleep(f.trip)
		q.acquire(t.Context(), "b", 1)
		time.Sleep(time.Until(q.start.Add(1018 * time.Millisecond))) // the answer to a is on its way
		f.calls()
		q.acquire(t.Context(), "c", 1)
		q.tryFor("d", 1, 2500*time.Millisecond) // waits for two windows, not for a third
		q.tryFor("e", 1, 500*time.Millisecond)  // does not wait for the next to end
		q.tryFor("zero", 0, time.Minute)
		q.tryFor("many", sluice.MaxPermits+1, time.Minute)
		q.tryFor("more", 2, time.Minute) // than the rate
		q.wantInAnyOrder(t,
			"zero 1.018s invalid argument", "many 1.018s invalid argument", "a 1.02s",
			"more 1.03s more permits than the rate allows at once", "e 1.03s refused for 1s",
			"b 2.03s", "c 3.04s", "d 3.04s refused for 1s",
		)
		if calls := f.calls(); calls != 3 {
			t.Errorf("there were %d trips, want those for b, c and the one who wants more than the rate", calls)
		}
	})
}

// A window that ends while callers are asked for has enough again for who is in front.
func TestWindowThatEndsWhileItIsAskedFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake(5, 12*time.Millisecond)
		f.trip = 10 * time.Millisecond
		q := newQueue(legacy.New(f, nil).Limiter("x"))
		f.set(func(f *fake) { f.left, f.ends = 0, q.start.Add(100*time.Millisecond) })
		for _, c := range []struct {
			name string
			n    int64
		}{{"a", 2}, {"big", 4}, {"b", 1}, {"c", 1}, {"d", 1}} {
			q.acquire(t.Context(), c.name, c.n)
			time.Sleep(f.trip)
		}
		// They are asked for from 105 ms on. The window of a begins at 110, and is too small for big; at 130 it is over, c begins another, and big has
		// the rest of that.
		q.want(t, "a 115ms", "b 125ms", "c 135ms", "big 145ms", "d 157ms")
	})
}
