package enginetest

import (
	"time"

	"github.com/sluice-rate/sluice"
)

// answerCases are those in which the right call is allowed or refused, and the answer's numbers are wrong.
var answerCases = []symptom{
	{"reset is when all is free, retry when this call passes", func(s *scene) {
		b := s.bucketOf(sluice.Per(1, time.Second), 6)
		b.want("allowed of six at once", b.passes(6), 6)
		b.take(1, "refused, retry in 1s, 0 left, full in 6s")
		s.each(ledgers, sluice.Per(10, time.Minute), func(b *budget) {
			b.steady(2*time.Second, 20*time.Second)
			b.take(1, "refused, retry in 40s, 0 left, full in "+map[string]string{
				sliding: "58s", named: "1m0s", // of a named one, at the latest
			}[b.kind])
		})
	}},
	{"who comes back when he was told to is let in", func(s *scene) {
		s.each(all, sluice.Per(1, 10*time.Second), func(b *budget) {
			b.take(1, "granted")
			b.at(100*time.Millisecond).take(1, "refused, retry in 9.9s")
			b.at(10*time.Second-time.Millisecond).take(1, "refused, retry in 1ms")
			b.at(10*time.Second).take(1, "granted")
		})
		for _, rate := range []sluice.Rate{sluice.Per(7, time.Second), sluice.Per(3, 1001*time.Millisecond), sluice.Per(1000, 997*time.Millisecond)} {
			s.each(all, rate, func(b *budget) {
				for n := int64(1); n < 60; n++ {
					asked := n%rate.Permits + 1
					d, err := b.by("self", asked, 0)
					must(b, err)
					if !d.Allowed {
						if d.RetryAfter <= 0 {
							b.Fatalf("%v at %v: refused, and RetryAfter is %v, want more than none", b, b.since(), d.RetryAfter)
						}
						early := min(b.moment(), d.RetryAfter)
						b.clock.move(d.RetryAfter - early)
						b.want("allowed early", b.asks(asked), false)
						b.clock.move(early)
						b.want("allowed when it was told to come", b.asks(asked), true)
					}
					b.clock.move(time.Duration(n*n*997) * time.Microsecond % rate.Interval)
				}
			})
		}
	}},
	{"a window is not had a part of a millisecond early", func(s *scene) {
		s.each(all, sluice.Per(1, 10*time.Second), func(b *budget) {
			b.take(1, "granted")
			b.at(10*time.Second-time.Microsecond).take(1, "refused, retry in 1µs")
			b.at(10*time.Second).take(1, "granted")
		})
	}},
	{"reset is not a second too late", func(s *scene) {
		s.bucketOf(sluice.Per(30, time.Minute), 16).take(1, "granted, 15 left, full in 2s")
	}},
	{"reset is there on each answer", func(s *scene) {
		b := s.budget(fixed, sluice.Per(2, time.Minute))
		b.take(1, "granted, 1 left, full in 1m0s")
		b.at(5*time.Second).take(1, "granted, 0 left, full in 55s")
		b.at(10*time.Second).take(1, "refused, retry in 50s, 0 left, full in 50s")
		b = s.budget(sliding, sluice.Per(2, time.Minute))
		b.take(1, "granted, 1 left, full in 1m0s")
		b.at(5*time.Second).take(1, "granted, 0 left, full in 1m0s")
		b.at(10*time.Second).take(1, "refused, retry in 50s, 0 left, full in 55s")
		s.budget(aligned, sluice.Per(50, time.Minute)).at(3*time.Second).take(1, "granted, 49 left, full in 57s")
	}},
	{"reset of a bucket follows its level", func(s *scene) {
		b := s.budget(bucket, sluice.Per(12, time.Minute))
		b.take(1, "granted, 11 left, full in 5s")
		b.passes(10)
		b.take(1, "granted, 0 left, full in 1m0s")
		b.take(1, "refused, retry in 5s, 0 left, full in 1m0s")
		b.at(time.Hour).wantFree(12)
		s.budget(bucket, sluice.Per(12, time.Minute)).take(6, "granted, 6 left, full in 30s")
		s.budget(bucket, sluice.Per(3, time.Second)).take(1, "granted, 2 left, full in 333.334ms")
	}},
	{"reset is not rounded up to a whole window", func(s *scene) {
		b := s.budget(fixed, sluice.Per(10, time.Minute))
		b.take(1, "granted, 9 left, full in 1m0s")
		b.at(48*time.Second).take(1, "granted, 8 left, full in 12s")
	}},
	{"of several limits the one that stops the caller is shown", func(s *scene) {
		b := s.budget(sliding, sluice.Per(20, time.Minute))
		route := sluice.Limit{Rate: sluice.Per(2, time.Minute), Name: "route"}
		for call, left := range []int64{1, 0, 0} {
			o, err := b.of("self").Take(b.Context(), b.charge(1), route.Charge(b.key))
			must(b, err)
			b.want("allowed", o.Allowed, call < 2)
			b.want("the limit that is shown", o.Limit, route.Rate)
			b.want("left", o.Remaining, left)
		}
		b.wantFree(18)
	}},
	{"a wait is never negative", func(s *scene) {
		b := s.budget(bucket, sluice.Per(1, time.Second))
		for n := range 200 {
			d, err := b.by("self", 1, time.Minute)
			must(b, err)
			if !d.Allowed || d.Wait < 0 || d.Date.Before(d.At) {
				b.Fatalf("%v: call %d: %+v, want a wait of 0 or more", b, n, d)
			}
			b.clock.move(d.Wait + time.Duration(900+n)*time.Millisecond)
		}
	}},
}
