package enginetest

import (
	"time"

	"github.com/sluice-rate/sluice"
)

// bucketCases are those of token and leaky buckets.
var bucketCases = []symptom{
	{"a bucket that is asked all the time refills", func(s *scene) {
		for _, ask := range []string{"peeks", "refused takes"} {
			b := s.budget(bucket, sluice.Per(10, time.Second))
			b.take(10, "granted, 0 left")
			for b.clock.move(time.Millisecond); b.since() < time.Second; b.clock.move(time.Millisecond) {
				if ask == "peeks" {
					b.wantFree(int64(b.since() / (100 * time.Millisecond)))
				} else if b.asks(10) {
					b.Fatalf("%v: ten are had at %v", b, b.since())
				}
			}
			b.wantFree(10)
			b.take(10, "granted, 0 left")
		}
		const days, burst, more = 30 * 24 * time.Hour, 1009, 100 // so slow that it is counted by the millisecond
		b := s.budget(bucket, sluice.Per(burst, days))
		b.take(burst, "granted, 0 left")
		var last sluice.Decision
		for range more {
			b.clock.move(2600*time.Second + 500*time.Microsecond)
			last = b.take(1, "granted")
		}
		full := ((burst+more)*days.Milliseconds() + burst - 1) / burst
		b.want("full in", last.ResetAfter, time.Duration(full)*time.Millisecond-b.since())
	}},
	{"a bucket leaks parts of a permit", func(s *scene) {
		b := s.budget(bucket, sluice.Per(10, 30*time.Second))
		for second, left := range []int64{9, 8, 7, 7, 6, 5, 5, 4, 3, 3, 2, 1, 1, 0} {
			b.at(time.Duration(second) * time.Second)
			b.want("left", b.take(1, "granted").Remaining, left)
		}
		b.at(14*time.Second).take(1, "refused")
		b.at(15*time.Second).take(1, "granted")
	}},
	{"a full bucket and a permit more", func(s *scene) {
		b := s.bucketOf(sluice.Per(2, time.Second), 1)
		for _, step := range []struct {
			at   time.Duration
			want string
		}{
			{259, "granted"}, {533, "refused, retry in 226ms"}, {783, "granted"}, {1035, "refused, retry in 248ms"},
			{1289, "granted"}, {1541, "refused, retry in 248ms"}, {1790, "granted"}, {2040, "refused, retry in 250ms"},
		} {
			b.at(step.at*time.Millisecond).take(1, step.want)
		}
		b = s.bucketOf(sluice.Per(10, time.Second), 5)
		b.want("allowed of six at once", b.passes(6), 5)
		b.take(1, "refused, retry in 100ms, 0 left")
		b = s.budget(bucket, sluice.Per(6, time.Minute))
		b.take(6, "granted, 0 left")
		b.at(5*time.Second).take(1, "refused, retry in 5s")
		b.at(10*time.Second).take(1, "granted")
	}},
	{"a refused call does not cost growth", func(s *scene) {
		b := s.budget(bucket, sluice.Per(1, time.Second))
		b.take(1, "granted")
		b.at(900*time.Millisecond).take(2, "more than 1/1s")
		b.take(1, "refused, retry in 100ms")
		b.book(1, 99*time.Millisecond, "refused, retry in 100ms")
		b.at(time.Second).take(1, "granted")
	}},
	{"the level does not grow while calls are refused", func(s *scene) {
		b := s.budget(bucket, sluice.Per(10, 10*time.Second))
		b.want("allowed of a thousand at once", b.passes(1000), 10)
		b.at(time.Second).take(1, "granted, 0 left")
	}},
	{"idle time is worth no more than the burst", func(s *scene) {
		b := s.bucketOf(sluice.Per(1, time.Second), 2)
		b.take(1, "granted")
		b.at(2 * time.Second)
		for n := 1; n <= 24; n++ {
			d := b.book(1, time.Minute, "granted")
			b.want("wait of a caller in a row", d.Wait, max(0, time.Duration(n-2)*time.Second))
		}
		b = s.bucketOf(sluice.Per(1000, time.Second), 5)
		b.take(1, "granted")
		b.at(10*time.Second).take(5000, "more than 1000/1s")
		b.take(7, "more than 1000/1s")
		b.take(5, "granted, 0 left")
		b.book(5, 5*time.Millisecond, "granted in 5ms")
		b.book(1, 5*time.Millisecond, "refused, retry in 6ms")
	}},
	{"paced calls keep the distance of their interval", func(s *scene) {
		b := s.bucketOf(sluice.Per(10, 10*time.Second), 1)
		for n := range 5 {
			d := b.book(1, time.Minute, "granted")
			b.want("wait of a caller in a row", d.Wait, time.Duration(n)*time.Second)
		}
	}},
	{"a wait is for what is missing, not for the whole cost", func(s *scene) {
		b := s.budget(bucket, sluice.Per(3, 3*time.Second))
		b.take(1, "granted")
		b.book(3, time.Minute, "granted in 1s")
		s.each(ledgers, sluice.Per(3, 3*time.Second), func(b *budget) {
			b.take(1, "granted")
			b.at(time.Second).book(3, time.Minute, "granted in 2s") // of the exact window: when the one has left it
		})
	}},
	{"more than a thousand a second are told apart", func(s *scene) {
		const burst = 10
		length := time.Duration(s.calls(1000)) * time.Millisecond
		for _, rate := range []int64{1001, 2000, 2004, 5000} {
			b := s.bucketOf(sluice.Per(rate, time.Second), burst)
			allowed, _ := b.steady(100*time.Microsecond, length)
			least := int(rate * int64(length) / int64(time.Second))
			if allowed < least || allowed > least+burst {
				b.Errorf("%v: %d allowed in %v, want %d, and at most the burst of %d more", b, allowed, length, least, burst)
			}
		}
	}},
	{"a part of a millisecond a permit is enough to refuse", func(s *scene) {
		b := s.bucketOf(sluice.Per(2000, time.Second), 1)
		b.take(1, "granted")
		b.at(400*time.Microsecond).take(1, "refused, retry in 100µs")
		b.at(500*time.Microsecond).take(1, "granted")
		b = s.bucketOf(sluice.Per(6000, time.Second), 6001)
		b.want("allowed of 6002 at once", b.passes(6002), 6001)
		b = s.bucketOf(sluice.Per(1000, time.Minute), 1001)
		for left := int64(1000); left >= 998; left-- {
			b.want("left", b.take(1, "granted").Remaining, left)
		}
	}},
	{"a rate that divides nothing evenly is not rounded", func(s *scene) {
		for _, kind := range []string{sliding, bucket, fixed} {
			b := s.budget(kind, sluice.Per(65535, time.Second))
			for call := range int64(20) {
				want := map[string]int64{bucket: 65534, sliding: max(65525, 65534-call), fixed: 65534 - call%10}[kind]
				b.want("left", b.take(1, "granted").Remaining, want)
				b.clock.move(100 * time.Millisecond)
			}
		}
		b := s.bucketOf(sluice.Per(3, time.Second), 1) // a third of a second is no whole number of microseconds
		b.take(1, "granted")
		for range s.calls(10_000) {
			b.clock.move(333_333 * time.Microsecond)
			b.want("passes a part of a microsecond early", b.passes(1), 0)
			b.clock.move(time.Microsecond)
			b.want("passes on time", b.passes(1), 1)
		}
	}},
	{"less than one a second is not none", func(s *scene) {
		s.each(all, sluice.Per(1, 5*time.Second), func(b *budget) { // 0.2 a second
			b.take(1, "granted")
			b.at(4900*time.Millisecond).take(1, "refused, retry in 100ms")
			b.at(5*time.Second).take(1, "granted")
		})
		b := s.bucketOf(sluice.Per(17, 100*time.Second), 3) // 0.17 a second
		b.take(3, "granted, 0 left")
		b.take(1, "refused, retry in 5.882353s") // 100/17 s, rounded up
		b = s.bucketOf(sluice.Per(3, 1000*time.Second), 5)
		b.take(5, "granted, 0 left")
		b.take(1, "refused, retry in 5m33.333334s")
	}},
	{"a burst and a cost as gateways write them", func(s *scene) {
		b := s.bucketOf(sluice.Per(10, time.Second), 20)
		b.want("allowed of 21 at once", b.passes(21), 20)
		b.at(time.Second).want("allowed a second later", b.passes(21), 10)
		b = s.bucketOf(sluice.Per(1, time.Second), 60) // at 60 a call: one a minute
		b.take(60, "granted, 0 left")
		b.at(59*time.Second).take(60, "refused, retry in 1s")
		b.at(60*time.Second).take(60, "granted")
		b = s.bucketOf(sluice.Per(10, time.Second), 20)
		b.take(15, "granted, 5 left")
		b.take(15, "refused, retry in 1s, 5 left")
		b.at(time.Second).take(15, "granted, 0 left")
	}},
}
