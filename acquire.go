package sluice

import (
	"context"
	"fmt"
	"time"
)

// TryAcquire takes n permits if they are free now and nobody waits in line for them. Refused, it changes nothing.
// One round trip. The error is ErrNotInitialized without a configuration, and an *ExceedsRateError if n is more than the rate.
func (l *Limiter) TryAcquire(ctx context.Context, n int64) (Decision, error) {
	return l.TryAcquireFor(ctx, n, 0)
}

// TryAcquireFor takes n permits, waiting for them up to maxWait and not longer than ctx allows. When they cannot be had
// in that time it is refused at once, with RetryAfter, and changes nothing; zero and less mean not to wait.
// Otherwise it waits its turn, first come first served among the callers of all processes, and Decision.Wait says how long.
//
// One round trip, however long the wait, and every 750 ms a look for all waiters of this limiter in this process together. If ctx ends
// during the wait, the permits are given back before it returns the context's error. If the rate is changed, or other
// permits come back, the turn comes later or sooner; when it would come too late then, the call is refused then.
//
// Unlike Redisson's, it never sleeps for an answer that is known, never asks twice, and -1 does not mean for ever.
func (l *Limiter) TryAcquireFor(ctx context.Context, n int64, maxWait time.Duration) (Decision, error) {
	d, _, err := l.acquire(ctx, n, maxWait)
	return d, err
}

// Acquire takes n permits, waiting for as long as ctx allows: see TryAcquireFor. The error is a *LimitedError when the
// context's deadline cannot be kept: at once, with nothing taken. A context that has ended takes nothing.
func (l *Limiter) Acquire(ctx context.Context, n int64) error {
	d, byDeadline, err := l.acquire(ctx, n, MaxInterval)
	if err == nil && !d.Allowed {
		err = &LimitedError{Limiter: l.key.Limiter, Permits: n, RetryAfter: d.RetryAfter, deadline: byDeadline}
	}
	return err
}

// acquire is what the three have in common. byDeadline says that it is the context which bounds the wait.
func (l *Limiter) acquire(ctx context.Context, n int64, maxWait time.Duration) (d Decision, byDeadline bool, err error) {
	if err := l.checkPermits(n); err != nil {
		return Decision{}, false, err
	}
	start := l.c.now()
	maxWait = min(max(0, maxWait), MaxInterval)
	if deadline, ok := ctx.Deadline(); ok && time.Until(deadline) < maxWait {
		maxWait, byDeadline = time.Until(deadline), true
	}
	for {
		if err := context.Cause(ctx); err != nil {
			return Decision{}, byDeadline, l.wrap("acquire", err)
		}
		waited := l.c.now().Sub(start)
		t := Take{Key: l.key, MaxWait: max(0, maxWait-waited)}
		t.Receipt = newReceipt(n, t.MaxWait, false)
		d, err := l.c.take(ctx, t)
		if err != nil || !d.Allowed {
			return d, byDeadline, err
		}
		if d.Wait > 0 {
			var gone bool
			if d, gone, err = l.c.wait(ctx, l.key, d, start.Add(waited), start.Add(maxWait)); gone {
				continue // the ledger was reset: ask again for what is left of the patience
			}
			if err != nil {
				return Decision{}, byDeadline, l.wrap("acquire", err)
			}
			if !d.Allowed {
				return d, byDeadline, nil
			}
			d.Wait = l.c.now().Sub(start)
		}
		return d, byDeadline, nil
	}
}

// Refund gives a grant back whole, exactly that one, and says how many permits it freed: none if the grant has
// left the window (its permits are free again anyway), was merged with others, was reached by a Release, or has been given
// back before. Those who wait behind it move up.
func (l *Limiter) Refund(ctx context.Context, receipt Receipt) (int64, error) {
	freed, _, err := l.RefundN(ctx, receipt, receipt.Permits())
	return freed, err
}

// RefundN gives n permits of a grant back. What is left of the grant goes by the receipt rest.
func (l *Limiter) RefundN(ctx context.Context, receipt Receipt, n int64) (freed int64, rest Receipt, err error) {
	bad := l.checkPermits(n)
	if bad == nil && receipt.IsZero() {
		bad = &InvalidError{"receipt", receipt.String(), "one that a Decision gave"}
	}
	if bad == nil && n > receipt.Permits() {
		bad = &InvalidError{"permits", n, fmt.Sprintf("at most the %d of the receipt", receipt.Permits())}
	}
	if bad != nil {
		return 0, receipt, bad
	}
	freed, err = l.giveBack(ctx, Return{Receipt: receipt, Permits: n})
	if err != nil || freed == 0 || n == receipt.Permits() {
		return freed, Receipt{}, err
	}
	return freed, ReceiptFrom(receipt.ID(), uint32(receipt.Permits()-n)), nil
}

// Release gives n permits back without saying of which grant, and says how many that freed: not more than
// are in use. The oldest grants shrink first, which never lets too much through; their receipts are void then. Where the receipt
// is known, Refund is exact. One round trip for each 2,048 grants that it takes out.
//
// Redisson's release gives permits back that count again later (before 4.7.1), or asks the whole ledger; this one does neither.
func (l *Limiter) Release(ctx context.Context, n int64) (int64, error) {
	if err := l.checkPermits(n); err != nil {
		return 0, err
	}
	var total int64
	for {
		freed, err := l.giveBack(ctx, Return{Permits: n - total})
		if total += freed; err != nil || freed == 0 || total == n {
			return total, err
		}
	}
}

func (l *Limiter) giveBack(ctx context.Context, r Return) (int64, error) {
	freed, err := l.c.engine.GiveBack(ctx, l.key, []Return{r})
	if err != nil {
		return 0, l.wrap("give back", err)
	}
	return freed[0], nil
}

func (l *Limiter) checkPermits(n int64) error {
	if n < 1 || n > MaxPermits {
		return l.check(&InvalidError{"permits", n, fmt.Sprintf("1 to %d", MaxPermits)})
	}
	return l.bad
}
