package oracle

import (
	"cmp"
	"slices"
)

// Aligned judges law 1 for windows that lie on a grid: each begins at a whole
// multiple of the interval since moment zero, and holds no more permits than
// the rate.
//
// A grant counts in the window in which it is used: at its arrival if it is
// known as made at once, else at its date. A returned permit was never used. In
// each window the grants are summed in the order of arrival; each is right if
// the sum is within the rate of a configuration that was in force at some moment
// from its arrival to its date, but not more than Look before it. The interval
// must not change, and nothing is released or reset.
//
// It takes O(n log n).
func Aligned(h History) Findings {
	d := open(h)
	if d.record.Count > 0 {
		return d.record
	}
	if f := d.oneInterval(); f.Count > 0 {
		return f
	}
	f := d.early()
	interval := d.configs[0].interval
	held := make(map[int64]int64) // by the begin of the window
	for _, i := range d.byArrival() {
		window := floorTo(d.begin[i], interval)
		held[window] += d.net[i]
		d.fill(&f, i, window, held[window])
	}
	return f
}

// Fixed judges law 1 for windows that begin with the first call: a run of
// windows, one after the other without a gap, begins with the arrival of the
// first grant that finds nothing in use, rounded up to the [Grain]. It ends when
// nothing is in use any more: every window in which something was used or is
// promised is over, or all of it was returned. No window holds more permits than
// the rate.
//
// So a window stays where it is if the grant that began it is returned while
// others count in it. All else is as for [Aligned].
func Fixed(h History) Findings {
	d := open(h)
	if d.record.Count > 0 {
		return d.record
	}
	if f := d.oneInterval(); f.Count > 0 {
		return f
	}
	f := d.early()
	r := newRuns(d)
	for _, i := range d.byArrival() {
		arrived := d.h.Grants[i].Arrived
		r.takeBack(arrived)
		if !r.inUse(arrived) {
			r.begin(arrived)
		}
		w := r.add(i)
		d.fill(&f, i, w.from, w.used)
	}
	return f
}

// fill judges what a window holds after a grant.
func (d *docket) fill(f *Findings, i int32, from, held int64) {
	if d.net[i] == 0 {
		return // all returned: nobody used it
	}
	g, begin := d.h.Grants[i], d.begin[i]
	since := max(min(g.Arrived, begin), begin-d.h.Params.Look)
	rate := int64(0)
	for _, c := range d.configs {
		if c.from <= begin && c.until >= since {
			rate = max(rate, c.rate)
		}
	}
	if held > rate {
		w := Window{From: from, To: from + d.configs[0].interval, Permits: held, Rate: rate}
		f.add(1, begin, "%v: overfilled by %v", w, g)
	}
}

// runs is the windows of the present run.
type runs struct {
	*docket
	base    int64
	windows map[int64]*fixedWindow // by their begin, those that are not over
	of      map[string]*holding    // by receipt
	returns []Return               // those to come, in the order of time
}

// fixedWindow is what was used in a window, and what it holds at the moment: that
// what will be returned later.
type fixedWindow struct{ from, used, held int64 }

// holding is where a grant counts, and how much of it has not come back.
type holding struct {
	window *fixedWindow
	left   int64
}

func newRuns(d *docket) *runs {
	r := &runs{docket: d, windows: make(map[int64]*fixedWindow), of: make(map[string]*holding), returns: slices.Clone(d.h.Returns)}
	slices.SortStableFunc(r.returns, func(a, b Return) int { return cmp.Compare(a.At, b.At) })
	return r
}

// takeBack settles the returns up to a moment.
func (r *runs) takeBack(until int64) {
	for ; len(r.returns) > 0 && r.returns[0].At <= until; r.returns = r.returns[1:] {
		if h := r.of[r.returns[0].ID]; h != nil {
			n := min(r.returns[0].Permits, h.left)
			h.left -= n
			h.window.held -= n
		}
	}
}

// inUse tells whether something is used or promised at a moment.
func (r *runs) inUse(at int64) bool {
	for from, w := range r.windows {
		switch {
		case from+r.configs[0].interval <= at:
			delete(r.windows, from)
		case w.held > 0:
			return true
		}
	}
	return false
}

// begin begins a run.
func (r *runs) begin(at int64) {
	r.base = floor(at + Grain - 1)
	clear(r.windows)
}

// add counts a grant in its window.
func (r *runs) add(i int32) *fixedWindow {
	g := &r.h.Grants[i]
	from := r.base + floorTo(max(0, r.docket.begin[i]-r.base), r.configs[0].interval)
	w := r.windows[from]
	if w == nil {
		w = &fixedWindow{from: from}
		r.windows[from] = w
	}
	w.used += r.net[i]
	w.held += g.Permits
	if g.ID != "" && r.of[g.ID] == nil {
		r.of[g.ID] = &holding{w, g.Permits}
	}
	return w
}

// floorTo rounds t down to a multiple of step.
func floorTo(t, step int64) int64 { return t - (t%step+step)%step }
