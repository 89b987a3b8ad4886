package legacy

import (
	"context"
	"fmt"
	"time"

	"github.com/sluice-rate/sluice"
)

// TryAcquire takes n permits if the window has as many left; if there is no window it begins one. Refused, it changes nothing, and
// RetryAfter is when the window ends. It does not look at who waits. One round trip. The error is sluice.ErrNotInitialized
// without a configuration, and an *sluice.ExceedsRateError if n is more than the rate.
//
// A Decision's ResetAfter is when the window ends, to the millisecond; Receipt is always zero.
func (l *Limiter) TryAcquire(ctx context.Context, n int64) (sluice.Decision, error) {
	return l.window.TryAcquire(ctx, n)
}

// TryAcquireFor takes n permits, waiting for them up to maxWait and not longer than ctx allows; zero and less mean not to wait. It is refused at
// once, with RetryAfter, when the window ends later than that. Otherwise it sleeps until then and asks again, and
// so on for as long as the next window's end can be waited for; others may have taken all of it. When it is granted, Wait says how long it took.
//
// Callers of one Client who wait for the same limiter are asked for in the order in which they came to wait, one after the other; who
// wants more than is left stays in front for the next window, and others may have what is left of this one. There is no order among
// processes. A change of the rate or a Delete is noticed when the window ends that was waited for.
//
// One round trip, and one more for each window whose beginning it sees, if the callers in front of it have left enough. If ctx
// ends while it sleeps, nothing has been taken; if it ends during a round trip, that may have been charged, and is not given back.
func (l *Limiter) TryAcquireFor(ctx context.Context, n int64, maxWait time.Duration) (sluice.Decision, error) {
	d, _, err := l.acquire(ctx, n, maxWait)
	return d, err
}

// Acquire takes n permits, waiting for as long as ctx allows: see TryAcquireFor. The error is a *sluice.LimitedError, which
// matches context.DeadlineExceeded too, when the context's deadline is before the end of the window: at once, with nothing taken.
func (l *Limiter) Acquire(ctx context.Context, n int64) error {
	d, byDeadline, err := l.acquire(ctx, n, sluice.MaxInterval)
	if err != nil || d.Allowed {
		return err
	}
	err = &sluice.LimitedError{Limiter: l.Name(), Permits: n, RetryAfter: d.RetryAfter}
	if byDeadline {
		err = fmt.Errorf("%w: %w", err, context.DeadlineExceeded)
	}
	return err
}

// acquire is what the two have in common. byDeadline says that it is the context which bounds the wait.
func (l *Limiter) acquire(ctx context.Context, n int64, maxWait time.Duration) (d sluice.Decision, byDeadline bool, err error) {
	start := time.Now()
	maxWait = min(max(0, maxWait), sluice.MaxInterval)
	if deadline, ok := ctx.Deadline(); ok && time.Until(deadline) < maxWait {
		maxWait, byDeadline = time.Until(deadline), true
	}
	w := &waiter{
		permits: n,
		limit:   start.Add(maxWait),
		try:     func() (sluice.Decision, error) { return l.TryAcquire(ctx, n) },
		ended:   func() bool { return ended(ctx) },
		answer:  make(chan answer, 1),
	}
	stands := maxWait > 0 && n >= 1 && n <= sluice.MaxPermits && l.c.join(l.Name(), w)
	if !stands {
		d, err = w.try()
		ends := time.Now().Add(d.RetryAfter)
		if err != nil || d.Allowed || ends.After(w.limit) {
			return d, byDeadline, err
		}
		l.c.enter(l.Name(), w, ends)
	}
	d, err = l.wait(ctx, w)
	if d.Allowed {
		d.Wait = time.Since(start)
	}
	return d, byDeadline, err
}

// wait stands in the line until w has an answer, or ctx ends.
func (l *Limiter) wait(ctx context.Context, w *waiter) (sluice.Decision, error) {
	select {
	case a := <-w.answer:
		return a.decision, a.err
	case <-ctx.Done():
	}
	if l.c.leave(l.Name(), w) {
		return sluice.Decision{}, l.left(ctx)
	}
	a := <-w.answer // it was asked for just now, and may have been granted
	if a.err == nil && !a.decision.Allowed {
		return sluice.Decision{}, l.left(ctx)
	}
	return a.decision, a.err
}

func (l *Limiter) left(ctx context.Context) error {
	return fmt.Errorf("legacy: limiter %q: acquire: %w", l.Name(), context.Cause(ctx))
}

// ended reports whether ctx has ended, or its deadline has passed, which may be known a moment earlier.
func ended(ctx context.Context) bool {
	deadline, ok := ctx.Deadline()
	return ctx.Err() != nil || ok && !time.Now().Before(deadline)
}
