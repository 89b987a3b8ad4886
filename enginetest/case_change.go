package enginetest

import (
	"time"

	"github.com/sluice-rate/sluice"
)

// changeCases are those of limits that are changed while they are in use.
var changeCases = []symptom{
	{"the rate set before each call forgets nothing", func(s *scene) {
		config := sluice.Config{Rate: sluice.Per(5, time.Minute)}
		for what, set := range map[string]func(l *sluice.Limiter) error{
			"TrySetRate": func(l *sluice.Limiter) error { return second(l.TrySetRate(s.Context(), config)) },
			"SetRate":    func(l *sluice.Limiter) error { return l.SetRate(s.Context(), config) },
			"UpdateRate": func(l *sluice.Limiter) error { return second(l.UpdateRate(s.Context(), config)) },
		} {
			b := s.budget(named, config.Rate)
			allowed := 0
			for range 6 {
				must(s, set(b.limiter))
				allowed += b.passes(1)
			}
			b.want("allowed of six with "+what+" before each", allowed, 5)
		}
	}},
	{"a higher limit is in force at once", func(s *scene) {
		for kind, want := range map[string]int{named: 5, sliding: 5, fixed: 5, aligned: 5, bucket: 6} {
			b := s.budget(kind, sluice.Per(5, time.Minute))
			b.want("allowed", b.passes(6), 5)
			b.at(10 * time.Second)
			b.change(sluice.Per(10, time.Minute))
			b.want("allowed more after the change", b.passes(10), want) // 10 s of the new rate have flowed into the bucket
			b.at(70*time.Second).want("allowed a minute later", b.passes(11), 10)
		}
	}},
	{"what is left is never more than a lower limit", func(s *scene) {
		s.each(all, sluice.Per(5_000_000, time.Minute), func(b *budget) {
			b.take(35, "granted, 4999965 left")
			b.change(sluice.Per(10, time.Minute))
			b.wantFree(0)
			b.take(1, "refused")
			b.at(2 * time.Minute).wantFree(10)
			b.take(10, "granted, 0 left")
		})
	}},
	{"a changed limit is in force for the next call after a refused one", func(s *scene) {
		b := s.budget(named, sluice.Per(1, time.Minute))
		b.take(1, "granted")
		b.at(2*time.Second).take(1, "refused, retry in 58s")
		b.change(sluice.Per(1, time.Second))
		b.take(1, "granted")
	}},
	{"a shorter interval is in force at once", func(s *scene) {
		s.each(all, sluice.Per(1, time.Minute), func(b *budget) {
			b.limit.Name = "changes"
			b.take(1, "granted")
			b.at(1980*time.Millisecond).take(1, "refused, retry in 58.02s")
			b.at(2 * time.Second)
			b.change(sluice.Per(1, time.Second))
			b.take(1, "granted")
			b.take(1, "refused, retry in 1s")
		})
	}},
	{"limits without a name count apart by interval and algorithm", func(s *scene) {
		s.each(without(all, named), sluice.Per(1, time.Minute), func(b *budget) {
			b.take(1, "granted")
			b.change(sluice.Per(1, time.Hour))
			b.take(1, "granted")
			b.change(sluice.Per(5, time.Hour))
			b.take(1, "granted, 3 left")
			b.limit.Name = "other"
			b.take(1, "granted, 4 left")
		})
	}},
}

// change changes the rate: as the stored one, or by asking under another.
func (b *budget) change(rate sluice.Rate) {
	b.Helper()
	b.limit.Rate = rate
	if b.limiter != nil {
		done, err := b.limiter.UpdateRate(b.Context(), sluice.Config{Rate: rate})
		must(b, err)
		b.want("updated", done, true)
	}
}
