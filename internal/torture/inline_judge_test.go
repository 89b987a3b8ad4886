package torture_test

import (
	"fmt"
	"slices"

	"github.com/sluice-rate/sluice/internal/inline"
	"github.com/sluice-rate/sluice/internal/oracle"
)

func (g *inlineGrant) id() string { return fmt.Sprintf("%x", g.call.Tag) }

// service is after how long a limit of which nothing is taken gives full service, in microseconds.
func service(l inline.Limit) int64 {
	if l.Kind == inline.Bucket {
		return (l.Burst*l.Interval*1000 + l.Rate - 1) / l.Rate
	}
	return l.Interval * 1000
}

// late is by how much later than its date the store may keep a grant of a sliding window that it has merged or rounded.
func late(l inline.Limit) int64 {
	return (l.Interval/250 + 2) * 1000 << l.Shift()
}

// finish lets all go whose turn comes, then a quiet time pass, and looks whether all is free again. Then it judges.
func (s *inlineStory) finish() {
	if s.jumps {
		s.broken = nil
		s.revive()
		return
	}
	if len(s.broken) == 0 {
		s.quiet()
	}
	for _, slot := range s.slots {
		s.judge(slot)
	}
}

func (s *inlineStory) quiet() {
	end := s.now
	for _, p := range s.procs {
		for _, w := range p.waiters {
			end = max(end, w.date)
		}
	}
	s.pass(end)
	for _, slot := range s.slots {
		began := s.now
		s.now += service(slot.limit) + oracle.Grain
		if slot.limit.Kind == inline.Sliding {
			s.now += late(slot.limit)
		}
		if slot.bursts[0] != slot.bursts[len(slot.bursts)-1] || len(slot.changes) > 1 { // a rate that was higher has left more than the last can leak
			s.now += 100 * service(slot.limit)
		}
		b := bill{{slot, slot.limit, most(slot.limit)}}
		if a := s.peek(b); a.Status != inline.Granted || a.Wait != 0 || a.Parts[0].Remaining != most(slot.limit) || a.Parts[0].Reset != 0 {
			s.breakf(2, "limit %d after a quiet interval: %+v, want %d free", slot.place, a, most(slot.limit))
		}
		s.now = began
	}
}

// judge has the oracle judge what happened to one limit.
func (s *inlineStory) judge(slot *inlineSlot) {
	h := oracle.History{Changes: slot.changes, Returns: slot.returns, Claims: slot.claims}
	h.Params.Look = 1<<60 - 1 // a promise stands
	h.Params.Merge = late(slot.limit)
	for _, g := range s.grants {
		for _, c := range g.bill {
			if c.inlineSlot == slot && c.n > 0 {
				h.Grants = append(h.Grants, oracle.Grant{
					Arrived: g.arrived, At: roundUp(g.date), Permits: c.n * g.units, ID: g.id(), AtOnce: g.atOnce,
				})
			}
		}
	}
	s.tally.Judged++
	var found oracle.Findings
	switch slot.limit.Kind {
	case inline.Sliding:
		found = oracle.Exact(h)
		s.found(slot, oracle.Conserving(h))
	case inline.Bucket:
		found = oracle.Bucket(h, slot.bursts...)
	case inline.Fixed:
		found = oracle.Fixed(h)
	case inline.Aligned:
		found = oracle.Aligned(h)
	}
	s.found(slot, found)
	s.found(slot, oracle.Once(h))
	if len(s.slots) == 1 { // who waits for something else stands in nobody's way
		line := h
		line.Grants = slices.Clone(h.Grants)
		for i := range line.Grants {
			line.Grants[i].AtOnce = false // the line is in order to the millisecond
		}
		s.found(slot, oracle.Fair(line))
		s.tally.Fair++
	}
}

func (s *inlineStory) found(slot *inlineSlot, f oracle.Findings) {
	for _, v := range f.List {
		s.broken = append(s.broken, fmt.Sprintf("limit %d, at %.3f ms: %v\n", slot.place, float64(v.At-beginning)/1000, v))
	}
}
