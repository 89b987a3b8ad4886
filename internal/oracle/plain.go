package oracle

// early finds the grants that are dated before their arrival: such a one would
// cease to count before its time.
func (d *docket) early() Findings {
	f := Findings{limit: d.h.Params.List}
	for i := range d.h.Grants {
		if g := &d.h.Grants[i]; g.At < g.Arrived {
			f.add(1, g.Arrived, "dated %d before its arrival: %v", g.Arrived-g.At, *g)
		}
	}
	return f
}

// unforgotten finds what only a sliding window can be judged with.
func (d *docket) unforgotten() Findings {
	f := Findings{limit: d.h.Params.List}
	for i, c := range d.h.Changes {
		if c.Reset {
			f.add(0, c.At, "a reset can only be judged for a sliding window: %v", c)
		}
		if i > 0 && c.At < d.h.Changes[i-1].At {
			f.add(0, c.At, "changes not in the order of time: %v", c)
		}
	}
	for _, r := range d.h.Releases {
		f.add(0, r.At, "a release can only be judged for a sliding window: %v", r)
	}
	return f
}

// oneInterval finds what fixed windows cannot be judged with.
func (d *docket) oneInterval() Findings {
	f := d.unforgotten()
	for _, c := range d.h.Changes {
		if c.Interval != d.h.Changes[0].Interval {
			f.add(0, c.At, "another interval, so other windows: %v", c)
		}
	}
	return f
}
