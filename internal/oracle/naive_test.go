package oracle_test

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/sluice-rate/sluice/internal/oracle"
)

// permit is one permit of a grant in the naive judgement.
type permit struct {
	begin, date, arrived int64
	grant                int
	back                 bool  // returned: never used
	until                int64 // released then
}

// naive holds every permit by itself and reads the rules word by word.
type naive struct {
	oracle.History
	permits   []*permit
	cancelled map[int]bool // grants
}

// newNaive wants IDs that are the index of the grant.
func newNaive(h oracle.History) *naive {
	n := &naive{History: h, cancelled: map[int]bool{}}
	slices.SortStableFunc(n.Changes, func(a, b oracle.Change) int { return cmp.Compare(a.At, b.At) })
	for i, g := range h.Grants {
		p := permit{begin: g.At, date: g.At, arrived: g.Arrived, grant: i, until: math.MaxInt64}
		if g.AtOnce && g.Arrived < g.At {
			p.begin = g.Arrived
		}
		for _, c := range n.Changes[1:] {
			if c.Reset && g.AtOnce && g.Arrived < c.At && c.At <= g.At {
				p.date = g.Arrived
			}
		}
		for range g.Permits {
			n.permits = append(n.permits, new(p))
		}
	}
	slices.SortStableFunc(n.permits, func(a, b *permit) int {
		return cmp.Or(cmp.Compare(a.date, b.date), cmp.Compare(a.arrived, b.arrived))
	})
	n.settle()
	return n
}

func (n *naive) settle() {
	back := map[string]int64{} // that came back by each receipt so far
	for _, e := range n.Events() {
		switch e := e.(type) {
		case oracle.Return:
			for left, j := e.Permits, 0; left > 0 && j < len(n.permits); j++ {
				if p := n.permits[j]; fmt.Sprint(p.grant) == e.ID && !p.back && p.until == math.MaxInt64 {
					p.back = true
					left--
				}
			}
			back[e.ID] += e.Permits
			for i, g := range n.Grants {
				if e.ID == fmt.Sprint(i) && back[e.ID] >= g.Permits && e.At <= g.At {
					n.cancelled[i] = true
				}
			}
		case oracle.Release:
			n.release(e)
		}
	}
}

func (n *naive) inForce(t int64) int {
	k := 0
	for i, c := range n.Changes {
		if i > 0 && c.At <= t {
			k = i
		}
	}
	return k
}

func (n *naive) forgotten(p *permit, k int) bool {
	return slices.ContainsFunc(n.Changes[1:k+1], func(c oracle.Change) bool { return c.Reset && p.date < c.At })
}

// gone tells whether p is out of the window at t under configuration k.
func (n *naive) gone(p *permit, k int, t int64) bool {
	for j := range k {
		if p.date+n.Changes[j].Interval <= n.Changes[j+1].At {
			return true
		}
	}
	return n.forgotten(p, k) || p.date+n.Changes[k].Interval <= t
}

// exact gives the begin of each grant that overfills its window, by going or
// by date.
func (n *naive) exact(byWent bool) []int64 {
	slack := int64(0)
	begin := func(p *permit) (begin, end int64) { return p.begin, p.date }
	if byWent {
		slack = n.Params.Slack
		begin = func(p *permit) (int64, int64) {
			if g := n.Grants[p.grant]; g.Went != 0 {
				return g.Went, g.Went
			}
			return p.begin, p.begin
		}
	}
	var found []int64
	done := map[int]bool{}
	for _, q := range n.permits {
		if done[q.grant] || q.back {
			continue
		}
		done[q.grant] = true
		at, _ := begin(q)
		since := max(q.arrived, q.date-n.Params.Look)
		right := false
		for k, c := range n.Changes {
			if k > 0 && c.At > at || k < n.inForce(at) && n.Changes[k+1].At < since {
				continue
			}
			var sum int64
			for _, p := range n.permits {
				from, end := begin(p)
				moved := permit{date: end - slack} // as if it had not been late
				before := from < at || from == at && (p.arrived < q.arrived || p.arrived == q.arrived && p.grant <= q.grant)
				if before && !p.back && !n.gone(&moved, k, at) && max(p.until, from) > at {
					sum++
				}
			}
			right = right || sum <= c.Rate
		}
		if !right {
			found = append(found, at)
		}
	}
	slices.Sort(found)
	return found
}

func (n *naive) unfair() []int64 {
	var found []int64
	for i, b := range n.Grants {
		at := b.At
		if b.AtOnce {
			at = min(b.At, b.Arrived)
		}
		for j, a := range n.Grants {
			waited := !a.AtOnce && a.At > a.Arrived+oracle.Grain
			if a.Arrived < b.Arrived && waited && at < a.At && !n.cancelled[i] && !n.cancelled[j] {
				found = append(found, at)
				break
			}
		}
	}
	slices.Sort(found)
	return found
}
