package torture_test

import (
	"cmp"
	"reflect"
	"slices"

	"github.com/sluice-rate/sluice/internal/inline"
	"github.com/sluice-rate/sluice/internal/oracle"
)

// with is a call for a bill, on copies of what is stored, as an engine makes it.
func (s *inlineStory) with(call inline.Call, b bill) *inline.Call {
	call.Charges = nil
	for _, c := range b {
		state := &inline.State{}
		if c.expires > s.now {
			*state = c.stored // as an engine does: a call that writes may write into the entries of what is stored
		}
		call.Charges = append(call.Charges, inline.Charge{State: state, Limit: c.limit, N: c.n})
	}
	return &call
}

// renewed is the bill under the present limits of buckets. After a change of a bucket looks and refunds come with the new limit, for under
// each as much flows back as it says.
func (b bill) renewed() bill {
	b = slices.Clone(b)
	for i := range b {
		if b[i].limit.Kind == inline.Bucket {
			b[i].limit = b[i].inlineSlot.limit
		}
	}
	return b
}

// store keeps the states that were written to.
func (s *inlineStory) store(call *inline.Call, b bill) {
	for i, c := range call.Charges {
		slot := b[i].inlineSlot
		switch {
		case !c.Wrote:
			continue
		case c.State.Empty():
			slot.stored, slot.expires = inline.State{}, 0
			continue
		}
		slot.stored, slot.expires = *c.State, s.now+1000*c.State.Life(c.Limit, s.now)
		bound := 500
		if c.Limit.Kind != inline.Sliding {
			bound = 32
		}
		for _, e := range c.State.Entries {
			if e.Date*1000 > s.now {
				bound++
			}
			if e.Flags&inline.Merged != 0 {
				s.tally.Merged = max(s.tally.Merged, 1)
			}
		}
		if len(c.State.Entries) > bound {
			s.breakf(7, "limit %d holds %d entries, want at most %d", slot.place, len(c.State.Entries), bound)
		}
	}
}

// withoutTrace makes a call that must not change anything.
func (s *inlineStory) withoutTrace(b bill, do func() *inline.Call) {
	before := make([]inline.State, len(b))
	for i, c := range b {
		before[i] = c.stored
		before[i].Entries = slices.Clone(c.stored.Entries)
	}
	call := do()
	for i, c := range b {
		if call.Charges[i].Wrote || !reflect.DeepEqual(before[i], c.stored) {
			s.breakf(3, "limit %d was %+v and is %+v; written to: %v", c.place, before[i], c.stored, call.Charges[i].Wrote)
		}
	}
}

// peek asks what a call would get.
func (s *inlineStory) peek(b bill) (a inline.Answer) {
	s.withoutTrace(b, func() *inline.Call {
		call := s.with(inline.Call{Peek: true, Tag: s.tag()}, b)
		a = call.Take(s.now)
		s.store(call, b)
		return call
	})
	s.tally.Peeks++
	for i, c := range b {
		if a.Status != inline.TooMany && c.limit.Kind == inline.Sliding && len(c.changes) == 1 && !s.waits(c.inlineSlot) {
			c.claims = append(c.claims, oracle.Claim{At: s.now, Free: a.Parts[i].Remaining})
			s.tally.Claims++
		}
	}
	return a
}

// waits tells whether somebody's permits of a slot are still to come.
func (s *inlineStory) waits(slot *inlineSlot) bool {
	for _, p := range s.procs {
		for _, w := range p.waiters {
			if slices.ContainsFunc(w.bill, func(c charge) bool { return c.inlineSlot == slot && c.n > 0 }) {
				return true
			}
		}
	}
	return false
}

func (s *inlineStory) tag() (t inline.Tag) {
	for i := range t {
		t[i] = byte(s.rng.Uint32())
	}
	return t
}

