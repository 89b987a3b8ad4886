package oracle_test

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/sluice-rate/sluice/internal/oracle"
)

// release takes the permits one by one.
func (n *naive) release(r oracle.Release) {
	k := n.inForce(r.At)
	down := r.At - r.At%oracle.Grain
	up := r.At + (oracle.Grain-r.At%oracle.Grain)%oracle.Grain
	left := r.Permits
	take := func(line []*permit, ok func(p *permit) bool) {
		for left > 0 {
			p := n.oldest(r, line, ok)
			if p == nil {
				return
			}
			p.until = r.At
			left--
		}
	}
	take(n.permits, func(p *permit) bool { return p.date <= r.At && !n.gone(p, k, r.At) })
	byLine := slices.Clone(n.permits)
	slices.SortStableFunc(byLine, func(a, b *permit) int {
		return cmp.Or(cmp.Compare(a.arrived, b.arrived), cmp.Compare(b.date, a.date))
	})
	take(byLine, func(p *permit) bool { return p.date > r.At && p.date <= up })
	take(n.permits, func(p *permit) bool {
		return p.date <= r.At && p.date > down-n.Changes[k].Interval && !n.forgotten(p, k)
	})
}

// oldest is the permit that a release takes: the first in line, unless its grant comes back with all that it has, and one
// behind it that does not may have been before it.
func (n *naive) oldest(r oracle.Release, line []*permit, ok func(p *permit) bool) *permit {
	var oldest *permit
	for _, p := range line {
		if !n.has(p) || p.arrived > r.At || !ok(p) {
			continue
		}
		switch {
		case oldest == nil:
			oldest = p
		case p.grant == oldest.grant, p.date > oldest.date, p.date == oldest.date && p.arrived != oldest.arrived:
			continue
		}
		if !n.comesBack(p, r.At) {
			return p
		}
	}
	return oldest
}

// has tells whether p is neither returned nor released so far.
func (n *naive) has(p *permit) bool { return !p.back && p.until == math.MaxInt64 }

// comesBack tells whether all that the grant of p has comes back by its receipt later.
func (n *naive) comesBack(p *permit, now int64) bool {
	var has, back int64
	for _, q := range n.permits {
		if q.grant == p.grant && n.has(q) {
			has++
		}
	}
	for _, r := range n.Returns {
		if r.ID == fmt.Sprint(p.grant) && r.At > now {
			back += r.Permits
		}
	}
	return back >= has
}
