package memengine

import (
	"context"
	"hash/maphash"
	"slices"
	"time"

	"github.com/sluice-rate/sluice"
	"github.com/sluice-rate/sluice/internal/inline"
)

// used is what is stored for one limit of one key.
type used struct {
	inline.State
	expires int64 // microseconds of the store clock
}

// bill is the charges of one call, with copies of their states. The shards of all of them are locked.
type bill struct {
	e       *Engine
	now     int64
	slots   []sluice.Slot
	shards  []int // of each charge
	charges []inline.Charge
	states  []inline.State

	// For a call with one charge, so that it takes one allocation.
	slot   [1]sluice.Slot
	shard  [1]int
	charge [1]inline.Charge
	state  [1]inline.State
}

// open locks the shards of some charges, in order, and copies the states.
func (e *Engine) open(charges []sluice.Charge) *bill {
	b := &bill{e: e}
	if n := len(charges); n == 1 {
		b.slots, b.shards, b.charges, b.states = b.slot[:], b.shard[:], b.charge[:], b.state[:]
	} else {
		b.slots, b.shards = make([]sluice.Slot, n), make([]int, n)
		b.charges, b.states = make([]inline.Charge, n), make([]inline.State, n)
	}
	for i, c := range charges {
		b.slots[i] = c.Slot()
		b.shards[i] = int(maphash.String(e.seed, b.slots[i].Key) % uint64(len(e.shards)))
	}
	for _, i := range b.locks() {
		e.shards[i].mu.Lock()
	}
	b.now = e.now()
	for i, c := range charges {
		s := &e.shards[b.shards[i]]
		s.sweepUsed(b.now)
		if u := s.used[b.slots[i]]; u != nil && u.expires > b.now {
			b.states[i] = u.State
		}
		b.charges[i] = inline.Charge{State: &b.states[i], Limit: limit(c.Limit()), N: c.Permits()}
	}
	return b
}

// locks is the shards of all charges, each once, in the order of locking.
func (b *bill) locks() []int {
	if len(b.shards) == 1 {
		return b.shards
	}
	order := slices.Sorted(slices.Values(b.shards))
	return slices.Compact(order)
}

// close stores the states that were written to, and unlocks.
func (b *bill) close() {
	for i := range b.states {
		if b.charges[i].Wrote {
			b.e.shards[b.shards[i]].store(b.slots[i], &b.states[i], b.charges[i].Limit, b.now)
		}
	}
	for _, i := range b.locks() {
		b.e.shards[i].mu.Unlock()
	}
}

func (s *shard) store(slot sluice.Slot, state *inline.State, l inline.Limit, now int64) {
	if state.Empty() {
		delete(s.used, slot)
		return
	}
	u := s.used[slot]
	if u == nil {
		u = &used{}
		if s.used == nil {
			s.used = make(map[sluice.Slot]*used)
		}
		s.used[slot] = u
	}
	u.State, u.expires = *state, now+1000*state.Life(l, now)
}

// sweepUsed drops what has expired among a few states, as sweep does.
func (s *shard) sweepUsed(now int64) {
	visits := 2
	for slot, u := range s.used {
		if visits--; visits < 0 {
			return
		}
		if u.expires <= now {
			delete(s.used, slot)
		}
	}
}

func limit(l sluice.Limit) inline.Limit {
	made, _ := inline.Make(inline.Kind(l.Algorithm), l.Rate.Permits, l.Rate.Interval.Milliseconds(), l.Burst)
	return made
}

// Charge implements sluice.Engine. It fails only when ctx has ended.
func (e *Engine) Charge(ctx context.Context, calls []sluice.Call) ([]sluice.Ruling, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	rulings := make([]sluice.Ruling, len(calls))
	for i, c := range calls {
		b := e.open(c.Charges)
		call := inline.Call{
			Charges: b.charges, Tag: inline.TagOf(c.Receipt.ID()),
			Units: c.Units, Patience: c.MaxWait.Microseconds(), Peek: c.Peek,
		}
		a := call.Take(b.now)
		b.close()
		rulings[i] = ruling(c, a, b.now)
	}
	return rulings, nil
}

func ruling(c sluice.Call, a inline.Answer, now int64) sluice.Ruling {
	if a.Status == inline.TooMany {
		return sluice.Ruling{Err: sluice.ExceedsLimit(c.Charges[a.Which])}
	}
	at := time.UnixMicro(now)
	parts := make([]sluice.Decision, len(a.Parts))
	for i, p := range a.Parts {
		ch := &c.Charges[i]
		parts[i] = sluice.Decision{
			Allowed: p.Wait == 0, Permits: ch.Permits(), Remaining: p.Remaining, Limit: ch.Limit().Rate, At: at,
			RetryAfter: micros(p.Wait), ResetAfter: micros(p.Reset),
		}
	}
	return sluice.Ruling{Outcome: c.Outcome(a.Status == inline.Granted, a.Units, micros(a.Wait), at, parts)}
}

func micros(n int64) time.Duration { return time.Duration(n) * time.Microsecond }

// LookAt implements sluice.Engine.
func (e *Engine) LookAt(ctx context.Context, charges []sluice.Charge, receipts []sluice.Receipt) ([]sluice.Sight, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	sights := make([]sluice.Sight, len(receipts))
	b := e.open(charges)
	for i, r := range receipts {
		call := inline.Call{Charges: b.charges, Tag: inline.TagOf(r.ID())}
		a := call.Look(b.now)
		sights[i] = sluice.Sight{At: time.UnixMicro(b.now + a.Wait), Wait: micros(a.Wait), Gone: a.Status == inline.Gone, Settled: true}
	}
	b.close()
	return sights, nil
}

// Refund implements sluice.Engine.
func (e *Engine) Refund(ctx context.Context, charges []sluice.Charge, receipts []sluice.Receipt) ([]int64, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	freed := make([]int64, len(receipts))
	b := e.open(charges)
	for i, r := range receipts {
		call := inline.Call{Charges: b.charges, Tag: inline.TagOf(r.ID())}
		freed[i] = call.Refund(b.now)
	}
	b.close()
	return freed, nil
}

// Reset implements sluice.Engine.
func (e *Engine) Reset(ctx context.Context, charges []sluice.Charge) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	b := e.open(charges)
	for i := range b.states {
		b.states[i], b.charges[i].Wrote = inline.State{}, true
	}
	b.close()
	return nil
}
