package oracle_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/sluice-rate/sluice/internal/oracle"
)

func TestRightHistoriesPass(t *testing.T) {
	t.Parallel()
	var total oracle.Stats
	seeds(t, 2000, func(t *testing.T, rng *rand.Rand) {
		y := story{steps: 150, round: rng.IntN(2) == 0, changes: true, returns: rng.IntN(2) == 0, claims: true}
		h := y.tell(rng)
		r := oracle.Judge(h)
		if r.Count() > 0 {
			t.Errorf("Judge of %+v: %v", y, r)
			oracle.Write(t.Output(), h.Events()...)
		}
		total.Grants += r.Stats.Grants
		total.Waited += r.Stats.Waited
		total.Cancelled += r.Stats.Cancelled
		total.Configurations += r.Stats.Configurations
		total.Claims += r.Stats.Claims
	})
	t.Logf("%d grants, %d waited, %d cancelled, %d configurations, %d claims",
		total.Grants, total.Waited, total.Cancelled, total.Configurations, total.Claims)
}

// fault plants one fault in a right history, and tells whether it found a place
// for it. It may change the history: nobody else has it.
type fault struct {
	name  string
	story story
	plant func(rng *rand.Rand, h *oracle.History) bool
	found func(r oracle.Report) oracle.Findings
}

var (
	plain    = story{steps: 80}
	changing = story{steps: 80, round: true, changes: true, returns: true, claims: true}

	exact      = func(r oracle.Report) oracle.Findings { return r.Exact }
	exactWent  = func(r oracle.Report) oracle.Findings { return r.ExactWent }
	conserving = func(r oracle.Report) oracle.Findings { return r.Conserving }
	fair       = func(r oracle.Report) oracle.Findings { return r.Fair }
	once       = func(r oracle.Report) oracle.Findings { return r.Once }
)

