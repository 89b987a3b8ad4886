package enginetest

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/sluice-rate/sluice"
)

var algorithms = []sluice.Algorithm{sluice.SlidingWindow, sluice.TokenBucket, sluice.FixedWindow, sluice.AlignedWindow}

// inlineBounded makes ten thousand takes under each algorithm, and then some hundred callers wait: what is stored stays short, and counts right.
func (h Harness) inlineBounded(t *testing.T) {
	const n = 10_000
	for _, a := range algorithms {
		t.Run(a.String(), func(t *testing.T) {
			w := newWorld(t, h)
			c := w.of("self")
			limit := sluice.Limit{Rate: sluice.Per(2*n, time.Hour), Algorithm: a}
			for range n / atOnce {
				calls := make([]sluice.Call, atOnce)
				for i := range calls {
					calls[i] = sluice.Call{Charges: []sluice.Charge{limit.Charge("u")}, Receipt: receiptFor(1, 0)}
				}
				rulings, err := w.engine.Charge(t.Context(), calls)
				must(t, err)
				for _, r := range rulings {
					if r.Err != nil || !r.Outcome.Allowed {
						t.Fatalf("at %v a call is not granted: %+v", w.clock.since(), r)
					}
				}
				w.clock.move(time.Millisecond)
			}
			o, err := c.Peek(t.Context(), limit.Charge("u"))
			must(t, err)
			if o.Remaining != n {
				t.Errorf("%d permits remain, want %d", o.Remaining, n)
			}
			if w.keys != nil {
				key := fmt.Sprintf("sl:{u}:%c%d", "sbfa"[a], time.Hour.Milliseconds())
				if bytes := w.number("STRLEN", key); bytes == 0 || bytes > 6000 {
					t.Errorf("%s takes %d bytes, want at most 6000", key, bytes)
				}
			}
		})
	}
}

// inlineTrips counts the scripts that calls on limits run which travel with them (law 9).
func (h Harness) inlineTrips(t *testing.T) {
	w := newWorld(t, h)
	if w.keys == nil {
		t.Skip("needs an engine with keys")
	}
	c := w.of("self")
	minor, hour := sluice.Limit{Rate: sluice.Per(3, time.Second)}, sluice.Limit{Rate: sluice.Per(9, time.Hour)}
	both := []sluice.Charge{minor.Charge("u"), hour.Charge("u")}
	var o sluice.Outcome
	calls := []struct {
		name string
		want int64
		call func(ctx context.Context) error
	}{
		{"a take that is granted", 1, func(ctx context.Context) (err error) {
			o, err = c.Take(ctx, both...)
			return err
		}},
		{"a refund", 1, func(ctx context.Context) error { return second(c.Refund(ctx, o.Receipt, both...)) }},
		{"as many as can be had", 1, func(ctx context.Context) error { return second(c.TakeUpTo(ctx, 9, both...)) }},
		{"a take that is refused", 1, func(ctx context.Context) error { return second(c.Take(ctx, both...)) }},
		{"a peek", 1, func(ctx context.Context) error { return second(c.Peek(ctx, both...)) }},
		{"a booking", 1, func(ctx context.Context) error { return second(c.Book(ctx, time.Minute, both...)) }},
		{"a wait that cannot be afforded", 1, func(ctx context.Context) error { return second(c.TakeFor(ctx, time.Millisecond, both...)) }},
		{"more than can ever be had", 0, func(ctx context.Context) error {
			_, err := c.Take(ctx, minor.ChargeN("u", 4))
			return w.mustExceed(err)
		}},
		{"thirty calls at once", 1, func(ctx context.Context) error {
			many := make([]sluice.Call, 30)
			for i := range many {
				many[i] = sluice.Call{Charges: both, Receipt: receiptFor(1, 0)}
			}
			return second(w.engine.Charge(ctx, many))
		}},
		{"a reset", 1, func(ctx context.Context) error { return c.Reset(ctx, both...) }},
	}
	for warm := range 2 { // the first time the server gets to know the scripts
		for _, call := range calls {
			before, _ := w.keys.ScriptStats(t)
			if err := call.call(t.Context()); err != nil {
				t.Errorf("%s: %v", call.name, err)
			}
			if after, _ := w.keys.ScriptStats(t); warm == 1 && after-before != call.want {
				t.Errorf("%s takes %d round trips, want %d", call.name, after-before, call.want)
			}
		}
	}
}

func (w *world) mustExceed(err error) error {
	if text := w.failure(err); text != "more than 3/1s" {
		w.Errorf("the error is %s", text)
	}
	return nil
}

// inlineLowered looks after reservations under a limit that is lower than what they hold: they keep their dates, and the look ends.
func (h Harness) inlineLowered(t *testing.T) {
	for _, a := range algorithms {
		t.Run(a.String(), func(t *testing.T) {
			w := newWorld(t, h)
			c := w.of("self")
			high := sluice.Limit{Rate: sluice.Per(700, 10*time.Second), Algorithm: a, Name: "x"}
			low := sluice.Limit{Rate: sluice.Per(3, 10*time.Second), Algorithm: a, Name: "x"}
			first, err := c.Take(t.Context(), high.ChargeN("u", 700))
			must(t, err)
			waits, err := c.Book(t.Context(), time.Minute, high.ChargeN("u", 600))
			must(t, err)
			if !first.Allowed || !waits.Allowed || waits.Wait == 0 {
				t.Fatalf("Take, Book = %+v, %+v, want allowed now and later", first, waits)
			}
			if a != sluice.TokenBucket { // its permits flow back at the lower rate
				_, err = c.Refund(t.Context(), first.Receipt, low.Charge("u"))
				must(t, err)
			}
			sights, err := w.engine.LookAt(t.Context(), []sluice.Charge{low.Charge("u")}, []sluice.Receipt{waits.Receipt})
			must(t, err)
			if s := sights[0]; s.Gone || s.Wait != waits.Wait {
				t.Errorf("a look finds it at %+v, want in %v", s, waits.Wait)
			}
			o, err := c.Take(t.Context(), low.Charge("u"))
			if err != nil || o.Allowed {
				t.Errorf("Take behind it = %+v, %v, want refused", o, err)
			}
		})
	}
}
