package clienttest

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/sluice-rate/sluice"
	"github.com/sluice-rate/sluice/internal/redistest"
)

// onCluster runs a test on a cluster, over each kind of client that knows one, with keys of its own.
func onCluster(t *testing.T, test func(t *testing.T, c *sluice.Client, key func(string) string)) {
	s := startCluster(t, redistest.Redis7)
	for _, kind := range clients {
		if !kind.cluster {
			continue
		}
		t.Run(kind.name, func(t *testing.T) {
			t.Parallel()
			c := sluice.New(kind.open(t, target{addrs: s.addrs()}))
			test(t, c, func(name string) string { return kind.name + " " + name })
		})
	}
}

func mustBe(t *testing.T, what string, o sluice.Outcome, err error, allowed bool, remaining ...int64) {
	t.Helper()
	if err != nil || o.Allowed != allowed {
		t.Fatalf("%s = %+v, %v, want allowed %v", what, o, err, allowed)
	}
	for i, want := range remaining {
		if got := o.Parts[i].Remaining; got != want {
			t.Errorf("%s: %d of charge %d remain, want %d", what, got, i, want)
		}
	}
}

// TestChargesInSeveralSlots are all or none, too: what was granted before another refused is undone.
func TestChargesInSeveralSlots(t *testing.T) {
	onCluster(t, func(t *testing.T, c *sluice.Client, key func(string) string) {
		ctx := t.Context()
		wide, narrow := sluice.Limit{Rate: sluice.Per(10, time.Minute)}, sluice.Limit{Rate: sluice.Per(2, time.Minute)}
		org, a, b := wide.Charge(key("org")), narrow.Charge(key("a")), narrow.Charge(key("b"))

		o, err := c.Take(ctx, org, a, b)
		mustBe(t, "the first call", o, err, true, 9, 1, 1)
		again, err := c.Take(ctx, org, a)
		mustBe(t, "one without b", again, err, true, 8, 0)
		refused, err := c.Take(ctx, org, a, b)
		mustBe(t, "one that a refuses", refused, err, false, 8, 0, 1)
		if refused.RetryAfter < 50*time.Second || refused.Parts[1].Allowed || !refused.Parts[0].Allowed || !refused.Parts[2].Allowed {
			t.Errorf("it is refused as %+v", refused)
		}
		if freed, err := c.Refund(ctx, again.Receipt, org, a); err != nil || freed != 2 {
			t.Errorf("Refund = %d, %v, want 2", freed, err)
		}
		o, err = c.TakeUpTo(ctx, 5, org, a, b)
		mustBe(t, "up to five", o, err, true, 8, 0, 0)
		if o.Units != 1 {
			t.Errorf("they were taken %d times, want once", o.Units)
		}
		if err := c.Reset(ctx, org, a, b); err != nil {
			t.Fatal(err)
		}
		o, err = c.TakeUpTo(ctx, 5, org, a, b)
		mustBe(t, "up to five of all", o, err, true, 8, 0, 0)
		if o.Units != 2 {
			t.Errorf("they were taken %d times, want twice", o.Units)
		}
		o, err = c.Peek(ctx, org, a)
		mustBe(t, "a peek", o, err, false, 8, 0)
	})
}

// TestChargesInSeveralSlotsWait for one date, and who leaves gives all of them back.
func TestChargesInSeveralSlotsWait(t *testing.T) {
	onCluster(t, func(t *testing.T, c *sluice.Client, key func(string) string) {
		ctx := t.Context()
		quick, slow := sluice.Limit{Rate: sluice.Per(5, 10*time.Second)}, sluice.Limit{Rate: sluice.Per(1, 400*time.Millisecond)}
		a, b := quick.Charge(key("a")), slow.Charge(key("b"))
		start := time.Now()
		o, err := c.Take(ctx, a, b)
		mustBe(t, "the first call", o, err, true, 4, 0)
		o, err = c.TakeFor(ctx, time.Second, a, b)
		mustBe(t, "one that waits", o, err, true, 3, 0)
		if waited := time.Since(start); waited < 395*time.Millisecond {
			t.Errorf("it went on after %v, want 400ms", waited)
		}
		booked, err := c.Book(ctx, time.Second, a, b)
		mustBe(t, "a booking", booked, err, true, 2, 0)
		if _, err := c.Refund(ctx, booked.Receipt, a, b); err != nil {
			t.Error(err)
		}
		o, err = c.Peek(ctx, a)
		mustBe(t, "a peek", o, err, true, 3)
		if o, err := c.Book(ctx, 100*time.Millisecond, a, b); err != nil || o.Allowed && o.Wait > 100*time.Millisecond {
			t.Errorf("a booking that cannot be afforded = %+v, %v", o, err)
		}
	})
}

// TestNoMoreThanTheRateInAnySlot lets many callers take from pairs of limits at once.
func TestNoMoreThanTheRateInAnySlot(t *testing.T) {
	onCluster(t, func(t *testing.T, c *sluice.Client, key func(string) string) {
		limit := sluice.Limit{Rate: sluice.Per(20, time.Hour)}
		granted := make([]int, 4)
		var mu sync.Mutex
		var wg sync.WaitGroup
		for i := range 100 {
			wg.Go(func() {
				one, other := i%4, (i+1+i/4%3)%4
				o, err := c.Take(t.Context(), limit.Charge(key(fmt.Sprint(one))), limit.Charge(key(fmt.Sprint(other))))
				if err != nil {
					t.Error(err)
				}
				if o.Allowed {
					mu.Lock()
					defer mu.Unlock()
					granted[one]++
					granted[other]++
				}
			})
		}
		wg.Wait()
		for i, n := range granted {
			o, err := c.Peek(t.Context(), limit.Charge(key(fmt.Sprint(i))))
			if err != nil || n > 20 || o.Remaining != int64(20-n) {
				t.Errorf("limit %d has granted %d of 20, and %d remain (%v)", i, n, o.Remaining, err)
			}
		}
	})
}
