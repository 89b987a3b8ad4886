package oracle

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

// fill judges what a window holds after a grant.
func (d *docket) fill(f *Findings, i int32, from, held int64) {
	if d.net[i] == 0 {
		return // all returned: nobody used it
	}
	g, begin := d.h.Grants[i], d.begin[i]
	if rate := d.highest(i); held > rate {
		w := Window{From: from, To: from + d.configs[0].interval, Permits: held, Rate: rate}
		f.add(1, begin, "%v: overfilled by %v", w, g)
	}
}

// highest is the highest rate by which a grant may be right.
func (d *docket) highest(i int32) (rate int64) {
	begin := d.begin[i]
	since := max(min(d.h.Grants[i].Arrived, begin), begin-d.h.Params.Look)
	for _, c := range d.configs {
		if c.from <= begin && c.until >= since {
			rate = max(rate, c.rate)
		}
	}
	return rate
}

// floorTo rounds t down to a multiple of step.
func floorTo(t, step int64) int64 { return t - (t%step+step)%step }
