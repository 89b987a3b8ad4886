package oracle

import (
	"cmp"
	"slices"
)

// Fair judges law 5: of two grants, the one that arrived later is not dated
// before the other if the other had to wait. Whether the later one had to wait
// as well does not matter. Dates are the final ones, so a waiter may be
// re-dated at will as long as the order holds in the end.
//
// A grant had to wait if it is dated more than [Grain] after its arrival and is
// not known as made at once; below that, rounding alone can turn two dates
// round, and nobody has lost a place. A waiter all of whose permits were
// returned at or before its date was cancelled and does not count. Of grants
// that arrived in the same microsecond the order is not known; they do not pass
// each other.
//
// Each grant that passed somebody is one violation; it names the waiter with
// the latest date of all that it passed. It takes O(n) if the grants are in the
// order of arrival, else it sorts them.
func Fair(h History) Findings {
	d := open(h)
	if d.record.Count > 0 {
		return d.record
	}
	return d.fair()
}

func (d *docket) fair() Findings {
	f := Findings{limit: d.h.Params.List}
	grants := d.h.Grants
	order := d.byArrival()
	passed := int32(-1) // the waiter with the latest date so far
	for len(order) > 0 {
		n := 1
		for n < len(order) && grants[order[n]].Arrived == grants[order[0]].Arrived {
			n++
		}
		latest := passed
		for _, i := range order[:n] {
			g := &grants[i]
			if d.cancelled[i] {
				continue
			}
			if passed >= 0 && g.begin() < grants[passed].At {
				f.add(5, g.begin(), "passed a waiter by %d: %v went before %v", grants[passed].At-g.begin(), *g, grants[passed])
			}
			if !g.immediate() && (latest < 0 || g.At > grants[latest].At) {
				latest = i
			}
		}
		passed = latest
		order = order[n:]
	}
	return f
}

// byArrival are the indexes of the grants in the order of arrival.
func (d *docket) byArrival() []int32 {
	order := make([]int32, len(d.h.Grants))
	for i := range order {
		order[i] = int32(i)
	}
	slices.SortFunc(order, func(a, b int32) int {
		return cmp.Or(cmp.Compare(d.h.Grants[a].Arrived, d.h.Grants[b].Arrived), cmp.Compare(a, b))
	})
	return order
}
