package oracle_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/sluice-rate/sluice/internal/oracle"
)

// raster is the step of all times in plainChaos.
const raster = 250

// plainChaos is a small history of a bucket or of fixed windows that no store made: in the order of arrival, without releases
// and resets.
func plainChaos(rng *rand.Rand, intervals ...int64) (h oracle.History, bursts []int64) {
	h.Params = oracle.Params{Look: []int64{-1, 1000, 3000, oracle.Second}[rng.IntN(4)], List: 1000}
	for i := range 1 + rng.IntN(4) {
		at := int64(0)
		if i > 0 {
			at = h.Changes[i-1].At + raster*rng.Int64N(30)
		}
		h.Changes = append(h.Changes, oracle.Change{At: at, Rate: 1 + rng.Int64N(5), Interval: intervals[rng.IntN(len(intervals))]})
		bursts = append(bursts, 1+rng.Int64N(6))
	}
	at := int64(raster)
	for i := range 1 + rng.IntN(25) {
		at += raster * rng.Int64N(8)
		g := oracle.Grant{Arrived: at, At: at, Permits: 1 + rng.Int64N(2), ID: fmt.Sprint(i)}
		if rng.IntN(2) == 0 {
			g.At += raster * rng.Int64N(20)
		}
		if g.At < g.Arrived+oracle.Grain {
			g.AtOnce = rng.IntN(2) == 0
		}
		if h.Grants = append(h.Grants, g); rng.IntN(4) == 0 {
			h.Returns = append(h.Returns, oracle.Return{At: g.Arrived + raster*rng.Int64N(20) + 1, ID: g.ID, Permits: 1 + rng.Int64N(2)})
		}
	}
	return h, bursts
}

func TestKindsAgreeWithTheNaiveJudgement(t *testing.T) {
	t.Parallel()
	var bucket, aligned, fixed, right int
	seeds(t, 4000, func(t *testing.T, rng *rand.Rand) {
		h, bursts := plainChaos(rng, 500, 1000, 3000, 5000)
		spelt := func() oracle.History {
			n := h
			n.Params.Look = max(n.Params.Look, 0)
			return n
		}
		found := oracle.Bucket(h, bursts...)
		check(t, "Bucket", moments(found), naiveBucket(spelt(), bursts))
		bucket += found.Count
		if t.Failed() {
			t.Logf("bursts %v, %s", bursts, text(h))
			return
		}
		h, _ = plainChaos(rng, []int64{500, 1000, 3000, 5000}[rng.IntN(4)])
		for i := range h.Changes {
			h.Changes[i].Interval = h.Changes[0].Interval
		}
		n := spelt()
		all := allUsed(n)
		a, f := oracle.Aligned(h), oracle.Fixed(h)
		check(t, "Aligned", moments(a), naiveWindows(n, all, gridOf(all, h.Changes[0].Interval)))
		if can := canLay(n, all, h.Changes[0].Interval); can != (f.Count == 0) {
			t.Errorf("Fixed found %v, but that windows can be laid is %v", f, can)
		}
		if t.Failed() {
			t.Log(text(h))
		}
		aligned, fixed = aligned+a.Count, fixed+f.Count
		if found.Count+a.Count+f.Count == 0 {
			right++
		}
	})
	t.Logf("%d grants overfilled a bucket, %d a window of the grid, %d a window from the first call; %d histories were right", bucket, aligned, fixed, right)
}

// kindCase is a tiny history in text, and the violations that each judgement finds in it.
type kindCase struct {
	name, text string
	bursts     []int64
	bucket     string
	aligned    string
	fixed      string
}

