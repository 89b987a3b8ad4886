package enginetest

import (
	"time"

	"github.com/sluice-rate/sluice"
)

// windowCases are those at the edges of windows.
var windowCases = []symptom{
	{"no window holds twice the limit around an edge", func(s *scene) {
		s.each(ledgers, sluice.Per(5, time.Second), func(b *budget) {
			b.at(300 * time.Millisecond)
			b.steady(10*time.Millisecond, 350*time.Millisecond)
			for i := range 5 {
				b.at(time.Duration(1000+10*i)*time.Millisecond).take(1, []string{
					"refused, retry in 300ms", "refused, retry in 290ms", "refused, retry in 280ms", "refused, retry in 270ms", "refused, retry in 260ms",
				}[i])
			}
		})
		s.each(ledgers, sluice.Per(10, time.Minute), func(b *budget) {
			b.at(59*time.Second).want("allowed before the edge", b.passes(9), 9)
			b.at(61*time.Second).want("allowed after the edge", b.passes(10), 1)
		})
	}},
	{"the same calls under each algorithm", func(s *scene) {
		for kind, want := range map[string]int{aligned: 120, sliding: 60, named: 60, fixed: 60, bucket: 61} {
			b := s.budget(kind, sluice.Per(60, time.Minute))
			b.at(59 * time.Second)
			allowed := b.passes(60)
			b.at(60 * time.Second)
			b.want("allowed of 60 a second before the minute and 60 on it", allowed+b.passes(60), want)
		}
	}},
	{"an aligned window ends with the clock's, not before", func(s *scene) {
		b := s.budget(aligned, sluice.Per(2, time.Minute))
		b.at(51100*time.Millisecond).take(1, "granted")
		b.at(56200*time.Millisecond).take(1, "granted")
		b.at(59900*time.Millisecond).take(1, "refused, retry in 100ms")
		b.at(60*time.Second-time.Millisecond).take(1, "refused, retry in 1ms")
		b.at(60*time.Second).take(1, "granted")
		edge := func(kind string, want int) {
			b := s.budget(kind, sluice.Per(2, time.Minute))
			allowed := b.at(59 * time.Second).passes(2)
			b.want("allowed of two on each side of the edge", allowed+b.at(61*time.Second).passes(2), want)
		}
		edge(aligned, 4)
		edge(sliding, 2)
		edge(named, 2)
	}},
	{"the first second does not hold twice the limit", func(s *scene) {
		s.each([]string{named, sliding, fixed}, sluice.Per(6, time.Second), func(b *budget) {
			b.at(950*time.Millisecond).want("allowed at first", b.passes(6), 6)
			b.at(1020*time.Millisecond).take(1, "refused, retry in 930ms")
			b.at(1950*time.Millisecond-b.moment()).want("allowed before the window is over", b.passes(6), 0)
			b.at(1950*time.Millisecond).want("allowed when the window is over", b.passes(6), 6)
		})
	}},
	{"reservations count in the window of their date", func(s *scene) {
		s.each([]string{fixed, aligned}, sluice.Per(10, 10*time.Second), func(b *budget) {
			first := b.take(1, "granted")
			b.want("given back", b.refund(first.Receipt), int64(1))
			if b.kind == fixed { // the window begins with the first call that counts
				b.take(1, "granted")
				b.at(time.Second).want("allowed at once", b.passes(9), 9)
			} else {
				b.at(time.Second).want("allowed at once", b.passes(10), 10)
			}
			for range 3 {
				b.book(1, time.Minute, "granted in 9s")
			}
			b.at(10*time.Second).want("allowed in the next window", b.passes(13), 7)
		})
		s.each(ledgers, sluice.Per(10, 10*time.Second), func(b *budget) {
			b.at(time.Second).want("allowed at once", b.passes(10), 10)
			for range 3 {
				b.book(1, time.Minute, "granted in 10s")
			}
			b.at(11*time.Second).want("allowed in the next window", b.passes(13), 7)
		})
	}},
	{"a window under constant load is not prolonged", func(s *scene) {
		s.each(windows, sluice.Per(100, time.Second), func(b *budget) {
			length := time.Duration(s.calls(60)) * time.Second
			allowed, calls := b.steady(12500*time.Microsecond, length)
			b.want("allowed of 80 a second", allowed, calls)
		})
	}},
	{"a load far below the limit is not refused at a window's end", func(s *scene) {
		s.each([]string{fixed, aligned, bucket}, sluice.Per(3000, time.Second), func(b *budget) {
			length := time.Duration(s.calls(30)) * time.Second
			allowed, calls := b.steady(2*time.Millisecond, length)
			b.want("allowed of 500 a second", allowed, calls)
		})
	}},
	{"what was used early in a long window still counts", func(s *scene) {
		s.each(ledgers, sluice.Per(10, time.Hour), func(b *budget) {
			b.take(1, "granted, 9 left")
			b.at(59*time.Minute).take(8, "granted, 1 left")
			b.at(61*time.Minute).want("allowed at 1:01", b.passes(10), 2)
		})
	}},
	{"twice the limit all the time gets just the limit", func(s *scene) {
		s.each(windows, sluice.Per(18, 180*time.Second), func(b *budget) {
			allowed, calls := b.steady(5*time.Second, 1800*time.Second)
			b.want("allowed of twice the limit for ten windows", [2]int{allowed, calls}, [2]int{180, 360})
		})
	}},
	{"a daily quota begins anew once a day", func(s *scene) {
		b := s.budget(aligned, sluice.Per(100, 24*time.Hour))
		b.at(18*time.Hour).want("allowed in the evening", b.passes(60), 60)
		b.at(24*time.Hour+30*time.Second).want("allowed after midnight", b.passes(60), 60)
		b.at(24*time.Hour+time.Minute).want("allowed a little later", b.passes(60), 40)
		b.at(42*time.Hour).take(1, "refused, retry in 6h0m0s")
	}},
	{"two zones of a proxy bind in turn", func(s *scene) {
		for _, c := range []struct {
			second int64
			want   []int
		}{{70, []int{70, 70, 70}}, {100, []int{100, 100, 50}}} {
			b := s.budget(sliding, sluice.Per(250, 300*time.Second))
			zone := sluice.Limit{Rate: sluice.Per(c.second, 100*time.Second)}
			for hundred, want := range c.want {
				b.at(time.Duration(hundred) * 100 * time.Second)
				allowed := 0
				for range s.calls(2000) {
					o, err := b.of("self").Take(b.Context(), b.charge(1), zone.Charge(b.key))
					must(b, err)
					if o.Allowed {
						allowed++
					}
					b.clock.move(40 * time.Second / 2000)
				}
				b.want("allowed in a hundred seconds", allowed, want)
			}
		}
	}},
}
