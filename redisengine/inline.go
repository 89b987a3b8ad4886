package redisengine

import (
	"context"
	"time"

	"github.com/sluice-rate/sluice"
	"github.com/sluice-rate/sluice/internal/inline"
)

// ask is a call on its way to the script.
type ask struct {
	sluice.Call
	atLeast time.Duration // the permits are not to be had sooner
}

// Charge implements sluice.Engine: one round trip, on a cluster one for each slot in which calls lie, and more for a call whose
// charges lie in several: see spread.go.
func (e *Engine) Charge(ctx context.Context, calls []sluice.Call) ([]sluice.Ruling, error) {
	asks := make([]ask, len(calls))
	for i, c := range calls {
		asks[i].Call = c
	}
	if !e.spreads.Load() {
		rulings, err := e.chargeTogether(ctx, asks)
		if !e.spread(err) {
			return rulings, err
		}
	}
	rulings := make([]sluice.Ruling, len(calls))
	for i, c := range calls {
		r, err := e.chargeSpread(ctx, c)
		if err != nil {
			return nil, err
		}
		rulings[i] = r
	}
	return rulings, nil
}

// chargeTogether decides calls in one script, or in as few as possible if one key is charged under several limits.
func (e *Engine) chargeTogether(ctx context.Context, asks []ask) ([]sluice.Ruling, error) {
	rulings := make([]sluice.Ruling, 0, len(asks))
	for len(rulings) < len(asks) {
		var p parcel
		var told []any
		n := 0
		for ; len(rulings)+n < len(asks); n++ {
			args, ok := p.tell(asks[len(rulings)+n])
			if !ok {
				break
			}
			told = append(told, args...)
		}
		r, err := e.run(ctx, scriptCharge, p.keys, append(p.args(e.clock()), told...))
		if err != nil {
			return nil, err
		}
		at := 1
		for range n {
			var ruling sluice.Ruling
			ruling, at = r.ruling(at, asks[len(rulings)].Call)
			rulings = append(rulings, ruling)
		}
	}
	return rulings, nil
}

// tell is how a call is told to the script: see lua/charge.lua.
func (p *parcel) tell(a ask) ([]any, bool) {
	args := make([]any, 0, 6+2*len(a.Charges))
	args = append(args, len(a.Charges))
	for _, ch := range a.Charges {
		place, ok := p.add(ch)
		if !ok {
			return nil, false
		}
		args = append(args, place+1, ch.Permits())
	}
	peek := 0
	if a.Peek {
		peek = 1
	}
	return append(args, a.MaxWait.Microseconds(), a.atLeast.Microseconds(), a.Units, peek, tag(a.Receipt)), true
}

func tag(r sluice.Receipt) string {
	t := inline.TagOf(r.ID())
	return string(t[:])
}

const (
	rulingFields = 3 // status, units, wait
	partFields   = 3 // own wait, remaining, reset
)

// ruling is the ruling on a call that begins at place i of the reply, and where the next one begins.
func (r reply) ruling(i int, c sluice.Call) (sluice.Ruling, int) {
	status := r.int(i)
	if status == statusTooMany {
		return sluice.Ruling{Err: sluice.ExceedsLimit(c.Charges[r.int(i+1)])}, i + rulingFields
	}
	now := time.UnixMicro(r.int(0))
	units, wait := r.int(i+1), r.micros(i+2)
	i += rulingFields
	parts := make([]sluice.Decision, len(c.Charges))
	for k := range parts {
		ch := &c.Charges[k]
		own := r.micros(i)
		parts[k] = sluice.Decision{
			Allowed: own == 0, Permits: ch.Permits(), Remaining: r.int(i + 1), Limit: ch.Limit().Rate, At: now,
			RetryAfter: own, ResetAfter: r.micros(i + 2),
		}
		i += partFields
	}
	return sluice.Ruling{Outcome: c.Outcome(status == statusGranted, units, wait, now, parts)}, i
}

// LookAt implements sluice.Engine. Reservations whose charges lie in several slots of a cluster keep their dates.
func (e *Engine) LookAt(ctx context.Context, charges []sluice.Charge, receipts []sluice.Receipt) ([]sluice.Sight, error) {
	sights := make([]sluice.Sight, len(receipts))
	err := e.eachSlot(charges, func(group []sluice.Charge, whole bool) error {
		move := 0
		if whole {
			move = 1
		}
		r, err := e.onCharges(ctx, scriptLookAt, group, receipts, move)
		if err != nil {
			return err
		}
		for i := range sights {
			there, wait := r.int(1+2*i) == 1, r.micros(2+2*i)
			s := sluice.Sight{At: time.UnixMicro(r.int(0)).Add(wait), Wait: wait, Gone: !there, Settled: true}
			if sights[i] == (sluice.Sight{}) || s.Gone || !sights[i].Gone && s.Wait > sights[i].Wait {
				sights[i] = s
			}
		}
		return nil
	})
	return sights, err
}

// Refund implements sluice.Engine.
func (e *Engine) Refund(ctx context.Context, charges []sluice.Charge, receipts []sluice.Receipt) ([]int64, error) {
	freed := make([]int64, len(receipts))
	err := e.eachSlot(charges, func(group []sluice.Charge, _ bool) error {
		r, err := e.onCharges(ctx, scriptRefund, group, receipts)
		if err != nil {
			return err
		}
		for i := range freed {
			freed[i] += r.int(1 + i)
		}
		return nil
	})
	return freed, err
}

// Reset implements sluice.Engine.
func (e *Engine) Reset(ctx context.Context, charges []sluice.Charge) error {
	return e.eachSlot(charges, func(group []sluice.Charge, _ bool) error {
		_, err := e.onCharges(ctx, scriptRefund, group, nil)
		return err
	})
}

// onCharges runs a script on the states of some charges, for some receipts.
func (e *Engine) onCharges(ctx context.Context, s *script, charges []sluice.Charge, receipts []sluice.Receipt, more ...any) (reply, error) {
	p := parcelOf(charges)
	args := append(p.args(e.clock()), more...)
	for _, receipt := range receipts {
		args = append(args, tag(receipt))
	}
	return e.run(ctx, s, p.keys, args)
}
