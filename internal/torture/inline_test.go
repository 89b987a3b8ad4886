package torture_test

import (
	"flag"
	"math/rand/v2"
	"testing"
	"time"
)

var (
	inlineSeed  = flag.Uint64("inline.seed", 0, "seed of the tests of inline histories; 0: by the clock")
	inlineCount = flag.Int("inline.count", 6000, "how many histories TestInlineHistories tells")
)

// inlineSteps is how long a history is.
const inlineSteps = 250

// TestInlineHistories has three processes take under limits that travel with the call, in every way there is: at once, waiting, by
// booking, as much as there is, several charges in one call, sent twice. They look, leave, refund and peek, while limits change.
// It judges by the dates that the arithmetic gave.
func TestInlineHistories(t *testing.T) {
	count := *inlineCount
	if testing.Short() {
		count /= 10
	}
	tellInline(t, count, inlineSteps, func(rng *rand.Rand) *inlineStory { return newInlineStory(rng) })
}

// TestInlineCrowds is the same with so many callers that grants are merged and lines are long.
func TestInlineCrowds(t *testing.T) {
	count := *inlineCount / 200
	if testing.Short() {
		count /= 5
	}
	tellInline(t, count, 4000, func(rng *rand.Rand) *inlineStory { return newInlineCrowd(rng) })
}

// tellInline tells histories until one breaks a law, and then the shortest beginning of it that does.
func tellInline(t *testing.T, count, steps int, begin func(rng *rand.Rand) *inlineStory) {
	t.Helper()
	seed := *inlineSeed
	if seed == 0 {
		seed = uint64(time.Now().UnixNano())
	}
	t.Logf("seed %d (repeat with -inline.seed)", seed)
	tell := func(i uint64, steps int) *inlineStory {
		s := begin(rand.New(rand.NewPCG(seed, i)))
		for n := 0; n < steps && (s.jumps || len(s.broken) == 0); n++ {
			s.step()
		}
		s.finish()
		return s
	}
	var total inlineTally
	for i := range uint64(count) {
		s := tell(i, steps)
		total.add(s)
		if len(s.broken) == 0 {
			continue
		}
		stride := max(1, steps/300)
		short := stride
		for len(tell(i, short).broken) == 0 && short < steps {
			short += stride
		}
		s = tell(i, short)
		for _, slot := range s.slots {
			t.Logf("limit %d: %+v, changed %d times", slot.place, slot.limit, len(slot.changes)-1)
		}
		for _, line := range s.log[max(0, len(s.log)-60):] {
			t.Log(line)
		}
		t.Fatalf("history %d breaks a law after %d steps:\n%v", i, short, s.broken)
	}
	t.Logf("%+v in %d histories", total, count)
}

// inlineTally says how much was told: a verdict on nothing is worth nothing.
type inlineTally struct {
	Grants, Waited, Left, Refunds, Units, Again, Refused, Peeks, Moved, Claims, Changes, Judged, Fair, Merged int
}

func (a *inlineTally) add(s *inlineStory) {
	b := s.tally
	a.Grants, a.Waited, a.Left, a.Refunds = a.Grants+b.Grants, a.Waited+b.Waited, a.Left+b.Left, a.Refunds+b.Refunds
	a.Units, a.Again, a.Refused, a.Peeks = a.Units+b.Units, a.Again+b.Again, a.Refused+b.Refused, a.Peeks+b.Peeks
	a.Moved, a.Claims, a.Changes, a.Judged = a.Moved+b.Moved, a.Claims+b.Claims, a.Changes+b.Changes, a.Judged+b.Judged
	a.Fair, a.Merged = a.Fair+b.Fair, a.Merged+b.Merged
}
