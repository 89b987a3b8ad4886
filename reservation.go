package sluice

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// Reservation is a grant that may be dated in the future, for callers who want to do something else
// until then. It embeds the decision: Allowed says whether there is a reservation at all.
//
// Its date is firm: unlike those who wait in Acquire, it does not move up when others leave, nor back when the rate is
// lowered, since nobody knows when its holder will look at it again. Those who come later stay behind it, even when
// permits come back in the meantime: first come, first served. So reserve for seconds, not for days, and Cancel what is not used.
type Reservation struct {
	Decision
	l   *Limiter
	due time.Time
}

// Reserve takes n permits as soon as they can be had, but not later than maxWait, and returns at once. If that is not possible,
// Reservation.Allowed is false and nothing was taken. One round trip. The context bounds that trip, not the wait.
func (l *Limiter) Reserve(ctx context.Context, n int64, maxWait time.Duration) (*Reservation, error) {
	if err := l.checkPermits(n); err != nil {
		return nil, err
	}
	if maxWait < 0 || maxWait > MaxInterval {
		return nil, &InvalidError{"maxWait", maxWait, fmt.Sprintf("0 to %v", MaxInterval)}
	}
	if err := context.Cause(ctx); err != nil {
		return nil, l.wrap("reserve", err)
	}
	d, err := l.c.take(ctx, Take{Key: l.key, Receipt: newReceipt(n, maxWait, true), MaxWait: maxWait})
	if err != nil {
		return nil, err
	}
	return &Reservation{Decision: d, l: l, due: l.c.now().Add(d.Wait)}, nil
}

// Delay is how long from now the permits may be used; 0 when they may be, or when there is no reservation.
func (r *Reservation) Delay() time.Duration {
	return max(0, r.due.Sub(r.l.c.now()))
}

// Wait sleeps until the permits may be used. If ctx ends sooner, it cancels the reservation and returns the context's
// error. Without a reservation it is a *LimitedError.
func (r *Reservation) Wait(ctx context.Context) error {
	if !r.Allowed {
		return &LimitedError{Limiter: r.l.key.Limiter, Permits: r.Permits, RetryAfter: r.RetryAfter}
	}
	timer := time.NewTimer(r.Delay())
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return r.l.wrap("wait", errors.Join(context.Cause(ctx), r.l.c.giveBack(ctx, r.l.key, r.Receipt)))
	}
}

// Cancel gives the permits back, whether their date has come or not; those who wait behind it move up. Use it
// only if they were not used. A second time it does nothing, and so it does without a reservation. One round trip.
func (r *Reservation) Cancel(ctx context.Context) error {
	if !r.Allowed {
		return nil
	}
	_, err := r.l.Refund(ctx, r.Receipt)
	return err
}
