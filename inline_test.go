package sluice_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sluice-rate/sluice"
	"github.com/sluice-rate/sluice/memengine"
)

// bubble runs a test in a bubble, on a client of its own.
func bubble(t *testing.T, test func(t *testing.T, c *sluice.Client)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) { test(t, sluice.New(memengine.New(nil))) })
}

func mustCharge(t *testing.T, c *sluice.Client, charges ...sluice.Charge) sluice.Outcome {
	t.Helper()
	o, err := c.Take(t.Context(), charges...)
	if err != nil || !o.Allowed {
		t.Fatalf("Take(%v) = %+v, %v, want allowed", charges, o, err)
	}
	return o
}

// waitFor starts callers of Wait one after the other and notes when each goes on.
func (q *queue) waitFor(ctx context.Context, name string, c *sluice.Client, charges ...sluice.Charge) {
	q.wg.Go(func() {
		err := c.Wait(ctx, charges...)
		q.mu.Lock()
		defer q.mu.Unlock()
		entry := fmt.Sprintf("%s %v", name, time.Since(q.start))
		if err != nil {
			entry += " " + kind(err)
		}
		q.went = append(q.went, entry)
	})
	synctest.Wait()
}

func TestChargesAreServedInOrder(t *testing.T) {
	for _, a := range []sluice.Algorithm{sluice.SlidingWindow, sluice.TokenBucket, sluice.FixedWindow} {
		t.Run(a.String(), func(t *testing.T) {
			bubble(t, func(t *testing.T, c *sluice.Client) {
				limit := sluice.Limit{Rate: sluice.Per(2, 10*time.Second), Algorithm: a}
				q := newQueue(nil)
				q.waitFor(t.Context(), "a", c, limit.ChargeN("u", 2))
				q.waitFor(t.Context(), "b", c, limit.ChargeN("u", 2))
				q.waitFor(t.Context(), "c", c, limit.Charge("u"))
				q.waitFor(t.Context(), "d", c, limit.Charge("u"))
				last := "20s"
				if a == sluice.TokenBucket {
					q.want(t, "a 0s", "b 10s", "c 15s", "d 20s")
				} else {
					q.want(t, "a 0s", "b 10s", "c "+last, "d "+last)
				}
			})
		})
	}
}

// TestChargesMoveUp lets the first in line leave; those behind take its place, in their order, at the next look.
func TestChargesMoveUp(t *testing.T) {
	for _, a := range []sluice.Algorithm{sluice.SlidingWindow, sluice.TokenBucket, sluice.FixedWindow} {
		t.Run(a.String(), func(t *testing.T) {
			bubble(t, func(t *testing.T, c *sluice.Client) {
				limit := sluice.Limit{Rate: sluice.Per(1, 10*time.Second), Algorithm: a}
				mustCharge(t, c, limit.Charge("u"))
				q := newQueue(nil)
				ctx, leave := context.WithCancel(t.Context())
				q.waitFor(ctx, "a", c, limit.Charge("u"))
				q.waitFor(t.Context(), "b", c, limit.Charge("u"))
				q.waitFor(t.Context(), "c", c, limit.Charge("u"))
				time.Sleep(5 * time.Second)
				leave()
				q.want(t, "a 5s context canceled", "b 10s", "c 20s")
			})
		})
	}
}

// TestWaitForOneLimitDoesNotBlockAnother: who waits for the slow one has its place in the quick one, but others pass.
func TestWaitForOneLimitDoesNotBlockAnother(t *testing.T) {
	bubble(t, func(t *testing.T, c *sluice.Client) {
		slow, quick := sluice.Limit{Rate: sluice.Per(1, time.Minute)}, sluice.Limit{Rate: sluice.Per(2, time.Second)}
		mustCharge(t, c, slow.Charge("u"))
		q := newQueue(nil)
		q.waitFor(t.Context(), "both", c, slow.Charge("u"), quick.Charge("u"))
		mustCharge(t, c, quick.Charge("u"))
		if o, err := c.Take(t.Context(), quick.Charge("u")); err != nil || o.Allowed || o.RetryAfter != time.Second {
			t.Errorf("the place of the one who waits is taken: %+v, %v", o, err)
		}
		q.want(t, "both 1m0s")
	})
}

