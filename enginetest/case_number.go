package enginetest

import (
	"math"
	"time"

	"github.com/sluice-rate/sluice"
)

const year = 365 * 24 * time.Hour

// numberCases are those of numbers that are very large or small, zero or negative.
var numberCases = []symptom{
	{"big limits are kept to the last digit", func(s *scene) {
		for _, n := range []int64{999_999_999_999_999, 123_451_234_512_345, sluice.MaxRate} {
			s.each(windows, sluice.Per(n, time.Hour), func(b *budget) {
				d := b.take(1, "granted")
				b.want("left", d.Remaining, n-1)
				b.want("the limit that is shown", d.Limit.Permits, n)
				b.wantFree(n - 1)
			})
			s.refuses(sluice.Limit{Rate: sluice.Per(n, time.Hour+time.Millisecond), Algorithm: sluice.TokenBucket}, "limit.burst")
		}
		b := s.budget(bucket, sluice.Per(999_999_999_999_999, time.Millisecond))
		b.want("left", b.take(1, "granted").Remaining, int64(999_999_999_999_998))
		b = s.budget(named, sluice.Per(123_451_234_512_345, time.Hour))
		config, err := b.limiter.Config(s.Context())
		must(s, err)
		b.want("the stored rate", config.Rate, b.limit.Rate)
		for _, n := range []int64{sluice.MaxRate + 1, 9_007_199_254_740_993, math.MaxInt64} {
			s.refusesAll(sluice.Per(n, time.Hour), "rate.permits")
		}
	}},
	{"a limit of nothing, or less, is an error", func(s *scene) {
		for _, n := range []int64{0, -1, math.MinInt64} {
			s.refusesAll(sluice.Per(n, time.Minute), "rate.permits")
		}
		s.refuses(sluice.Limit{Rate: sluice.Per(0, time.Second), Algorithm: sluice.TokenBucket, Burst: 5}, "rate.permits")
		s.refuses(sluice.Limit{Rate: sluice.Per(1, time.Second), Algorithm: sluice.TokenBucket, Burst: -1}, "limit.burst")
	}},
	{"a window of no length, or less, is an error", func(s *scene) {
		for _, interval := range []time.Duration{0, -time.Second, math.MinInt64} {
			s.refusesAll(sluice.Per(5, interval), "rate.interval")
		}
		l := s.of("self").Limiter("keep")
		config := sluice.Config{Rate: sluice.Per(5, time.Second), KeepAlive: -time.Second}
		s.refused("TrySetRate with a keep-alive of -1s", func() error { return second(l.TrySetRate(s.Context(), config)) }, invalid("keep-alive"))
	}},
	{"parts of a second are kept in a window", func(s *scene) {
		for _, interval := range []time.Duration{600_001 * time.Millisecond, 1500 * time.Millisecond, 250 * time.Millisecond, time.Millisecond} {
			s.each(all, sluice.Per(1, interval), func(b *budget) {
				b.take(1, "granted")
				if interval > time.Millisecond {
					b.at(interval-time.Millisecond).take(1, "refused, retry in 1ms")
				}
				b.at(interval).take(1, "granted")
			})
		}
		for _, interval := range []time.Duration{time.Nanosecond, 1500 * time.Microsecond} {
			s.refusesAll(sluice.Per(1, interval), "rate.interval")
		}
	}},
	{"a very low rate does not become a free pass", func(s *scene) {
		for _, kind := range []string{named, sliding, bucket, fixed} {
			b := s.budget(kind, sluice.Per(1, sluice.MaxInterval))
			b.take(1, "granted")
			d := b.take(1, "refused")
			b.want("retry after", d.RetryAfter, sluice.MaxInterval)
			b.at(time.Hour).take(1, "refused")
		}
		s.refusesAll(sluice.Per(1, 200*year), "rate.interval")
	}},
	{"a block of decades does not wrap to a moment", func(s *scene) {
		for _, kind := range []string{named, sliding, bucket, fixed} {
			b := s.budget(kind, sluice.Per(1, 1_000_000_000*time.Second))
			b.take(1, "granted")
			b.at(time.Second)
			d := b.take(1, "refused")
			b.want("retry after", d.RetryAfter, 999_999_999*time.Second)
		}
	}},
	{"a patience of all time does not wrap to none", func(s *scene) {
		s.each(all, sluice.Per(1, time.Second), func(b *budget) {
			b.take(1, "granted")
			b.book(1, sluice.MaxInterval, "granted in 1s")
			b.book(1, math.MaxInt64, "invalid: maxWait is")
		})
	}},
	{"no permits are had at any time, and change nothing", func(s *scene) {
		s.each(without(all, named), sluice.Per(1, time.Minute), func(b *budget) {
			nothing := func(when string) {
				before := b.written()
				o, err := b.of("self").Take(b.Context(), b.charge(0))
				must(b, err)
				b.want("allowed "+when, o.Allowed, true)
				b.want("written "+when, b.written()-before, int64(0))
			}
			nothing("on an unknown key")
			b.take(1, "granted, 0 left")
			nothing("on an empty one")
			b.take(1, "refused")
		})
		b := s.budget(named, sluice.Per(1, time.Minute))
		b.take(0, "invalid: permits is 0")
		s.refused("a charge that was forgotten", func() error {
			return second(s.of("self").Take(s.Context(), sluice.Charge{}))
		}, invalid("charge"))
	}},
	{"permits below nothing are an error", func(s *scene) {
		s.each(all, sluice.Per(10, time.Minute), func(b *budget) {
			b.take(10, "granted, 0 left")
			b.take(-5, "invalid: permits is -5")
			b.take(math.MinInt64, "invalid: permits is")
			b.take(1, "refused")
		})
	}},
	{"an empty key is nobody's", func(s *scene) {
		l := sluice.Limit{Rate: sluice.Per(10, time.Minute)}
		s.refused("a charge of the key \"\"", func() error { return second(s.of("self").Take(s.Context(), l.Charge(""))) }, invalid("charge.key"))
		s.refused("a limiter named \"\"", func() error { return second(s.of("self").Limiter("").TryAcquire(s.Context(), 1)) }, invalid("name"))
	}},
}

// refuses sees that a limit is an error in each call that takes it, and that nothing is stored.
func (s *scene) refuses(l sluice.Limit, field string) {
	s.Helper()
	c, charge, ctx := s.of("self"), l.Charge("refused"), s.Context()
	for what, call := range map[string]func() error{
		"Take":    func() error { return second(c.Take(ctx, charge)) },
		"TakeFor": func() error { return second(c.TakeFor(ctx, time.Hour, charge)) },
		"Wait":    func() error { return c.Wait(ctx, charge) },
		"Book":    func() error { return second(c.Book(ctx, time.Hour, charge)) },
		"Peek":    func() error { return second(c.Peek(ctx, charge)) },
	} {
		s.refused(what+" under "+l.String(), call, invalid(field))
	}
}

// refusesAll is refuses for a rate under each algorithm and for a named limiter.
func (s *scene) refusesAll(rate sluice.Rate, field string) {
	s.Helper()
	for _, algorithm := range []sluice.Algorithm{sluice.SlidingWindow, sluice.TokenBucket, sluice.FixedWindow, sluice.AlignedWindow} {
		s.refuses(sluice.Limit{Rate: rate, Algorithm: algorithm}, field)
	}
	l := s.of("self").Limiter("refused")
	s.refused("TrySetRate of "+rate.String(), func() error { return second(l.TrySetRate(s.Context(), sluice.Config{Rate: rate})) }, invalid(field))
}
