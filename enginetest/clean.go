package enginetest

import (
	"context"
	"testing"
	"time"

	"github.com/sluice-rate/sluice"
)

// The tests here run by the engine's own clock, since Redis' TTLs do.

// await polls until done, for some seconds at most.
func await(t testing.TB, what string, done func() bool) {
	t.Helper()
	for deadline := time.Now().Add(5 * time.Second); !done(); time.Sleep(2 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("it does not come about that %s", what)
		}
	}
}

// none reports whether there is nothing in the store, or at least no limiter of this name.
func none(t testing.TB, keys Keys, l *sluice.Limiter) bool {
	t.Helper()
	if keys != nil {
		size, err := keys.Do(context.WithoutCancel(t.Context()), "DBSIZE")
		must(t, err)
		return size == int64(0)
	}
	exists, err := l.Exists(t.Context())
	must(t, err)
	return !exists
}

// leavesNothing reads a limiter with a keep-alive while it is idle. Redisson's availablePermits keeps the value for ever by that, and
// the next limiter of this name obeys it.
func (h Harness) leavesNothing(t *testing.T) {
	engine, keys := h.New(t, nil)
	l := sluice.New(engine).Limiter("x")
	ctx := t.Context()
	_, err := l.TrySetRate(ctx, sluice.Config{Rate: sluice.Per(2, 100*time.Millisecond), KeepAlive: 150 * time.Millisecond})
	must(t, err)
	_, err = l.TryAcquire(ctx, 1)
	must(t, err)
	await(t, "the permit is back", func() bool {
		n, err := l.Available(ctx)
		return err != nil || n == 2
	})
	await(t, "nothing is left", func() bool { return none(t, keys, l) })

	done, err := l.TrySetRate(ctx, sluice.Config{Rate: sluice.Per(5, 100*time.Millisecond)})
	if err != nil || !done {
		t.Fatalf("TrySetRate = %v, %v, want true", done, err)
	}
	if d, err := l.TryAcquire(ctx, 5); err != nil || !d.Allowed {
		t.Errorf("the new limiter refuses its rate: %+v, %v", d, err)
	}
}

// clientsLeave lets two clients take and vanish.
func (h Harness) clientsLeave(t *testing.T) {
	engine, keys := h.New(t, nil)
	a, b := sluice.New(engine).Limiter("x"), sluice.New(engine).Limiter("x")
	ctx := t.Context()
	_, err := a.TrySetRate(ctx, sluice.Config{Rate: sluice.Per(2, 50*time.Millisecond), Mode: sluice.PerClient})
	must(t, err)
	for _, l := range []*sluice.Limiter{a, b} {
		d, err := l.TryAcquire(ctx, 2)
		if err != nil || !d.Allowed {
			t.Fatalf("a client is refused its own rate: %+v, %v", d, err)
		}
	}
	_, err = a.Delete(ctx)
	must(t, err)
	await(t, "nothing is left of either client", func() bool { return none(t, keys, a) })
}

// expiryInWindow makes a limiter anew that expires while permits are in use.
func (h Harness) expiryInWindow(t *testing.T) {
	engine, _ := h.New(t, nil)
	l := sluice.New(engine).Limiter("x")
	ctx := t.Context()
	config := sluice.Config{Rate: sluice.Per(4, 300*time.Millisecond)}
	_, err := l.TrySetRate(ctx, config)
	must(t, err)
	_, err = l.Expire(ctx, 100*time.Millisecond)
	must(t, err)
	var grants []time.Time
	made := 0
	await(t, "it has been made anew twice, and grants", func() bool {
		d, err := l.TryAcquire(ctx, 1)
		if err != nil {
			done, err := l.TrySetRate(ctx, config)
			must(t, err)
			if done && made == 0 {
				_, err = l.Expire(ctx, 100*time.Millisecond)
				must(t, err)
			}
			made++
		}
		if d.Allowed {
			grants = append(grants, d.At)
		}
		return made >= 2 && len(grants) >= 9
	})
	for i := 4; i < len(grants); i++ {
		if span := grants[i].Sub(grants[i-4]); span < config.Rate.Interval {
			t.Errorf("five permits in %v, want at most %v", span, config.Rate)
		}
	}
}
