package torture_test

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/sluice-rate/sluice/internal/inline"
	"github.com/sluice-rate/sluice/internal/oracle"
)

// inlineStory is one history of limits that travel with the call, while it is told.
type inlineStory struct {
	rng    *rand.Rand
	now    int64 // microseconds
	pace   int64 // the longest time between two steps
	slots  []*inlineSlot
	subset bool // calls may charge some of the slots only
	change bool // limits may change
	jumps  bool // the clock may jump
	crowd  bool // callers ask for little, and do not wait for long
	procs  [3]inlineProcess
	grants []*inlineGrant
	log    []string
	broken []string
	tally  inlineTally
}

// inlineSlot is one limit of one key: what is stored, and what happened to it.
type inlineSlot struct {
	place   int
	limit   inline.Limit
	stored  inline.State
	expires int64 // of what is stored
	changes []oracle.Change
	bursts  []int64
	returns []oracle.Return
	claims  []oracle.Claim
}

// inlineProcess is one that takes for several callers.
type inlineProcess struct {
	waiters  []*inlineGrant
	nextLook int64
}

// inlineGrant is a call that was granted.
type inlineGrant struct {
	bill
	call          inline.Call // as it was sent, without the charges
	units         int64
	arrived, date int64
	promised      int64 // how long it was to wait
	firm, atOnce  bool
	back          bool // given back
}

// bill is the charges of a call.
type bill []charge

type charge struct {
	*inlineSlot
	limit inline.Limit
	n     int64
}

func (b bill) equal(o bill) bool { return slices.Equal(b, o) }

func (b bill) String() (s string) {
	for _, c := range b {
		s += fmt.Sprintf(" %d of limit %d", c.n, c.place)
	}
	return s
}

func newInlineStory(rng *rand.Rand) *inlineStory {
	s := &inlineStory{rng: rng, now: beginning + rng.Int64N(oracle.Second), subset: rng.IntN(2) == 0, change: rng.IntN(4) == 0}
	kind := inline.Kind(rng.IntN(4))
	for range []int{1, 1, 2, 3}[rng.IntN(4)] {
		s.addSlot(randomLimit(rng, kind))
		if rng.IntN(2) == 0 {
			kind = inline.Kind(rng.IntN(4))
		}
	}
	return s
}

// newInlineCrowd is a story in which a limit has more grants in its window than its state keeps apart.
func newInlineCrowd(rng *rand.Rand) *inlineStory {
	s := &inlineStory{rng: rng, now: beginning + rng.Int64N(oracle.Second), crowd: rng.IntN(3) > 0}
	l, ok := inline.Make(inline.Kind(rng.IntN(4)), 1000+rng.Int64N(2000), 1000+rng.Int64N(2000), 0)
	if !ok {
		panic("no such limit")
	}
	s.addSlot(l)
	return s
}

func randomLimit(rng *rand.Rand, kind inline.Kind) inline.Limit {
	rate := []int64{1, 3, 5, 7, 10, 15, 30}[rng.IntN(7)]
	interval := []int64{1, 20, 250, 500, 1000, 1000, 2000, 5000, 8_000_000}[rng.IntN(9)]
	return makeLimit(rng, kind, rate, interval)
}

func makeLimit(rng *rand.Rand, kind inline.Kind, rate, interval int64) inline.Limit {
	burst := int64(0)
	if kind == inline.Bucket && rng.IntN(3) > 0 {
		burst = 1 + rng.Int64N(2*rate)
	}
	l, ok := inline.Make(kind, rate, interval, burst)
	if !ok {
		panic("no such limit")
	}
	return l
}

func (s *inlineStory) addSlot(l inline.Limit) {
	slot := &inlineSlot{place: len(s.slots), limit: l}
	slot.note(0)
	s.slots = append(s.slots, slot)
	pace := max(1, l.Interval*1000/l.Rate)
	if s.pace == 0 || pace < s.pace {
		s.pace = pace // about twice as much is asked for as can be had
	}
}

// note writes down the limit from a moment on.
func (slot *inlineSlot) note(at int64) {
	l := slot.limit
	slot.changes = append(slot.changes, oracle.Change{At: at, Rate: l.Rate, Interval: l.Interval * 1000})
	slot.bursts = append(slot.bursts, max(1, l.Burst))
}

