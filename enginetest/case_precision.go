package enginetest

import (
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/sluice-rate/sluice"
)

// precisionCases are those in which too many pass, or too few, under any algorithm.
var precisionCases = []symptom{
	{"a refused call does not push the window on", func(s *scene) {
		s.each(ledgers, sluice.Per(5, time.Second), func(b *budget) {
			allowed, calls := b.steady(100*time.Millisecond, 10*time.Second)
			b.want("allowed of a call every 100 ms for 10 s", [2]int{allowed, calls}, [2]int{50, 100})
		})
		s.each(windows, sluice.Per(5, time.Second), func(b *budget) {
			var refused []int
			for second, calls := range []int{6, 5, 8} {
				b.at(time.Duration(second) * time.Second)
				allowed, _ := b.steady(time.Millisecond, b.since()+time.Duration(calls)*time.Millisecond)
				refused = append(refused, calls-allowed)
			}
			if !slices.Equal(refused, []int{1, 0, 3}) {
				b.Errorf("%v: refused in the seconds: %v, want 1, 0, 3", b, refused)
			}
		})
		s.each(all, sluice.Per(1, time.Second), func(b *budget) {
			b.take(1, "granted")
			b.at(100*time.Millisecond).take(1, "refused, retry in 900ms")
			b.at(110*time.Millisecond).take(1, "refused, retry in 890ms")
		})
	}},
	{"a refused call for many does not eat what is left", func(s *scene) {
		s.each(all, sluice.Per(10, time.Minute), func(b *budget) {
			b.take(8, "granted, 2 left")
			b.want("left after a refusal", b.take(5, "refused").Remaining, int64(2))
			b.take(1, "granted, 1 left")
			b.take(1, "granted, 0 left")
			b.take(1, "refused")
		})
	}},
	{"calls of one moment are all counted", func(s *scene) {
		for _, clients := range [][]string{{"a"}, {"a", "b", "c"}} {
			s.each(all, sluice.Per(10, time.Second), func(b *budget) {
				allowed := 0
				for i := range 30 {
					d, err := b.by(clients[i%len(clients)], 1, 0)
					must(b, err)
					if d.Allowed {
						allowed++
					}
				}
				b.want("allowed of thirty in one microsecond", allowed, 10)
				b.wantFree(0)
			})
		}
	}},
	{"a hundred parallel calls do not all pass", func(s *scene) {
		s.each(all, sluice.Per(10, time.Hour), func(b *budget) {
			var allowed atomic.Int64
			var wg sync.WaitGroup
			c := b.of("self")
			for range 100 {
				wg.Go(func() {
					var d sluice.Decision
					var err error
					if b.limiter != nil {
						d, err = b.limiter.TryAcquire(b.Context(), 1)
					} else {
						var o sluice.Outcome
						o, err = c.Take(b.Context(), b.charge(1))
						d = o.Decision
					}
					if err != nil {
						b.Error(err)
					}
					if d.Allowed {
						allowed.Add(1)
					}
				})
			}
			wg.Wait()
			b.want("allowed of a hundred at once", allowed.Load(), int64(10))
		})
	}},
	{"exactly one interval later it passes, each time", func(s *scene) {
		for _, interval := range []time.Duration{3 * time.Second, 7 * time.Second} {
			s.each(all, sluice.Per(1, interval), func(b *budget) {
				b.take(1, "granted")
				for i := range s.calls(10_000) {
					moment := time.Nanosecond
					if b.moment() > time.Microsecond {
						moment = b.moment()
					}
					b.clock.move(interval - moment)
					early := b.passes(1)
					b.clock.move(moment)
					if onTime := b.passes(1); early != 0 || onTime != 1 {
						b.Fatalf("%v: round %d: %d pass a moment early and %d on time, want 0 and 1", b, i, early, onTime)
					}
				}
			})
		}
	}},
	{"steady calls at the rate are never refused", func(s *scene) {
		b := s.bucketOf(sluice.Per(600, time.Second), 1000)
		for i := range s.calls(36_000) {
			b.at(time.Duration(i) * time.Second / 600)
			if !b.asks(1) {
				b.Fatalf("%v: call %d is refused at %v", b, i, b.since())
			}
		}
		s.each(all, sluice.Per(250, time.Second), func(b *budget) {
			for range s.calls(5_000) {
				if !b.asks(1) {
					b.Fatalf("%v: refused at %v", b, b.since())
				}
				b.clock.move(4 * time.Millisecond)
			}
		})
	}},
	{"the limit is whole however few of the processes ask", func(s *scene) {
		for _, spread := range []struct {
			rate    int64
			clients []string
		}{{3, []string{"a", "b", "c", "d", "e"}}, {50, []string{"a", "b", "c"}}, {50, []string{"a"}}} {
			s.each(all, sluice.Per(spread.rate, time.Second), func(b *budget) {
				var allowed int64
				for i := range 2 * spread.rate {
					d, err := b.by(spread.clients[i%int64(len(spread.clients))], 1, 0)
					must(b, err)
					if d.Allowed {
						allowed++
					}
				}
				b.want("allowed over all clients", allowed, spread.rate)
			})
		}
	}},
	{"the last permit is had by a cold and by a warm client", func(s *scene) {
		for _, client := range []string{"self", "cold"} {
			s.each(all, sluice.Per(10, time.Minute), func(b *budget) {
				b.take(8, "granted, 2 left")
				for _, want := range []bool{true, true, false} {
					d, err := b.by(client, 1, 0)
					must(b, err)
					b.want("allowed to "+client, d.Allowed, want)
				}
			})
		}
	}},
	{"two routes share a budget if they share a key, and only then", func(s *scene) {
		s.each(all, sluice.Per(5, time.Minute), func(b *budget) {
			b.want("allowed on the first route", b.passes(3), 3)
			b.want("allowed on the second route", b.passes(3), 2)
			other := s.budget(b.kind, b.limit.Rate)
			other.want("allowed on a route with a key of its own", other.passes(3), 3)
		})
	}},
	{"a limit of one is had again when its interval is over", func(s *scene) {
		s.each(ledgers, sluice.Per(1, 10*time.Second), func(b *budget) {
			b.take(1, "granted")
			b.at(5*time.Second).take(1, "refused, retry in 5s")
			b.at(10500*time.Millisecond).take(1, "granted")
			b.at(20*time.Second).take(1, "refused, retry in 500ms")
			b.at(30*time.Second).take(1, "granted")
		})
		s.each(all, sluice.Per(1, time.Second), func(b *budget) {
			b.take(1, "granted")
			b.at(500*time.Millisecond).take(1, "refused")
			b.at(time.Second).take(1, "granted")
		})
	}},
	{"slow callers are never refused", func(s *scene) {
		s.each(all, sluice.Per(60, time.Minute), func(b *budget) {
			for b.since() < 2*time.Hour {
				if left := b.take(1, "granted").Remaining; left < 57 {
					b.Fatalf("%v at %v: %d left, want never below 57", b, b.since(), left)
				}
				b.clock.move(20 * time.Second)
			}
		})
	}},
	{"a call that is sent again counts once", func(s *scene) {
		s.each(all, sluice.Per(5, time.Minute), func(b *budget) {
			receipt := receiptFor(1, 0)
			for range 5 {
				var err error
				if b.limiter != nil {
					_, err = b.ask(sluice.Take{Key: sluice.Key{Limiter: b.key, Client: "self"}, Receipt: receipt})
				} else {
					var rulings []sluice.Ruling
					rulings, err = b.engine.Charge(b.Context(), []sluice.Call{{Charges: []sluice.Charge{b.charge(1)}, Receipt: receipt}})
					if err == nil && !rulings[0].Outcome.Allowed {
						b.Errorf("%v: the repeat is refused: %+v", b, rulings[0])
					}
				}
				must(b, err)
			}
			b.wantFree(4)
		})
	}},
}
