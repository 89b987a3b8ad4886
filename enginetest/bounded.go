package enginetest

import (
	"testing"
	"time"

	"github.com/sluice-rate/sluice"
)

const (
	mostGrants = 2000 // that a ledger may hold
	atOnce     = 100  // takes in one call
)

// fill makes n takes of one permit each, a hundred in each millisecond.
func (w *world) fill(n int) {
	w.Helper()
	for range n / atOnce {
		takes := make([]sluice.Take, atOnce)
		for i := range takes {
			takes[i] = sluice.Take{Key: w.key(), Receipt: receiptFor(1, 0)}
		}
		answers, err := w.engine.Take(w.Context(), takes)
		must(w, err)
		for _, a := range answers {
			if a.Err != nil || !a.Decision.Allowed {
				w.Fatalf("at %v a take is not granted: %+v", w.clock.since(), a)
			}
		}
		w.clock.move(time.Millisecond)
	}
}

// entries is how many entries the ledger has, and how many permits they hold.
func (w *world) entries() (entries int, permits int64) {
	w.Helper()
	for e, err := range w.limiter().Ledger(w.Context()) {
		must(w, err)
		entries++
		permits += e.Permits
	}
	return entries, permits
}

// bounded makes ten thousand takes and counts what is stored.
func (h Harness) bounded(t *testing.T) {
	const n = 10_000
	w := newWorld(t, h)
	_, err := w.limiter().TrySetRate(t.Context(), sluice.Config{Rate: sluice.Per(2*n, time.Second)})
	must(t, err)
	w.fill(n)
	entries, permits := w.entries()
	if entries > mostGrants {
		t.Errorf("the ledger has %d entries after %d takes, want at most %d", entries, n, mostGrants)
	}
	if permits != n {
		t.Errorf("the ledger holds %d permits, want %d", permits, n)
	}
	w.conserved()

	// Merged grants return when the latest of them does, which is not earlier, and later by a thousandth of the interval at most.
	w.clock.move(time.Second - w.clock.since() - time.Microsecond)
	if free, err := w.limiter().Available(t.Context()); err != nil || free != n {
		t.Errorf("%d permits are free before the first one has returned, want %d (%v)", free, n, err)
	}
	for i := int64(1); i <= n/atOnce; i++ {
		w.clock.move(time.Millisecond)
		free, err := w.limiter().Available(t.Context())
		if most := n + i*atOnce; err != nil || free > most || free < most-2*atOnce {
			t.Fatalf("%d permits are free at %v, want %d or a little less (%v)", free, w.clock.since(), most, err)
		}
	}
	w.clock.move(2 * time.Millisecond)
	if d, err := w.limiter().TryAcquire(t.Context(), 2*n); err != nil || !d.Allowed {
		t.Errorf("after the interval all permits are refused: %+v, %v", d, err)
	}

	// Those who wait are not merged: each has its own place.
	const waiters = mostGrants + 500
	takes := make([]sluice.Take, waiters)
	for i := range takes {
		takes[i] = sluice.Take{Key: w.key(), Receipt: receiptFor(1, time.Minute), MaxWait: time.Minute}
	}
	_, err = w.engine.Take(t.Context(), takes)
	must(t, err)
	if entries, _ := w.entries(); entries != waiters+1 {
		t.Errorf("the ledger has %d entries, want one for each of %d waiters and one grant", entries, waiters)
	}
	w.conserved()
}

// releaseFromMany gives one permit back of a hundred thousand. Redisson reads the whole ledger for that: 0.4 s in which Redis does
// nothing else.
func (h Harness) releaseFromMany(t *testing.T) {
	const n = 100_000
	w := newWorld(t, h)
	_, err := w.limiter().TrySetRate(t.Context(), sluice.Config{Rate: sluice.Per(2*n, time.Minute)})
	must(t, err)
	w.fill(n)
	var before float64
	if w.keys != nil {
		_, before = w.keys.ScriptStats(t)
	}
	if freed, err := w.limiter().Release(t.Context(), 1); err != nil || freed != 1 {
		t.Errorf("Release(1) = %d, %v, want 1", freed, err)
	}
	if w.keys != nil {
		if _, after := w.keys.ScriptStats(t); after-before > 100_000 {
			t.Errorf("Release(1) takes Redis %.0f µs", after-before)
		}
	}
	if free, err := w.limiter().Available(t.Context()); err != nil || free != n+1 {
		t.Errorf("%d permits are free, want %d (%v)", free, n+1, err)
	}
	if freed, err := w.limiter().Release(t.Context(), 2*n); err != nil || freed != n-1 {
		t.Errorf("a release of more than there is frees %d, %v, want %d", freed, err, n-1)
	}
	w.conserved()
}
