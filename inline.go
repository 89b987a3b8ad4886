package sluice

import (
	"context"
	"fmt"
	"time"
)

// Take takes all charges if all of them can be had now, or none: several windows of one key ("10 per second and 1,000 per
// hour"), several keys, or both. Refused, it changes nothing, and no charge is used up by the refusal of another.
//
// One round trip and one atomic step. On a Redis cluster that holds for charges in one hash slot, such as all those of one key, or
// of one tag (Charge.With). Charges in several slots take one trip for each, one after the other; when one is refused, those before it are
// refunded, and until then others may have found them taken.
//
// The error is an *InvalidError for charges that can never be right or an *ExceedsRateError for more permits than a limit ever gives at once
// (nothing was sent then), ErrStoreUnavailable, or the context's.
func (c *Client) Take(ctx context.Context, charges ...Charge) (Outcome, error) {
	return c.TakeFor(ctx, 0, charges...)
}

// TakeFor is Take that waits up to maxWait, and not longer than ctx allows. When the charges cannot be had in that time it is refused
// at once, with RetryAfter, and changes nothing. Otherwise it waits its turn, first come first served among all who wait for
// the same limit; those who wait for another do not stand in the way. Decision.Wait says how long that took.
//
// One round trip, however long the wait, and every 750 ms a look for all callers of this process with the same charges. If ctx ends during the
// wait, the permits are given back before it returns the context's error. At most 1,000 callers can wait for one limit of one key; further
// ones are refused. For longer lines use a named Limiter.
func (c *Client) TakeFor(ctx context.Context, maxWait time.Duration, charges ...Charge) (Outcome, error) {
	o, _, err := c.takeFor(ctx, maxWait, charges)
	return o, err
}

// Wait takes the charges, waiting for as long as ctx allows: see TakeFor. The error is a *LimitedError when the context's
// deadline cannot be kept: at once, with nothing taken. A context that has ended takes nothing.
func (c *Client) Wait(ctx context.Context, charges ...Charge) error {
	o, byDeadline, err := c.takeFor(ctx, MaxInterval, charges)
	if err == nil && !o.Allowed {
		err = &LimitedError{Limiter: bill(charges).String(), Permits: o.Permits, RetryAfter: o.RetryAfter, deadline: byDeadline}
	}
	return err
}

// Book takes the charges as soon as they can be had, but not later than maxWait, and returns at once: the permits may be used when
// Decision.Wait is over. The date is firm. Refund gives them back, before or after. One round trip.
func (c *Client) Book(ctx context.Context, maxWait time.Duration, charges ...Charge) (Outcome, error) {
	b := bill(charges)
	if err := b.check(1); err != nil {
		return Outcome{}, err
	}
	if maxWait < 0 || maxWait > MaxInterval {
		return Outcome{}, &InvalidError{"maxWait", maxWait, fmt.Sprintf("0 to %v", MaxInterval)}
	}
	return c.charge(ctx, Call{Charges: charges, Receipt: b.receipt(1, maxWait), MaxWait: maxWait})
}

// TakeUpTo takes the charges as many times as they can be had now, up to n: at most n times, at least once, or not at
// all. Outcome.Units says how many times; each charge has been taken that often. One round trip.
func (c *Client) TakeUpTo(ctx context.Context, n int64, charges ...Charge) (Outcome, error) {
	b := bill(charges)
	if n < 1 || n > MaxPermits {
		return Outcome{}, &InvalidError{"n", n, fmt.Sprintf("1 to %d", MaxPermits)}
	}
	if err := b.check(n); err != nil {
		return Outcome{}, err
	}
	return c.charge(ctx, Call{Charges: charges, Receipt: b.receipt(n, 0), Units: n})
}

