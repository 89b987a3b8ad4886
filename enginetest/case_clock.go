package enginetest

import (
	"time"

	"github.com/sluice-rate/sluice"
)

// clockCases are those of clocks that differ and clocks that jump.
var clockCases = []symptom{
	{"a process whose clock is behind refills nothing", func(s *scene) {
		s.skew["b"] = -time.Second
		s.each(all, sluice.Per(150, time.Second), func(b *budget) {
			for _, step := range []struct {
				client  string
				n, left int64
				allowed bool
			}{{"a", 2, 148, true}, {"b", 10, 138, true}, {"a", 150, 138, false}} {
				d, err := b.by(step.client, step.n, 0)
				must(b, err)
				b.want("allowed", d.Allowed, step.allowed)
				b.want("left", d.Remaining, step.left)
			}
		})
	}},
	{"clocks that alternate between old and new mint nothing", func(s *scene) {
		s.skew["old"] = -10 * time.Second
		s.each(all, sluice.Per(1, time.Second), func(b *budget) {
			for call := range 7 {
				d, err := b.by([]string{"new", "old"}[call%2], 1, 0)
				must(b, err)
				b.want("allowed", d.Allowed, call == 0)
			}
		})
	}},
	{"a clock that was set back by an hour locks nobody out", func(s *scene) {
		s.each(all, sluice.Per(5, 10*time.Second), func(b *budget) {
			b.take(5, "granted, 0 left")
			s.clock.move(-time.Hour)
			b.start -= time.Hour
			b.want("allowed after the step", b.asks(1), false) // the state has moved back with the clock, and that is stored
			b.at(10*time.Second).take(5, "granted, 0 left")
		})
		b := s.bucketOf(sluice.Per(2000, time.Second), 5000)
		b.take(5000, "granted, 0 left")
		s.clock.move(-1891 * time.Second)
		b.start -= 1891 * time.Second
		d, err := b.by("self", 5000, 0)
		must(b, err)
		if d.Allowed || d.RetryAfter > 2500*time.Millisecond {
			b.Errorf("%v: Take(5000) = %+v, want refused for never longer than the burst takes to flow back, 2.5s", b, d)
		}
		b.at(2500*time.Millisecond).take(5000, "granted")
	}},
}