func (s *inlineStory) take(p *inlineProcess) {
	g := &inlineGrant{bill: s.someBill(), arrived: s.now, call: inline.Call{Tag: s.tag()}}
	longest := int64(0)
	for _, c := range g.bill {
		longest = max(longest, c.limit.Interval*1000)
	}
	switch s.rng.IntN(9) {
	case 0, 1: // no patience
	case 2:
		g.call.Units = 1 + s.rng.Int64N(6)
	case 3, 4:
		g.call.Patience = s.rng.Int64N(longest)
	case 5:
		g.call.Patience, g.firm = s.rng.Int64N(3*longest), true
	default:
		g.call.Patience = 1000 * hour
	}
	if s.crowd {
		g.call.Patience, g.firm = min(g.call.Patience, longest/50), false
	}
	if len(p.waiters) >= mostInLine {
		g.call.Patience = 0
	}
	peeked := inline.Answer{}
	if both := s.rng.IntN(8) == 0; both {
		s.withoutTrace(g.bill, func() *inline.Call {
			call := s.with(g.call, g.bill)
			call.Peek = true
			peeked = call.Take(s.now)
			return call
		})
	}
	var a inline.Answer
	var call *inline.Call
	do := func() *inline.Call {
		call = s.with(g.call, g.bill)
		a = call.Take(s.now)
		s.store(call, g.bill)
		return call
	}
	if s.wouldGrant(g) {
		do()
	} else {
		s.withoutTrace(g.bill, do)
		s.tally.Refused++
	}
	s.notef("take%v, patience %.3f ms, units %d: status %d, %d units, wait %.3f ms", g.bill, float64(g.call.Patience)/1000, g.call.Units, a.Status, a.Units, float64(a.Wait)/1000)
	if peeked.Parts != nil && (peeked.Status != a.Status || peeked.Wait != a.Wait || peeked.Units != a.Units) {
		s.breakf(3, "a peek said %+v of what was then %+v", peeked, a)
	}
	if a.Status != inline.Granted {
		return
	}
	if a.Wait > g.call.Patience || a.Wait < 0 || a.Units < 1 || a.Units > max(1, g.call.Units) {
		s.breakf(1, "an impossible answer: %+v", a)
	}
	g.units, g.date, g.promised, g.atOnce = a.Units, s.now+a.Wait, a.Wait, a.Wait == 0
	s.grants = append(s.grants, g)
	s.tally.Grants++
	if a.Units > 1 {
		s.tally.Units++
	}
	if a.Wait > 0 {
		s.tally.Waited++
		p.waiters = append(p.waiters, g)
	}
}

// wouldGrant tells what a call would get, on states of its own.
func (s *inlineStory) wouldGrant(g *inlineGrant) bool {
	call := s.with(g.call, g.bill)
	for i := range call.Charges {
		state := call.Charges[i].State
		state.Entries = slices.Clone(state.Entries)
	}
	return call.Take(s.now).Status == inline.Granted
}

// look asks for the dates of those of a process who wait and did not book, with each trip for those with one bill, in the order of
// the line.
func (s *inlineStory) look(p *inlineProcess) {
	var asked []*inlineGrant
	for _, w := range p.waiters {
		if !w.firm {
			asked = append(asked, w)
		}
	}
	slices.SortStableFunc(asked, func(a, b *inlineGrant) int { return cmp.Compare(a.date, b.date) })
	for len(asked) > 0 {
		b := asked[0].bill
		var rest []*inlineGrant
		call := s.with(inline.Call{}, b.renewed())
		for _, w := range asked {
			if !w.equal(b) {
				rest = append(rest, w)
				continue
			}
			call.Tag = w.call.Tag
			a := call.Look(s.now)
			date := s.now + max(0, a.Wait)
			switch {
			case a.Status == inline.Gone && w.date <= roundUp(s.now):
				date = w.date // merged with others in the millisecond of its date
			case a.Status == inline.Gone:
				s.breakf(4, "the one of %.3f ms is no longer there", float64(w.arrived-beginning)/1000)
			case date > w.date+unit(b):
				s.breakf(5, "a look moves the one of %.3f ms back, from %d to %d", float64(w.arrived-beginning)/1000, w.date, date)
			case date < w.date:
				s.notef("a look moves the one of %.3f ms from %.3f to %.3f ms", float64(w.arrived-beginning)/1000, float64(w.date-beginning)/1000, float64(date-beginning)/1000)
				s.tally.Moved++
			}
			w.date = date
		}
		s.store(call, b)
		asked = rest
	}
}

// leave has one who waits leave.
func (s *inlineStory) leave(p *inlineProcess) {
	if len(p.waiters) > 0 {
		s.leaves(p, p.waiters[s.rng.IntN(len(p.waiters))])
	}
}

