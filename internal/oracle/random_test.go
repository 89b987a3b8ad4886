package oracle_test

import (
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/sluice-rate/sluice/internal/oracle"
)

var seedFlag = flag.Uint64("oracle.seed", 0, "seed of the random histories; 0 takes one at random")

// seeds calls do for n histories, each with its own seed, from the flag on.
// A failure names its seed; -oracle.seed then repeats it first.
func seeds(t *testing.T, n int, do func(t *testing.T, rng *rand.Rand)) {
	t.Helper()
	first := *seedFlag
	if first == 0 {
		first = rand.Uint64N(math.MaxUint32)
	}
	t.Logf("-oracle.seed=%d", first)
	for seed := first; seed < first+uint64(n) && !t.Failed(); seed++ {
		do(t, rand.New(rand.NewPCG(seed, 0)))
		if t.Failed() {
			t.Logf("failed with -oracle.seed=%d", seed)
		}
	}
}

// chaos is a small history that no store made: anything may be wrong with it.
// Times lie on a coarse raster, so that edges meet often.
func chaos(rng *rand.Rand) oracle.History {
	const raster, end = 250, 20_000
	moment := func() int64 { return raster * rng.Int64N(end/raster) }
	h := oracle.History{Params: oracle.Params{
		Look:  []int64{-1, 1000, 3000, oracle.Second}[rng.IntN(4)],
		Slack: []int64{0, 250, 1000, 6000}[rng.IntN(4)],
		List:  1000,
	}}
	for range 1 + rng.IntN(4) {
		h.Changes = append(h.Changes, oracle.Change{
			At: moment(), Rate: 1 + rng.Int64N(5), Interval: []int64{500, 1000, 3000, 5000}[rng.IntN(4)], Reset: rng.IntN(3) == 0,
		})
	}
	for i := range 1 + rng.IntN(25) {
		g := oracle.Grant{Arrived: moment(), Permits: 1 + rng.Int64N(2), ID: fmt.Sprint(i)}
		g.At = g.Arrived + raster*(rng.Int64N(24)-1)
		if g.At < g.Arrived+2*raster {
			g.AtOnce = rng.IntN(2) == 0
		}
		if rng.IntN(4) > 0 {
			g.Went = max(1, g.At+raster*(rng.Int64N(4)-1))
		}
		h.Grants = append(h.Grants, g)
	}
	for range rng.IntN(5) {
		g := h.Grants[rng.IntN(len(h.Grants))]
		h.Returns = append(h.Returns, oracle.Return{At: g.Arrived + raster*(rng.Int64N(20)-1), ID: g.ID, Permits: 1 + rng.Int64N(2)})
	}
	for range rng.IntN(5) {
		h.Releases = append(h.Releases, oracle.Release{At: moment(), Permits: 1 + rng.Int64N(3)})
	}
	return h
}

func TestJudgeAgreesWithTheNaiveJudgement(t *testing.T) {
	t.Parallel()
	var wrong int
	seeds(t, 20_000, func(t *testing.T, rng *rand.Rand) {
		h := chaos(rng)
		r := oracle.Judge(h)
		h.Params.Look = max(h.Params.Look, 0) // spelt out for the naive one
		n := newNaive(h)
		var dated, early []int64 // before the arrival, before the turn
		for _, g := range h.Grants {
			if g.At < g.Arrived {
				dated = append(dated, g.Arrived)
			}
			from := g.At
			if g.AtOnce || g.At <= g.Arrived+oracle.Grain {
				from = g.Arrived
			}
			if g.Went != 0 && g.Went < from {
				early = append(early, g.Went)
			}
		}
		check(t, "Exact", moments(r.Exact), slices.Concat(n.exact(false), dated))
		check(t, "ExactWent", moments(r.ExactWent), slices.Concat(n.exact(true), early))
		check(t, "Fair", moments(r.Fair), n.unfair())
		if wrong += r.Exact.Count; t.Failed() {
			oracle.Write(t.Output(), h.Events()...)
			t.Log(h.Params, r)
		}
	})
	t.Logf("%d overfull windows", wrong)
}

func check(t *testing.T, what string, got, want []int64) {
	t.Helper()
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("%s found violations at %v, want %v", what, got, want)
	}
}