// Peek says what Take would answer now, and writes nothing. Without a receipt, and for a charge of 0 permits too. One round trip.
func (c *Client) Peek(ctx context.Context, charges ...Charge) (Outcome, error) {
	b := bill(charges)
	if err := b.check(1); err != nil {
		return Outcome{}, err
	}
	return c.charge(ctx, Call{Charges: charges, Receipt: b.receipt(1, 0), Peek: true})
}

// Refund gives back what a call with these charges took, whole, and says how many permits that freed, over all of them: 0 if the
// grant no longer counts, was merged with others, or was given back before. Of a TokenBucket those permits come back that have not flowed back
// yet. One round trip.
func (c *Client) Refund(ctx context.Context, receipt Receipt, charges ...Charge) (int64, error) {
	b := bill(charges)
	if err := b.check(1); err != nil {
		return 0, err
	}
	if receipt.IsZero() {
		return 0, &InvalidError{"receipt", receipt.String(), "one that an Outcome gave"}
	}
	freed, err := c.engine.Refund(ctx, charges, []Receipt{receipt})
	if err != nil {
		return 0, b.wrap("refund", err)
	}
	return freed[0], nil
}

// Reset forgets what the keys of these charges have used under their limits. Those who wait ask anew. One round trip.
func (c *Client) Reset(ctx context.Context, charges ...Charge) error {
	b := bill(charges)
	if err := b.check(1); err != nil {
		return err
	}
	return b.wrap("reset", c.engine.Reset(ctx, charges))
}

// takeFor is what the waiting calls have in common. byDeadline says that it is the context which bounds the wait.
func (c *Client) takeFor(ctx context.Context, maxWait time.Duration, charges []Charge) (_ Outcome, byDeadline bool, err error) {
	b := bill(charges)
	if err := b.check(1); err != nil {
		return Outcome{}, false, err
	}
	if maxWait <= 0 {
		o, err := c.charge(ctx, Call{Charges: charges, Receipt: b.receipt(1, 0)})
		return o, false, err
	}
	start := c.now()
	maxWait = min(maxWait, MaxInterval)
	if deadline, ok := ctx.Deadline(); ok && time.Until(deadline) < maxWait {
		maxWait, byDeadline = time.Until(deadline), true
	}
	for {
		waited := c.now().Sub(start)
		call := Call{Charges: charges, MaxWait: max(0, maxWait-waited)}
		call.Receipt = b.receipt(1, call.MaxWait)
		o, err := c.charge(ctx, call)
		if err != nil || !o.Allowed || o.Wait == 0 {
			return o, byDeadline, err
		}
		d, gone, err := c.wait(ctx, b, o.Decision, start.Add(waited), start.Add(maxWait))
		switch {
		case gone:
			continue // the keys were reset or lost: ask again for what is left of the patience
		case err != nil:
			return Outcome{}, byDeadline, b.wrap("wait", err)
		}
		d.Wait = c.now().Sub(start)
		o.Decision = d
		for i := range o.Parts { // the date may have moved
			o.Parts[i].Wait, o.Parts[i].Date = d.Wait, d.Date
		}
		return o, byDeadline, nil
	}
}

// charge asks the engine for one call. When ctx ends before the answer comes, the call may have run, or may yet; it is given back.
func (c *Client) charge(ctx context.Context, call Call) (Outcome, error) {
	if err := context.Cause(ctx); err != nil {
		return Outcome{}, bill(call.Charges).wrap("take", err)
	}
	for _, ch := range call.Charges {
		if ch.permits > ch.limit.Most() {
			return Outcome{}, bill(call.Charges).wrap("take", ExceedsLimit(ch))
		}
	}
	rulings, err := c.engine.Charge(ctx, []Call{call})
	if err == nil {
		err = rulings[0].Err
	}
	if err != nil {
		if ctx.Err() != nil && !call.Peek {
			c.giveBackLater(ctx, bill(call.Charges), call.Receipt)
		}
		return Outcome{}, bill(call.Charges).wrap("take", err)
	}
	return rulings[0].Outcome, nil
}