func (s *inlineStory) leaves(p *inlineProcess, w *inlineGrant) {
	s.tally.Left++
	s.giveBack(w, w.date > roundUp(s.now)) // in the millisecond of its date it may be merged with others
	p.waiters = slices.DeleteFunc(p.waiters, func(o *inlineGrant) bool { return o == w })
}

// refund gives back one of the last grants, which may have been used.
func (s *inlineStory) refund() {
	if g := s.recent(10); g != nil && g.date <= s.now {
		s.tally.Refunds++
		s.giveBack(g, false)
		if s.rng.IntN(3) == 0 {
			s.giveBack(g, false) // once more: it frees nothing
		}
	}
}

// recent is one of the last grants.
func (s *inlineStory) recent(n int) *inlineGrant {
	if len(s.grants) == 0 {
		return nil
	}
	return s.grants[len(s.grants)-1-s.rng.IntN(min(n, len(s.grants)))]
}

func (s *inlineStory) giveBack(g *inlineGrant, waiting bool) {
	call := s.with(inline.Call{Tag: g.call.Tag}, g.renewed())
	freed := call.Refund(s.now)
	s.store(call, g.bill)
	s.notef("the one of %.3f ms gives back%v, %d times: %d", float64(g.arrived-beginning)/1000, g.bill, g.units, freed)
	if g.back && freed == 0 {
		return // a limit with a longer life may find it once more, with nothing to free
	}
	var least, most int64
	for i, c := range g.bill {
		if call.Charges[i].Wrote {
			c.returns = append(c.returns, oracle.Return{At: s.now, ID: g.id(), Permits: c.n * g.units})
			most += c.n * g.units
			if waiting || c.limit.Kind != inline.Bucket {
				least += c.n * g.units
			}
		} else if waiting && c.n > 0 && (c.limit.Kind == inline.Sliding || c.limit.Kind == inline.Bucket) {
			s.breakf(2, "a reservation in limit %d was not found", c.place)
		}
	}
	if g.back && most > 0 {
		s.breakf(6, "given back twice: %d permits", freed)
	}
	if freed < least || freed > most {
		s.breakf(2, "%d permits were freed, want %d to %d", freed, least, most)
	}
	g.back = true
}

// again sends one of the last calls again, as a client does whose answer was lost.
func (s *inlineStory) again() {
	g := s.recent(8)
	if g == nil || g.back {
		return
	}
	for _, c := range g.bill {
		if c.n == 0 || s.over(g, c) {
			return // it no longer counts
		}
	}
	s.tally.Again++
	s.withoutTrace(g.bill, func() *inline.Call {
		call := s.with(g.call, g.bill)
		a := call.Take(s.now)
		s.store(call, g.bill)
		s.notef("the one of %.3f ms is sent again: %+v", float64(g.arrived-beginning)/1000, a)
		g.promised = max(g.promised, a.Wait) // of one that was lost when the clock jumped
		switch {
		case a.Status != inline.Granted || a.Units != g.units:
			s.breakf(6, "sent again, it gets %+v, want %d units", a, g.units)
		case g.date > s.now && (s.now+a.Wait <= g.date-oracle.Grain || s.now+a.Wait > g.date+unit(g.bill)):
			s.breakf(6, "sent again, its date is %d, want %d", s.now+a.Wait, g.date)
		}
		return call
	})
}

// over tells whether a grant no longer counts in a limit: of windows, when the one is over in which it was used; of a bucket, when
// as much has flowed back. A call that is sent again after that is charged again.
func (s *inlineStory) over(g *inlineGrant, c charge) bool {
	counts := g.date
	if c.limit.Kind == inline.Fixed || c.limit.Kind == inline.Aligned {
		i := slices.IndexFunc(c.stored.Entries, func(e inline.Entry) bool { return e.Tag == g.call.Tag })
		if i < 0 {
			return true
		}
		counts = c.stored.Entries[i].Date * 1000
	}
	if c.limit.Kind == inline.Bucket {
		return g.units*c.n*c.limit.Interval*1000/c.inlineSlot.limit.Rate+counts <= s.now+3*oracle.Grain
	}
	return counts+service(c.limit) <= s.now+3*oracle.Grain
}

// unit is by how much later than it said the arithmetic may keep a date, in microseconds.
func unit(b bill) (most int64) {
	for _, c := range b {
		most = max(most, 1000<<c.limit.Shift()-1000)
	}
	return most
}