func TestKinds(t *testing.T) {
	t.Parallel()
	for _, c := range []kindCase{{
		name: "a burst, and then one as soon as it has flowed back",
		text: `
			change at=0 rate=2 interval=1000000
			grant arrived=3000000 at=3000000 n=5
			grant arrived=3000001 at=3500000 n=1
			grant arrived=3000002 at=4499999 n=2`,
		bursts: []int64{5}, bucket: "1@4499999", aligned: "1@3000000 1@3500000", fixed: "1@3000000",
	}, {
		name: "a third of a permit is not rounded",
		text: `
			change at=0 rate=3 interval=1000000
			grant arrived=1000000 at=1000000 n=1
			grant arrived=1333333 at=1333333 n=1
			grant arrived=2000000 at=2000000 n=1
			grant arrived=2333334 at=2333334 n=1`,
		bursts: []int64{1}, bucket: "1@1333333",
	}, {
		name: "a returned permit was never used",
		text: `
			change at=0 rate=2 interval=1000000
			grant arrived=1000000 at=1000000 n=2 id=a
			grant arrived=1000001 at=1000001 n=2
			return at=1000000 id=a n=2`,
		bursts: []int64{2},
	}, {
		name: "the same, in part",
		text: `
			change at=0 rate=2 interval=1000000
			grant arrived=1000000 at=1000000 n=2 id=a
			grant arrived=1000001 at=1000001 n=2
			return at=1000000 id=a n=1`,
		bursts: []int64{2}, bucket: "1@1000001", aligned: "1@1000001", fixed: "1@1000001",
	}, {
		name: "used at the arrival, not at the rounded date",
		text: `
			change at=0 rate=1 interval=10000
			grant arrived=9500 at=10000 n=1 atonce=true
			grant arrived=10500 at=11000 n=1 atonce=true
			grant arrived=19900 at=20000 n=1 atonce=true
			grant arrived=20000 at=20000 n=1 atonce=true`,
		bucket: "1@10500 1@19900 1@20000", aligned: "1@19900", fixed: "1@10500",
	}, {
		name: "twice the rate around the edge of two windows",
		text: `
			change at=0 rate=3 interval=10000
			grant arrived=15000 at=15000 n=1
			grant arrived=24000 at=24000 n=2
			grant arrived=25000 at=25000 n=3
			grant arrived=26000 at=26000 n=1`,
		bursts: []int64{9}, fixed: "1@26000", aligned: "1@25000 1@26000",
	}, {
		name: "windows may begin anew when nothing is in use, but not before their interval is over",
		text: `
			change at=0 rate=1 interval=10000
			grant arrived=11000 at=11000 n=1
			grant arrived=12000 at=31000 n=1
			grant arrived=25000 at=25000 n=1
			grant arrived=30000 at=30000 n=1
			grant arrived=44000 at=44000 n=1
			grant arrived=53000 at=53000 n=1`,
		bursts: []int64{9}, fixed: "1@30000", aligned: "1@30000",
	}, {
		name: "a lowered rate binds who comes after it, not what was promised before",
		text: `
			change at=0 rate=4 interval=1000000
			change at=1500000 rate=1 interval=1000000
			grant arrived=1000000 at=1000000 n=4
			grant arrived=1000001 at=2000000 n=4
			grant arrived=1500001 at=3000000 n=2`,
		bucket: "1@3000000", aligned: "1@3000000", fixed: "1@3000000",
	}, {
		name: "what was used before a lowered burst counts for so much",
		text: `
			change at=0 rate=1 interval=1000000000
			change at=100 rate=1 interval=1000000000
			change at=200 rate=1 interval=1000000000
			grant arrived=50 at=50 n=10
			grant arrived=250 at=250 n=8
			grant arrived=251 at=251 n=1`,
		bursts: []int64{10, 2, 10}, bucket: "1@251", aligned: "1@50 1@250 1@251", fixed: "1@50 1@250",
	}, {
		name: "a date before the arrival",
		text: `
			change at=0 rate=9 interval=1000000
			grant arrived=10 at=9 n=1`,
		bucket: "1@10", aligned: "1@10", fixed: "1@10",
	}, {
		name: "what cannot be judged: a release, a reset, another interval",
		text: `
			change at=0 rate=1 interval=10
			change at=5 rate=1 interval=20 reset=true
			release at=6 n=1`,
		bucket: "0@5 0@6", aligned: "0@5 0@6 0@5", fixed: "0@5 0@6 0@5",
	}} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			h := parse(t, c.text)
			for _, j := range []struct {
				name  string
				found oracle.Findings
				want  string
			}{
				{"Bucket", oracle.Bucket(h, c.bursts...), c.bucket}, {"Aligned", oracle.Aligned(h), c.aligned}, {"Fixed", oracle.Fixed(h), c.fixed},
			} {
				if got := verdict(oracle.Report{Record: j.found}); got != j.want {
					t.Errorf("%s = %q, want %q\n%v", j.name, got, j.want, j.found)
				}
			}
		})
	}
}

// TestBucketDoesNotOverflow has the largest numbers that a history may hold.
func TestBucketDoesNotOverflow(t *testing.T) {
	t.Parallel()
	const most, long = 1<<32 - 1, 1 << 59
	h := oracle.History{Changes: []oracle.Change{{Rate: 1<<53 - 1, Interval: long}, {At: 5, Rate: 1<<53 - 3, Interval: long - 1}}}
	for i := range int64(1000) {
		h.Grants = append(h.Grants, oracle.Grant{Arrived: 1 + i, At: 1 + i, Permits: most})
	}
	if f := oracle.Bucket(h, most*1000); f.Count != 0 {
		t.Errorf("Bucket = %v, want nothing", f)
	}
	if f := oracle.Bucket(h, most*1000-20, most*1000-20); f.Count != 1 {
		t.Errorf("Bucket = %v, want one grant too many", f)
	}
	if f := oracle.Bucket(h, 1, 2, 3); f.Count != 1 || !slices.ContainsFunc(f.List, func(v oracle.Violation) bool { return v.Law == 0 }) {
		t.Errorf("Bucket with more bursts than configurations = %v", f)
	}
}
