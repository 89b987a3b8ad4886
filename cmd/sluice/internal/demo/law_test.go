package demo

import (
	"io"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sluice-rate/sluice"
	"github.com/sluice-rate/sluice/memengine"
)

// watched plays the demo and gives the witness, with each scene to see.
func watched(t *testing.T, see func(s scene)) *witness {
	t.Helper()
	w := &witness{rate: sluice.Per(3, 5*time.Second), begin: time.Now(), Engine: memengine.New(nil)}
	limiter := sluice.New(w).Limiter("demo")
	if err := limiter.SetRate(t.Context(), sluice.Config{Rate: w.rate}); err != nil {
		t.Fatal(err)
	}
	if err := play(t.Context(), w, limiter, displayFunc(func(s scene) { see(s) })); err != nil {
		t.Fatal(err)
	}
	return w
}

type displayFunc func(s scene)

func (f displayFunc) show(s scene) error { f(s); return nil }
func (f displayFunc) close() error       { return nil }

func TestDemo_never_has_more_than_the_rate_in_any_window(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := watched(t, func(scene) {})
		// A window [t, t+5s) is fullest when it begins with a grant. Permits that were given back unused do not count from
		// then on, but may do until then: those that are left are what was used.
		used := make(map[time.Duration]int64)
		for _, s := range w.spans {
			if s.to == s.from+w.rate.Interval {
				used[s.from] += s.permits
			}
		}
		for begin := range used {
			var n int64
			for at, permits := range used {
				if begin <= at && at < begin+w.rate.Interval {
					n += permits
				}
			}
			if n > 3 {
				t.Errorf("%d permits in the window that begins at %v", n, begin)
			}
		}
		if len(used) < 8 {
			t.Errorf("grants at %d moments, want a demo with more in it", len(used))
		}
	})
}

func TestDemo_log_agrees_with_the_ledger_at_each_moment(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		watched(t, func(s scene) {
			var inLedger, inLog int64
			for _, e := range s.ledger {
				inLedger += e.permits
				if e.who == "" {
					t.Errorf("%v: the ledger has a grant from %v that the log knows nothing of", s.now, e.from)
				}
			}
			for _, e := range s.log {
				switch e.kind {
				case took, queued:
					inLog += e.permits
				case gaveBack, left, returned:
					inLog -= e.permits
				}
			}
			if inLog != inLedger {
				t.Errorf("%v: %d permits in the log, want the ledger's %d", s.now, inLog, inLedger)
			}
			if free := max(0, 3-inLedger); s.free != free {
				t.Errorf("%v: %d free, want %d", s.now, s.free, free)
			}
			if n := len(s.log); n > 0 && s.log[n-1].free != s.free {
				t.Errorf("%v: the last event says %d free, want %d", s.now, s.log[n-1].free, s.free)
			}
		})
	})
}

func TestDemo_has_everything_in_it(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := watched(t, func(scene) {})
		seen := make(map[kind]bool)
		for _, e := range w.log {
			seen[e.kind] = true
		}
		for _, k := range []kind{took, queued, movedUp, turn, refused, gaveBack, returned, wentHome} {
			if !seen[k] {
				t.Errorf("no event like %q", event{kind: k}.text())
			}
		}
	})
}

func TestDemo_numbers_add_up(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := watched(t, func(scene) {})
		var taken, unused, back int64
		for _, worker := range workers {
			s := w.state(worker.name)
			taken += s.taken
			unused += s.unused
		}
		for _, e := range w.log {
			if e.kind == returned {
				back += e.permits
			}
		}
		if taken != unused+back {
			t.Errorf("%d permits were taken, but %d given back and %d came back", taken, unused, back)
		}
		if n := fullest(w.spans); n != 3 {
			t.Errorf("the fullest window held %d, want 3", n)
		}
		if len(w.holds) > 0 {
			t.Errorf("%d grants are left, want none", len(w.holds))
		}
	})
}

func TestDemo_keeps_each_bar_in_its_lane(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var b board
		type grant struct {
			id   [16]byte
			lane int
		}
		lanes := make(map[grant]bool) // true while it is seen
		watched(t, func(s scene) {
			var taken [3]bool
			for _, bar := range b.update(s) {
				if bar.from > s.now || bar.ended {
					continue
				}
				if taken[bar.lane] {
					t.Errorf("%v: two bars in lane %d", s.now, bar.lane)
				}
				taken[bar.lane] = true
				lanes[grant{bar.id, bar.lane}] = true
			}
		})
		perGrant := make(map[[16]byte]int)
		for g := range lanes {
			if perGrant[g.id]++; perGrant[g.id] > 2 {
				t.Errorf("a grant of at most 2 permits has been in three lanes")
			}
		}
	})
}

func BenchmarkPicture(b *testing.B) {
	s := fixedScene()
	d := &screen{out: io.Discard, size: func() (int, int) { return 100, 30 }}
	b.ReportAllocs()
	for b.Loop() {
		if err := d.show(s); err != nil {
			b.Fatal(err)
		}
	}
}
