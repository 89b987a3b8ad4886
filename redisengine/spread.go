package redisengine

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/sluice-rate/sluice"
)

// On a Redis cluster a script works on keys of one hash slot only. That the server is one is learnt from its first refusal; from then on the charges of
// a call are sent slot by slot.

// errTwoSlots: the keys of one script lie in two hash slots.
var errTwoSlots = errors.New("keys in two hash slots of a cluster")

// twoSlots recognizes what servers and clients say to keys of two slots.
func twoSlots(err error) bool {
	return errors.Is(err, errTwoSlots) || err != nil && strings.Contains(err.Error(), "CROSSSLOT")
}

// spread reports whether the error says that the server is a cluster, and notes it.
func (e *Engine) spread(err error) bool {
	if !twoSlots(err) {
		return false
	}
	e.spreads.Store(true)
	return true
}

// caught makes an error of the panic with which rueidis answers keys of two slots, where others let the server refuse.
func caught(err *error) {
	switch p := recover(); {
	case p == nil:
	case strings.Contains(fmt.Sprint(p), "slot"):
		*err = errTwoSlots
	default:
		panic(p)
	}
}

// bySlot is the charges of each hash slot, in the order in which they first appear.
func bySlot(charges []sluice.Charge) [][]int {
	var groups [][]int
	where := make(map[uint16]int)
	for i, c := range charges {
		slot := hashSlot(inlineKey(c.Slot()))
		g, known := where[slot]
		if !known {
			g = len(groups)
			where[slot] = g
			groups = append(groups, nil)
		}
		groups[g] = append(groups[g], i)
	}
	return groups
}

func pick(charges []sluice.Charge, places []int) []sluice.Charge {
	some := make([]sluice.Charge, len(places))
	for i, p := range places {
		some[i] = charges[p]
	}
	return some
}

// eachSlot calls f with all charges, or on a cluster with those of each slot. Whole says that those are all.
func (e *Engine) eachSlot(charges []sluice.Charge, f func(group []sluice.Charge, whole bool) error) error {
	if !e.spreads.Load() {
		if err := f(charges, true); !e.spread(err) {
			return err
		}
	}
	groups := bySlot(charges)
	for _, places := range groups {
		if err := f(pick(charges, places), len(groups) == 1); err != nil {
			return err
		}
	}
	return nil
}

const (
	rounds = 4                    // how often the dates in several slots are brought together before the call is refused
	slack  = 5 * time.Millisecond // how far apart they may be
)

// chargeSpread decides a call slot by slot: granted in all, or refunded where it was granted. A call that waits gets the same date everywhere, to
// within a trip: where the date is sooner than elsewhere it is given back and asked for again, not sooner than there.
func (e *Engine) chargeSpread(ctx context.Context, c sluice.Call) (sluice.Ruling, error) {
	groups := bySlot(c.Charges)
	if len(groups) == 1 {
		r, err := e.chargeTogether(ctx, []ask{{Call: c}})
		if err != nil {
			return sluice.Ruling{}, err
		}
		return r[0], nil
	}
	s := &spreading{e: e, call: c, groups: groups, rulings: make([]*sluice.Ruling, len(groups)), units: 1}
	switch {
	case c.Peek:
		return s.peek(ctx)
	case c.Units > 0:
		seen, err := s.peek(ctx)
		if err != nil || seen.Err != nil || !seen.Outcome.Allowed {
			return seen, err
		}
		s = &spreading{e: e, call: c, groups: groups, rulings: make([]*sluice.Ruling, len(groups)), units: seen.Outcome.Units}
	}
	return s.take(ctx)
}

// spreading is a call under way in several slots.
type spreading struct {
	e       *Engine
	call    sluice.Call
	groups  [][]int
	rulings []*sluice.Ruling // of each group; nil: not asked, or given back
	units   int64
	took    bool // it has been taken, so many times
	failed  bool // it is to be refused
}

