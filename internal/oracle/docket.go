package oracle

import (
	"cmp"
	"slices"
)

// docket is a history made ready to be judged: configurations as stretches,
// grants in order, returns and releases settled.
type docket struct {
	h       History // with its defaults
	record  Findings
	configs []stretch

	// Of each grant, by its index in h.Grants:
	begin     []int64 // from when it is used
	date      []int64 // as what it is kept; begin <= date
	net       []int64 // its permits less those ever returned
	cancelled []bool  // all of it returned at or before its date

	byDate []mark // all grants, by date
	taken  []bite // what the releases took, in order of time

	stats            Stats // filled in so far
	once, conserving Findings
}

// mark places a grant in time. The index is 32 bits wide: two billion grants
// do not fit in memory.
type mark struct {
	at, arrived int64
	grant       int32
}

// bite is what a release took from one grant.
type bite struct {
	at, permits int64
	grant       int32
}

// open makes the docket. If its record is not empty, the rest is not usable.
func open(h History) *docket {
	h.Params = h.Params.defaults()
	d := &docket{h: h, record: record(h)}
	if d.record.Count > 0 {
		return d
	}
	d.configs = stretches(h.Changes)
	d.stats = Stats{Grants: len(h.Grants), Configurations: len(h.Changes), Claims: len(h.Claims)}
	d.place()
	d.settle()
	return d
}

// place gives each grant its begin and its date, and sorts by date.
func (d *docket) place() {
	n := len(d.h.Grants)
	d.begin, d.date = make([]int64, n), make([]int64, n)
	d.net, d.cancelled = make([]int64, n), make([]bool, n)
	for i := range d.h.Grants {
		g := &d.h.Grants[i]
		d.begin[i], d.date[i], d.net[i] = g.begin(), g.At, g.Permits
		d.stats.Permits += g.Permits
		if !g.immediate() {
			d.stats.Waited++
		}
		// Made before a Reset and forgotten by it, dated after it only by rounding.
		if g.AtOnce && g.Arrived <= inForce(d.configs, g.At).reset {
			d.date[i] = d.begin[i]
		}
	}
	d.byDate = d.marks(d.date)
}

// marks are all grants in the order of at, then of arrival, then of the record.
func (d *docket) marks(at []int64) []mark {
	ms := make([]mark, len(at))
	for i := range ms {
		ms[i] = mark{at: at[i], arrived: d.h.Grants[i].Arrived, grant: int32(i)}
	}
	slices.SortFunc(ms, func(a, b mark) int {
		if a.at != b.at {
			return cmp.Compare(a.at, b.at)
		}
		return cmp.Or(cmp.Compare(a.arrived, b.arrived), cmp.Compare(a.grant, b.grant))
	})
	return ms
}
