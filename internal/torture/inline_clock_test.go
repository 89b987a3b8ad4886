package torture_test

import (
	"math/rand/v2"
	"testing"

	"github.com/sluice-rate/sluice/internal/inline"
	"github.com/sluice-rate/sluice/internal/oracle"
)

// TestInlineClocks has the store's clock jump, forward and back, by anything from a millisecond to a day. Dates mean nothing then; but when all
// has stopped and callers only knock, each limit gives full service again as soon as the longest wait that it has promised and the
// time of its window are over.
func TestInlineClocks(t *testing.T) {
	count := *inlineCount / 4
	if testing.Short() {
		count /= 10
	}
	tellInline(t, count, 60, func(rng *rand.Rand) *inlineStory {
		s := newInlineStory(rng)
		s.jumps, s.change = true, false
		s.subset = false // the states of a call are set back together
		return s
	})
}

// jump sets the clock. Those who wait sleep on by their own clocks, and keep the time that was left to them.
func (s *inlineStory) jump() {
	by := 1 + s.rng.Int64N([]int64{oracle.Grain, oracle.Second, hour, 24 * hour}[s.rng.IntN(4)])
	if s.rng.IntN(2) == 0 {
		by = -by
	}
	s.notef("the clock jumps by %.3f ms", float64(by)/1000)
	s.now += by
	for i := range s.procs {
		p := &s.procs[i]
		p.nextLook += by
		for _, w := range p.waiters {
			w.date += by
		}
	}
}

// revive has callers knock for as long as it may take, and looks whether all is free then.
func (s *inlineStory) revive() {
	wait := int64(0)
	for _, g := range s.grants { // one who has gone may still wait for the store, which takes its last write for the moment of a jump
		if !g.back {
			wait = max(wait, g.promised)
		}
	}
	for _, slot := range s.slots {
		began := s.now
		b := bill{{slot, slot.limit, most(slot.limit)}}
		s.knock(b) // the store learns of the clock only when somebody calls
		const knocks = 10
		longest := wait + service(slot.limit) + late(slot.limit)
		for range knocks {
			if s.knock(b) {
				break
			}
			s.now += longest/knocks + 1
		}
		if !s.knock(b) {
			s.breakf(4, "limit %d is not free after %.3f ms", slot.place, float64(longest)/1000)
		}
		s.now = began
	}
}

// knock takes all that a limit has, if it has it, and gives it back.
func (s *inlineStory) knock(b bill) bool {
	tag := s.tag()
	call := s.with(inline.Call{Tag: tag}, b)
	a := call.Take(s.now)
	s.store(call, b)
	if a.Status != inline.Granted {
		return false
	}
	back := s.with(inline.Call{Tag: tag}, b)
	back.Refund(s.now)
	s.store(back, b)
	return true
}
