package enginetest

import (
	"context"
	"errors"
	"time"

	"github.com/sluice-rate/sluice"
)

// waitingCases are those of callers who wait, shown by the dates that they get. Callers who sleep are in case_wait_test.go of the root.
var waitingCases = []symptom{
	{"more than can ever be had is an error at once", func(s *scene) {
		s.each(all, sluice.Per(100, time.Minute), func(b *budget) {
			never := sentinel(sluice.ErrExceedsRate)
			ctx, c := b.Context(), b.of("self")
			if b.limiter != nil {
				b.refused("Acquire(200)", func() error { return b.limiter.Acquire(ctx, 200) }, never)
				b.refused("TryAcquireFor(200)", func() error { return second(b.limiter.TryAcquireFor(ctx, 200, time.Hour)) }, never)
			} else {
				b.refused("Wait(200)", func() error { return c.Wait(ctx, b.charge(200)) }, never)
				b.refused("TakeFor(200)", func() error { return second(c.TakeFor(ctx, time.Hour, b.charge(200))) }, never)
			}
			b.take(200, "more than 100/1m")
			b.book(200, time.Hour, "more than 100/1m")
			b.take(100, "granted, 0 left")
		})
		s.each(all, sluice.Per(3, 2*time.Second), func(b *budget) { b.take(4, "more than 3/2s") })
		s.each(all, sluice.Per(5, time.Second), func(b *budget) { b.take(5000, "more than 5/1s") })
	}},
	{"a wait that is known to be too long is refused at once", func(s *scene) {
		s.each(all, sluice.Per(1, 10*time.Second), func(b *budget) {
			b.take(1, "granted")
			b.book(1, 5*time.Second, "refused, retry in 10s")
			start := time.Now()
			var d sluice.Decision
			var err error
			if b.limiter != nil {
				d, err = b.limiter.TryAcquireFor(b.Context(), 1, 5*time.Second)
			} else {
				var o sluice.Outcome
				o, err = b.of("self").TakeFor(b.Context(), 5*time.Second, b.charge(1))
				d = o.Decision
			}
			must(b, err)
			if d.Allowed || d.RetryAfter != 10*time.Second || time.Since(start) > 4*time.Second {
				b.Errorf("%v: a wait of at most 5s = %+v after %v, want refused for 10s at once", b, d, time.Since(start))
			}
			ctx, cancel := context.WithTimeout(b.Context(), 5*time.Second)
			defer cancel()
			if b.limiter != nil {
				err = b.limiter.Acquire(ctx, 1)
			} else {
				err = b.of("self").Wait(ctx, b.charge(1))
			}
			if !errors.Is(err, sluice.ErrLimited) || !errors.Is(err, context.DeadlineExceeded) || ctx.Err() != nil {
				b.Errorf("%v: a wait beyond the deadline: %v, want refused before it", b, err)
			}
		})
	}},
	{"a reservation that is given back comes back whole", func(s *scene) {
		b := s.bucketOf(sluice.Per(10, time.Second), 20)
		b.take(15, "granted, 5 left")
		r := b.at(100*time.Millisecond).book(10, time.Minute, "granted in 400ms")
		later := b.at(200*time.Millisecond).book(2, time.Minute, "granted in 500ms")
		b.at(300*time.Millisecond).want("given back", b.refund(r.Receipt), int64(10))
		b.want("the later one can be had in", b.look(later.Receipt), time.Duration(0))
		b.wantFree(6)

		b = s.bucketOf(sluice.Per(1, time.Second), 10)
		b.take(5, "granted, 5 left")
		r = b.book(10, time.Minute, "granted in 5s")
		later = b.book(2, time.Minute, "granted in 7s")
		b.want("given back", b.refund(r.Receipt), int64(10))
		b.want("the later one can be had in", b.look(later.Receipt), time.Duration(0))
		b.wantFree(3)

		s.each(windows, sluice.Per(20, 2*time.Second), func(b *budget) {
			b.take(15, "granted, 5 left")
			r := b.at(100*time.Millisecond).book(10, time.Minute, "granted in 1.9s")
			b.at(300*time.Millisecond).want("given back", b.refund(r.Receipt), int64(10))
			b.wantFree(5)
		})
	}},
	{"those who leave leave no debt", func(s *scene) {
		s.each(all, sluice.Per(20, time.Second), func(b *budget) {
			b.want("allowed at once", b.passes(20), 20)
			var gone []sluice.Receipt
			for range 200 {
				gone = append(gone, b.book(1, time.Hour, "granted").Receipt)
			}
			b.at(500 * time.Millisecond)
			for _, r := range gone[10:] {
				b.refund(r)
			}
			if b.kind == bucket { // ten have flowed back, and ten were waited for
				b.at(550*time.Millisecond).take(1, "granted")
				return
			}
			for _, r := range gone[:10] {
				b.refund(r)
			}
			b.at(600*time.Millisecond).book(1, time.Minute, "granted in 400ms")
		})
	}},
	{"future windows are not booked twice", func(s *scene) {
		s.each(windows, sluice.Per(3, 10*time.Second), func(b *budget) {
			for _, wait := range []time.Duration{0, 10 * time.Second} {
				for range 3 {
					b.want("wait", b.book(1, 12*time.Second, "granted").Wait, wait)
				}
			}
			for range 3 {
				b.book(1, 12*time.Second, "refused, retry in 20s")
			}
		})
	}},
	{"waiters in a row lose no tick", func(s *scene) {
		for _, interval := range []time.Duration{time.Second, 500 * time.Millisecond} {
			s.each(all, sluice.Per(1, interval), func(b *budget) {
				for n := range 25 {
					d := b.book(1, time.Hour, "granted")
					b.want("wait of a caller in a row", d.Wait, time.Duration(n)*interval)
				}
			})
		}
	}},
	{"a big call is not starved by small ones", func(s *scene) {
		s.each(all, sluice.Per(10, time.Second), func(b *budget) {
			b.take(10, "granted, 0 left")
			big := b.book(10, time.Minute, "granted in 1s")
			for n := range 20 {
				b.at(time.Duration(n) * 50 * time.Millisecond)
				b.take(1, "refused")
				if small := b.book(1, time.Minute, "granted"); !small.Date.After(big.Date) {
					b.Errorf("%v: a small call is dated %v, want after the big one's %v", b, small.Date, big.Date)
				}
			}
		})
		s.each(all, sluice.Per(10, time.Second), func(b *budget) {
			b.take(8, "granted, 2 left")
			b.book(10, time.Minute, "granted")
			b.take(1, "refused") // though two are free: they are kept for the big one
			b.wantFree(0)
		})
	}},
	{"what is given back is free again, and no more", func(s *scene) {
		s.each(all, sluice.Per(10, time.Minute), func(b *budget) {
			one := b.take(1, "granted, 9 left").Receipt
			rest := b.take(9, "granted, 0 left").Receipt
			b.want("given back", b.refund(one), int64(1))
			b.wantFree(1)
			b.want("given back", b.refund(rest), int64(9))
			b.wantFree(10)
			b.want("given back again", b.refund(one)+b.refund(rest), int64(0))
			b.wantFree(10)
		})
		b := s.budget(named, sluice.Per(10, time.Minute))
		b.take(10, "granted, 0 left")
		for _, c := range []struct{ n, freed, free int64 }{{1, 1, 1}, {50, 9, 10}} {
			freed, err := b.limiter.Release(b.Context(), c.n)
			must(b, err)
			b.want("released", freed, c.freed)
			b.wantFree(c.free)
		}
	}},
	{"what was given back does not come back again by time", func(s *scene) {
		s.each(all, sluice.Per(10, time.Second), func(b *budget) {
			r := b.take(3, "granted, 7 left").Receipt
			b.at(100*time.Millisecond).want("given back", b.refund(r), map[bool]int64{true: 2, false: 3}[b.kind == bucket])
			for b.since() < 1200*time.Millisecond {
				b.wantFree(10)
				b.clock.move(100 * time.Millisecond)
			}
		})
		s.each(all, sluice.Per(10, time.Second), func(b *budget) {
			for range 9 {
				b.refund(b.take(1, "granted, 9 left").Receipt)
				b.clock.move(100 * time.Millisecond)
			}
			r := b.at(1001*time.Millisecond).take(1, "granted, 9 left").Receipt
			b.refund(r)
			b.wantFree(10)
		})
	}},
}

// look asks in how long a reservation can be had, as callers who wait do.
func (b *budget) look(r sluice.Receipt) time.Duration {
	b.Helper()
	sights, err := b.engine.LookAt(b.Context(), []sluice.Charge{b.charge(r.Permits())}, []sluice.Receipt{r})
	must(b, err)
	if sights[0].Gone {
		b.Errorf("%v: the reservation is gone", b)
	}
	return sights[0].Wait
}
