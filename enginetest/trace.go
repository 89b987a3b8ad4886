package enginetest

import (
	"context"
	"testing"
	"time"

	"github.com/sluice-rate/sluice"
)

// noTrace makes the calls that change nothing, and sees that nothing was written. The scenarios check it of each refusal.
func (h Harness) noTrace(t *testing.T) {
	w := newWorld(t, h)
	if w.keys == nil {
		t.Skip("needs an engine with keys")
	}
	config := sluice.Config{Rate: sluice.Per(10, time.Second)}
	other := sluice.Config{Rate: sluice.Per(20, time.Second)}
	l, none := w.limiter(), w.of("self").Limiter("none")
	_, err := l.TrySetRate(t.Context(), config)
	must(t, err)
	_, err = l.TryAcquire(t.Context(), 10)
	must(t, err)
	r, err := l.Reserve(t.Context(), 1, time.Minute)
	must(t, err)
	waits, err := w.ask(sluice.Take{Key: w.key(), Receipt: receiptFor(1, time.Minute), MaxWait: time.Minute})
	must(t, err)

	for _, c := range []struct {
		name string
		call func(ctx context.Context) error
	}{
		{"a take that is refused", func(ctx context.Context) error { return second(l.TryAcquire(ctx, 1)) }},
		{"a take of more than the rate", func(ctx context.Context) error { return second(l.TryAcquire(ctx, 11)) }},
		{"a wait that would be too long", func(ctx context.Context) error { return second(l.TryAcquireFor(ctx, 9, time.Millisecond)) }},
		{"a reservation that is refused", func(ctx context.Context) error { return second(l.Reserve(ctx, 9, time.Millisecond)) }},
		{"a refund of nothing", func(ctx context.Context) error { return second(l.Refund(ctx, receiptFor(1, 0))) }},
		{"a look when nobody can move", func(ctx context.Context) error {
			return second(w.engine.Look(ctx, w.key(), []sluice.Receipt{waits.Receipt, r.Receipt, receiptFor(1, 0)}))
		}},
		{"a take that is sent again", func(ctx context.Context) error {
			return second(w.ask(sluice.Take{Key: w.key(), Receipt: waits.Receipt, MaxWait: time.Minute}))
		}},
		{"TrySetRate on one that has a rate", func(ctx context.Context) error { return second(l.TrySetRate(ctx, other)) }},
		{"SetRate of what is stored", func(ctx context.Context) error { return l.SetRate(ctx, config) }},
		{"UpdateRate to what is stored", func(ctx context.Context) error { return second(l.UpdateRate(ctx, config)) }},
		{"UpdateRate on none", func(ctx context.Context) error { return second(none.UpdateRate(ctx, other)) }},
		{"a take from none", func(ctx context.Context) error { return second(none.TryAcquire(ctx, 1)) }},
		{"Release to none", func(ctx context.Context) error { return second(none.Release(ctx, 1)) }},
		{"Expire of none", func(ctx context.Context) error { return second(none.Expire(ctx, time.Hour)) }},
		{"Persist of none", func(ctx context.Context) error { return second(none.Persist(ctx)) }},
		{"Persist of one without a TTL", func(ctx context.Context) error { return second(l.Persist(ctx)) }},
		{"Delete of none", func(ctx context.Context) error { return second(none.Delete(ctx)) }},
		{"Rename of none", func(ctx context.Context) error { return none.Rename(ctx, "y") }},
		{"Available", func(ctx context.Context) error { return second(l.Available(ctx)) }},
		{"Config", func(ctx context.Context) error { return second(l.Config(ctx)) }},
		{"Exists", func(ctx context.Context) error { return second(none.Exists(ctx)) }},
		{"TTL", func(ctx context.Context) error { return second(l.TTL(ctx)) }},
		{"Ledger", func(ctx context.Context) error {
			for range l.Ledger(ctx) {
			}
			return nil
		}},
	} {
		before := w.written()
		err := c.call(t.Context())
		if after := w.written(); after != before {
			t.Errorf("%s writes %d bytes (and answers %v)", c.name, after-before, err)
		}
	}
}

func second[T any](_ T, err error) error { return err }

// oneTrip counts the scripts that a call runs (law 9).
func (h Harness) oneTrip(t *testing.T) {
	w := newWorld(t, h)
	if w.keys == nil {
		t.Skip("needs an engine with keys")
	}
	l := w.limiter()
	config := sluice.Config{Rate: sluice.Per(10, time.Second), Mode: sluice.PerClient}
	var r *sluice.Reservation
	calls := []struct {
		name string
		call func(ctx context.Context) error
	}{
		{"TrySetRate", func(ctx context.Context) error { return second(l.TrySetRate(ctx, config)) }},
		{"SetRate", func(ctx context.Context) error { return l.SetRate(ctx, config) }},
		{"UpdateRate", func(ctx context.Context) error { return second(l.UpdateRate(ctx, config)) }},
		{"a take that is granted", func(ctx context.Context) error { return second(l.TryAcquire(ctx, 10)) }},
		{"a take that is refused", func(ctx context.Context) error { return second(l.TryAcquire(ctx, 1)) }},
		{"a wait that would be too long", func(ctx context.Context) error { return second(l.TryAcquireFor(ctx, 1, time.Millisecond)) }},
		{"Reserve", func(ctx context.Context) (err error) {
			r, err = l.Reserve(ctx, 1, time.Minute)
			return err
		}},
		{"Cancel", func(ctx context.Context) error { return r.Cancel(ctx) }},
		{"Look", func(ctx context.Context) error {
			return second(w.engine.Look(ctx, w.key(), []sluice.Receipt{r.Receipt}))
		}},
		{"Refund", func(ctx context.Context) error { return second(l.Refund(ctx, r.Receipt)) }},
		{"Release", func(ctx context.Context) error { return second(l.Release(ctx, 2)) }},
		{"thirty takes in one call", func(ctx context.Context) error {
			takes := make([]sluice.Take, 30)
			for i := range takes {
				takes[i] = sluice.Take{Key: w.key(), Receipt: receiptFor(1, time.Minute), MaxWait: time.Minute}
			}
			return second(w.engine.Take(ctx, takes))
		}},
		{"Available", func(ctx context.Context) error { return second(l.Available(ctx)) }},
		{"Config", func(ctx context.Context) error { return second(l.Config(ctx)) }},
		{"Exists", func(ctx context.Context) error { return second(l.Exists(ctx)) }},
		{"TTL", func(ctx context.Context) error { return second(l.TTL(ctx)) }},
		{"Ledger", func(ctx context.Context) error {
			for _, err := range l.Ledger(ctx) {
				if err != nil {
					return err
				}
			}
			return nil
		}},
		{"Expire", func(ctx context.Context) error { return second(l.Expire(ctx, time.Hour)) }},
		{"Persist", func(ctx context.Context) error { return second(l.Persist(ctx)) }},
		{"Rename", func(ctx context.Context) error { return l.Rename(ctx, "y") }},
		{"Delete", func(ctx context.Context) error { return second(w.of("self").Limiter("y").Delete(ctx)) }},
	}
	for warm := range 2 { // the first time the server gets to know the scripts
		for _, c := range calls {
			before, _ := w.keys.ScriptStats(t)
			if err := c.call(t.Context()); err != nil {
				t.Errorf("%s: %v", c.name, err)
			}
			if after, _ := w.keys.ScriptStats(t); warm == 1 && after-before != 1 {
				t.Errorf("%s takes %d round trips, want 1", c.name, after-before)
			}
		}
	}
}