// ask asks one group, for the charges so many times.
func (s *spreading) ask(ctx context.Context, g int, atLeast time.Duration, peek bool) error {
	a := ask{Call: s.call, atLeast: atLeast}
	a.Charges = pick(s.call.Charges, s.groups[g])
	a.Peek = peek
	if !peek {
		a.Units = 0
		for i, c := range a.Charges {
			a.Charges[i] = c.Limit().ChargeN(c.Key(), c.Permits()*s.units).With(c.Tag())
		}
	}
	r, err := s.e.chargeTogether(ctx, []ask{a})
	if err != nil {
		return err
	}
	s.rulings[g] = &r[0]
	return nil
}

// granted reports whether a group has been asked and says yes.
func (s *spreading) granted(g int) bool {
	return s.rulings[g] != nil && s.rulings[g].Err == nil && s.rulings[g].Outcome.Allowed
}

// peek asks all groups without taking anything.
func (s *spreading) peek(ctx context.Context) (sluice.Ruling, error) {
	for g := range s.groups {
		if s.rulings[g] != nil {
			continue
		}
		if err := s.ask(ctx, g, 0, true); err != nil {
			return sluice.Ruling{}, err
		}
	}
	return s.sum(), nil
}

func (s *spreading) take(ctx context.Context) (sluice.Ruling, error) {
	var latest time.Duration
	for range rounds {
		together := true
		for g := range s.groups {
			if s.rulings[g] != nil && s.rulings[g].Outcome.Wait >= latest-slack {
				continue
			}
			if err := s.undo(ctx, g); err != nil {
				return sluice.Ruling{}, err
			}
			if err := s.ask(ctx, g, latest, false); err != nil {
				return sluice.Ruling{}, errors.Join(err, s.giveBack(ctx, g), s.undoAll(ctx)) // it may have run, its answer lost
			}
			if !s.granted(g) {
				return s.refuse(ctx)
			}
			wait := s.rulings[g].Outcome.Wait
			together = together && (g == 0 || wait <= latest+slack)
			latest = max(latest, wait)
		}
		if together {
			s.took = true
			return s.sum(), nil
		}
	}
	return s.refuse(ctx)
}

// refuse gives everything back and says what stops the call.
func (s *spreading) refuse(ctx context.Context) (sluice.Ruling, error) {
	refused := make([]*sluice.Ruling, len(s.groups))
	for g := range s.groups {
		if s.rulings[g] != nil && !s.granted(g) {
			refused[g] = s.rulings[g]
		}
	}
	if err := s.undoAll(ctx); err != nil {
		return sluice.Ruling{}, err
	}
	s.rulings, s.failed = refused, true
	return s.peek(ctx)
}

func (s *spreading) undo(ctx context.Context, g int) error {
	if !s.granted(g) {
		return nil
	}
	s.rulings[g] = nil
	return s.giveBack(ctx, g)
}

// giveBack refunds what one group may have granted.
func (s *spreading) giveBack(ctx context.Context, g int) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), undoTimeout)
	defer cancel()
	_, err := s.e.onCharges(ctx, scriptRefund, pick(s.call.Charges, s.groups[g]), []sluice.Receipt{s.call.Receipt})
	return err
}

const undoTimeout = 2 * time.Second // the caller's time may be over

func (s *spreading) undoAll(ctx context.Context) error {
	var errs []error
	for g := range s.groups {
		errs = append(errs, s.undo(ctx, g))
	}
	return errors.Join(errs...)
}

// sum is the ruling on the whole.
func (s *spreading) sum() sluice.Ruling {
	parts := make([]sluice.Decision, len(s.call.Charges))
	granted, units, wait := !s.failed, s.call.Units, time.Duration(0)
	var at time.Time
	for g, places := range s.groups {
		r := s.rulings[g]
		if r.Err != nil {
			return *r
		}
		o := &r.Outcome
		for i, p := range places {
			parts[p] = o.Parts[i]
			parts[p].Permits = s.call.Charges[p].Permits()
		}
		granted = granted && o.Allowed
		units = min(units, o.Units)
		wait = max(wait, o.Wait, o.RetryAfter)
		if o.At.After(at) {
			at = o.At
		}
	}
	switch {
	case s.call.Units == 0:
		units = 1
	case s.took:
		units = s.units
	}
	if s.failed {
		wait = max(wait, time.Millisecond) // there was no room when it was asked
	}
	return sluice.Ruling{Outcome: s.call.Outcome(granted, units, wait, at, parts)}
}