var faults = []fault{{
	"one permit too many", plain,
	func(rng *rand.Rand, h *oracle.History) bool {
		i := rng.IntN(len(h.Grants))
		if window(h, i) == h.Changes[0].Rate {
			h.Grants[i].Permits++
			return true
		}
		return false
	}, exact,
}, {
	"a waiter one microsecond before its turn", plain,
	func(rng *rand.Rand, h *oracle.History) bool {
		g := pick(rng, h.Grants[1:], func(i int) bool { return bound(h, i+1) })
		if g != nil {
			g.At--
		}
		return g != nil
	}, exact,
}, {
	"a lowered rate that nobody heeded", plain,
	func(rng *rand.Rand, h *oracle.History) bool {
		i := rng.IntN(len(h.Grants))
		g, n := h.Grants[i], window(h, i)
		h.Changes = append(h.Changes, oracle.Change{
			At: max(g.Arrived, g.At-h.Params.Look) - 1, Rate: n - 1, Interval: h.Changes[0].Interval,
		})
		return n > 1
	}, exact,
}, {
	"a date before the arrival", changing,
	func(rng *rand.Rand, h *oracle.History) bool {
		g := &h.Grants[rng.IntN(len(h.Grants))]
		g.At = g.Arrived - 1
		return true
	}, exact,
}, {
	"a take that charged less than it gave", changing,
	func(rng *rand.Rand, h *oracle.History) bool {
		g := &h.Grants[rng.IntN(len(h.Grants))]
		g.Permits += 9
		return true
	}, exact,
}, {
	"callers one microsecond late without slack", plain,
	func(rng *rand.Rand, h *oracle.History) bool {
		h.Params.Slack = 0
		i := 1 + rng.IntN(len(h.Grants)-1)
		late := false
		for j := range h.Grants {
			g := &h.Grants[j]
			g.Went = 0
			if g.At == h.Grants[i].At-h.Changes[0].Interval {
				g.Went = g.At + 1
				late = bound(h, i)
			}
		}
		return late
	}, exactWent,
}, {
	"a caller goes early", changing,
	func(rng *rand.Rand, h *oracle.History) bool {
		g := &h.Grants[rng.IntN(len(h.Grants))]
		g.Went = g.At - 1
		if g.AtOnce || g.At-g.Arrived <= oracle.Grain {
			g.Went = g.Arrived - 1
		}
		return true
	}, exactWent,
}, {
	"two waiters swapped", plain,
	func(rng *rand.Rand, h *oracle.History) bool {
		i := rng.IntN(len(h.Grants) - 1)
		a, b := &h.Grants[i], &h.Grants[i+1+rng.IntN(len(h.Grants)-i-1)]
		a.At, b.At = b.At, a.At
		return a.At > b.At && a.At > a.Arrived+oracle.Grain && !a.AtOnce
	}, fair,
}, {
	"a newcomer before a waiter", changing,
	func(rng *rand.Rand, h *oracle.History) bool {
		back := map[string]bool{}
		for _, r := range h.Returns {
			back[r.ID] = true
		}
		g := pick(rng, h.Grants, func(i int) bool {
			return h.Grants[i].At > h.Grants[i].Arrived+2*oracle.Grain && !back[h.Grants[i].ID]
		})
		if g != nil {
			h.Grants = append(h.Grants, oracle.Grant{Arrived: g.At - 1, At: g.At - 1, Permits: 1, ID: "new"})
		}
		return g != nil
	}, fair,
}, {
	"a receipt granted twice", changing,
	func(rng *rand.Rand, h *oracle.History) bool {
		h.Grants = append(h.Grants, h.Grants[rng.IntN(len(h.Grants))])
		return true
	}, once,
}, {
	"a refund run twice", changing,
	func(rng *rand.Rand, h *oracle.History) bool {
		r := pick(rng, h.Returns, func(i int) bool { return true })
		if r != nil {
			i := slices.IndexFunc(h.Grants, func(g oracle.Grant) bool { return g.ID == r.ID })
			r.Permits = h.Grants[i].Permits
			h.Returns = append(h.Returns, *r)
		}
		return r != nil
	}, once,
}, {
	"a refund of nobody's receipt", changing,
	func(rng *rand.Rand, h *oracle.History) bool {
		h.Returns = append(h.Returns, oracle.Return{At: h.Grants[0].At, ID: "nobody", Permits: 1})
		return true
	}, once,
}, {
	"a release of more than there is", changing,
	func(rng *rand.Rand, h *oracle.History) bool {
		h.Releases = append(h.Releases, oracle.Release{At: h.Grants[rng.IntN(len(h.Grants))].At, Permits: 1_000_000})
		return true
	}, conserving,
}, {
	"a lost or minted permit", story{steps: 80, claims: true, round: true},
	func(rng *rand.Rand, h *oracle.History) bool {
		c := pick(rng, h.Claims, func(i int) bool { return true })
		if c != nil {
			c.Free += 1 - 2*rng.Int64N(2)
			c.At -= c.At % oracle.Grain // not in doubt
		}
		return c != nil && !slices.ContainsFunc(h.Grants, func(g oracle.Grant) bool {
			return g.Arrived >= c.At && g.Arrived <= c.At+oracle.Grain || near(g.At, c.At-h.Changes[0].Interval)
		})
	}, conserving,
}}

func TestPlantedFaultsAreFound(t *testing.T) {
	t.Parallel()
	for _, f := range faults {
		t.Run(f.name, func(t *testing.T) {
			t.Parallel()
			planted := 0
			seeds(t, 400, func(t *testing.T, rng *rand.Rand) {
				h := f.story.tell(rng)
				if !f.plant(rng, &h) {
					return
				}
				planted++
				if r := oracle.Judge(h); f.found(r).Count == 0 {
					t.Errorf("not found: %v", r)
					oracle.Write(t.Output(), h.Events()...)
				}
			})
			if t.Logf("planted %d times", planted); planted < 20 {
				t.Error("hardly ever planted")
			}
		})
	}
}

// pick is one of the elements that ok accepts, or nil.
func pick[E any](rng *rand.Rand, all []E, ok func(i int) bool) *E {
	for _, i := range rng.Perm(len(all)) {
		if ok(i) {
			return &all[i]
		}
	}
	return nil
}

// window is how many permits the window that ends with grant i holds.
func window(h *oracle.History, i int) (sum int64) {
	for j, g := range h.Grants {
		if at := h.Grants[i].At; g.At > at-h.Changes[0].Interval && (g.At < at || g.At == at && j <= i) {
			sum += g.Permits
		}
	}
	return sum
}

// bound tells whether grant i had to wait for permits to leave the window, and
// not for the grant before it.
func bound(h *oracle.History, i int) bool {
	g := h.Grants[i]
	return g.At > g.Arrived+1 && !g.AtOnce && g.At > h.Grants[i-1].At+1
}

func near(a, b int64) bool { return a-b <= oracle.Grain && b-a <= oracle.Grain }
