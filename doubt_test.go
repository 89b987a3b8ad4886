package sluice_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sluice-rate/sluice"
	"github.com/sluice-rate/sluice/memengine"
)

// slowEngine runs a take only after a time, whether its caller is still there or not, as a server does whose answer is
// on its way when the caller leaves.
type slowEngine struct {
	*memengine.Engine
	late time.Duration
}

func (e slowEngine) Take(ctx context.Context, takes []sluice.Take) ([]sluice.Answer, error) {
	done := make(chan struct{})
	var answers []sluice.Answer
	go func() {
		defer close(done)
		time.Sleep(e.late)
		answers, _ = e.Engine.Take(context.WithoutCancel(ctx), takes)
	}()
	select {
	case <-done:
		return answers, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

func TestTakeWhoseCallerLeftIsGivenBackWheneverItRuns(t *testing.T) {
	for _, late := range []time.Duration{20 * time.Millisecond, 900 * time.Millisecond} {
		t.Run(late.String(), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				engine := slowEngine{memengine.New(nil), late}
				l := sluice.New(engine).Limiter("x")
				if _, err := l.TrySetRate(t.Context(), sluice.Config{Rate: sluice.Per(500, time.Hour)}); err != nil {
					t.Fatal(err)
				}
				start := time.Now()
				for range 300 {
					ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
					go func() {
						defer cancel()
						if _, err := l.TryAcquire(ctx, 1); !errors.Is(err, context.DeadlineExceeded) {
							t.Errorf("TryAcquire = %v, want the context's deadline", err)
						}
						if d := time.Since(start); d != 10*time.Millisecond {
							t.Errorf("TryAcquire took %v, want no longer than its context", d)
						}
					}()
				}
				time.Sleep(time.Second)
				wantAvailable(t, l, 200)
				time.Sleep(2 * time.Second)
				wantAvailable(t, l, 500)
			})
		})
	}
}

// Charge is Take for calls with charges.
func (e slowEngine) Charge(ctx context.Context, calls []sluice.Call) ([]sluice.Ruling, error) {
	done := make(chan struct{})
	var rulings []sluice.Ruling
	go func() {
		defer close(done)
		time.Sleep(e.late)
		rulings, _ = e.Engine.Charge(context.WithoutCancel(ctx), calls)
	}()
	select {
	case <-done:
		return rulings, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

func TestChargesWhoseCallerLeftAreGivenBackWheneverTheyRun(t *testing.T) {
	for _, late := range []time.Duration{20 * time.Millisecond, 900 * time.Millisecond} {
		t.Run(late.String(), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				engine := memengine.New(nil)
				c, seen := sluice.New(slowEngine{engine, late}), sluice.New(engine)
				minute, hour := sluice.Limit{Rate: sluice.Per(500, time.Minute)}, sluice.Limit{Rate: sluice.Per(600, time.Hour)}
				charges := []sluice.Charge{minute.Charge("u"), hour.Charge("u")}
				for range 300 {
					ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
					go func() {
						defer cancel()
						if _, err := c.Take(ctx, charges...); !errors.Is(err, context.DeadlineExceeded) {
							t.Errorf("Take = %v, want the context's deadline", err)
						}
					}()
				}
				time.Sleep(3 * time.Second)
				o, err := seen.Peek(t.Context(), charges...)
				if err != nil || o.Parts[0].Remaining != 500 || o.Parts[1].Remaining != 600 {
					t.Errorf("Peek = %+v, %v, want all free again", o, err)
				}
			})
		})
	}
}