func (s *inlineStory) notef(format string, args ...any) {
	s.log = append(s.log, fmt.Sprintf("%10.3f ms: ", float64(s.now-beginning)/1000)+fmt.Sprintf(format, args...))
}

// breakf notes a breach that needs no oracle.
func (s *inlineStory) breakf(law int, format string, args ...any) {
	s.broken = append(s.broken, fmt.Sprintf("law %d at %.3f ms: ", law, float64(s.now-beginning)/1000)+fmt.Sprintf(format, args...)+"\n")
	s.notef("law %d: "+format, append([]any{law}, args...)...)
}

// step lets some time pass, and then something happens.
func (s *inlineStory) step() {
	until := s.now + 1 + s.rng.Int64N(s.pace)
	s.pass(until)
	p := &s.procs[s.rng.IntN(len(s.procs))]
	switch what := s.rng.IntN(100); {
	case what < 2 && s.change:
		s.changeLimit()
	case what < 6 && s.jumps:
		s.jump()
	case what < 10:
		s.leave(p)
	case what < 17:
		s.refund()
	case what < 24:
		s.again()
	case what < 30:
		s.peek(s.someBill())
	case what < 90:
		s.take(p)
	}
}

// pass lets time pass: callers go at their dates, and processes look.
func (s *inlineStory) pass(until int64) {
	every := max(lookEvery, 5*s.pace, (until-s.now)/20)
	for {
		next := until
		for i := range s.procs {
			p := &s.procs[i]
			for _, w := range p.waiters {
				next = min(next, w.date)
			}
			if len(p.waiters) > 0 {
				next = min(next, max(s.now, p.nextLook))
			}
		}
		s.now = next
		for i := range s.procs {
			p := &s.procs[i]
			s.letGo(p)
			if p.nextLook <= s.now {
				s.look(p)
				s.letGo(p)
				p.nextLook = s.now + 1 + s.rng.Int64N(every)
			}
		}
		if s.now >= until {
			return
		}
	}
}

func (s *inlineStory) letGo(p *inlineProcess) {
	p.waiters = slices.DeleteFunc(p.waiters, func(w *inlineGrant) bool { return w.date <= s.now })
}

// someBill is what the next caller asks for.
func (s *inlineStory) someBill() bill {
	var b bill
	for _, slot := range s.slots {
		if s.subset && len(s.slots) > 1 && s.rng.IntN(3) == 0 {
			continue
		}
		n := 1 + s.rng.Int64N(min(5, most(slot.limit)))
		if s.crowd {
			n = 1 + s.rng.Int64N(2)
		} else if s.rng.IntN(12) == 0 {
			n = most(slot.limit) + s.rng.Int64N(2) // all, or more than there ever is
		}
		if s.rng.IntN(30) == 0 {
			n = 0
		}
		b = append(b, charge{slot, slot.limit, n})
	}
	if len(b) == 0 {
		b = bill{{s.slots[0], s.slots[0].limit, 1}}
	}
	return b
}

// most is how many permits a limit can give at once.
func most(l inline.Limit) int64 {
	if l.Kind == inline.Bucket {
		return l.Burst
	}
	return l.Rate
}

// changeLimit gives one limit another rate. What was booked stands; those who wait leave, for they would go on looking under the limit
// with which they came. A bucket's rate and burst are only raised: when they are lowered, what has been used is kept for as long as the
// old rate says.
func (s *inlineStory) changeLimit() {
	slot := s.slots[s.rng.IntN(len(s.slots))]
	l := makeLimit(s.rng, slot.limit.Kind, 1+s.rng.Int64N(20), slot.limit.Interval)
	if l.Rate < slot.limit.Rate && l.Kind == inline.Bucket || l.Burst < slot.limit.Burst {
		return
	}
	for i := range s.procs {
		p := &s.procs[i]
		for _, w := range slices.Clone(p.waiters) {
			if !w.firm && slices.ContainsFunc(w.bill, func(c charge) bool { return c.inlineSlot == slot }) {
				s.leaves(p, w)
			}
		}
	}
	slot.limit = l
	slot.note(s.now)
	s.tally.Changes++
	s.notef("limit %d is now %+v", slot.place, slot.limit)
}