func TestWaitPastTheDeadlineEndsAtOnce(t *testing.T) {
	bubble(t, func(t *testing.T, c *sluice.Client) {
		limit := sluice.Limit{Rate: sluice.Per(1, 10*time.Second)}
		mustCharge(t, c, limit.Charge("u"))
		ctx, cancel := context.WithTimeout(t.Context(), 9*time.Second)
		defer cancel()
		start := time.Now()
		err := c.Wait(ctx, limit.Charge("u"))
		var limited *sluice.LimitedError
		if !errors.As(err, &limited) || !errors.Is(err, context.DeadlineExceeded) || limited.RetryAfter != 10*time.Second || time.Since(start) != 0 {
			t.Errorf("Wait = %v after %v, want a *LimitedError at once", err, time.Since(start))
		}
		if o, err := c.Peek(t.Context(), limit.Charge("u")); err != nil || o.RetryAfter != 10*time.Second {
			t.Errorf("it has left something behind: %+v, %v", o, err)
		}
	})
}

// TestWaitWhenTheKeysAreReset: those who wait ask anew.
func TestWaitWhenTheKeysAreReset(t *testing.T) {
	bubble(t, func(t *testing.T, c *sluice.Client) {
		limit := sluice.Limit{Rate: sluice.Per(1, 10*time.Second)}
		mustCharge(t, c, limit.Charge("u"))
		q := newQueue(nil)
		q.waitFor(t.Context(), "a", c, limit.Charge("u"))
		if err := c.Reset(t.Context(), limit.Charge("u")); err != nil {
			t.Fatal(err)
		}
		q.want(t, "a 750ms")
	})
}

// TestTenThousandChargesWhoLeave: beyond a thousand nobody can wait, and when all have left nothing is owed (C29).
func TestTenThousandChargesWhoLeave(t *testing.T) {
	bubble(t, func(t *testing.T, c *sluice.Client) {
		limit := sluice.Limit{Rate: sluice.Per(20, time.Second), Algorithm: sluice.TokenBucket}
		ctx, leave := context.WithCancel(t.Context())
		q := newQueue(nil)
		refused, went := 0, 0
		for range 10_000 {
			q.wg.Go(func() {
				o, err := c.TakeFor(ctx, time.Hour, limit.Charge("u"))
				q.mu.Lock()
				defer q.mu.Unlock()
				if err == nil && o.Allowed {
					went++
				} else if err == nil {
					refused++
				}
			})
		}
		time.Sleep(500 * time.Millisecond)
		leave()
		q.wg.Wait()
		if went != 30 || refused != 10_000-1000-20 {
			t.Errorf("%d went on, %d were refused, want 30 and 8980", went, refused)
		}
		time.Sleep(100 * time.Millisecond)
		if o := mustCharge(t, c, limit.Charge("u")); o.Remaining != 1 {
			t.Errorf("%d permits remain, want 1", o.Remaining)
		}
	})
}

// TestOutcomeAfterAWait says on the whole and in each part when the permits could be used, also when that has moved.
func TestOutcomeAfterAWait(t *testing.T) {
	bubble(t, func(t *testing.T, c *sluice.Client) {
		slow, quick := sluice.Limit{Rate: sluice.Per(1, 10*time.Second)}, sluice.Limit{Rate: sluice.Per(5, time.Second)}
		first := mustCharge(t, c, slow.Charge("u"))
		start := time.Now()
		time.AfterFunc(5*time.Second, func() { c.Refund(context.WithoutCancel(t.Context()), first.Receipt, slow.Charge("u")) })
		o, err := c.TakeFor(t.Context(), time.Minute, slow.Charge("u"), quick.Charge("u"))
		if err != nil || !o.Allowed || o.Wait != time.Since(start) || o.Wait >= 6*time.Second {
			t.Fatalf("TakeFor = %+v, %v, want allowed within 6s", o, err)
		}
		for i, p := range o.Parts {
			if p.Wait != o.Wait || !p.Date.Equal(o.Date) {
				t.Errorf("part %d waited %v until %v, want %v until %v", i, p.Wait, p.Date, o.Wait, o.Date)
			}
		}
	})
}
