package oracle

import "sort"

// Fixed judges law 1 for windows that lie one after the other, of which the
// first begins with the first call or later: there is a way to lay them, each at
// least one interval long, so that none holds more permits than the rate.
//
// Where a window of a store begins is not in the dates alone: it depends on what
// was in use at the first call, and a promise that was in use then may have
// moved since. So no more than this can be asked; it follows that no interval
// holds more than twice the rate, and that after a window of the full rate the
// next one has to wait for the end of the interval.
//
// The rate of a window is the highest by which one of its grants may be right:
// see [Aligned], also for what counts when.
//
// Each grant before which the windows so far have to end, though that is too
// soon, is one violation; what comes after it is judged as if it were the first. It
// takes O(n log n) for one configuration, and for several as many steps a grant
// as there are grants in a window.
func Fixed(h History) Findings {
	d := open(h)
	if d.record.Count > 0 {
		return d.record
	}
	if f := d.oneInterval(); f.Count > 0 {
		return f
	}
	f := d.early()
	var grants []mark // those that were used
	for _, m := range d.marks(d.begin) {
		if d.net[m.grant] > 0 {
			grants = append(grants, m)
		}
	}
	first := int64(never)
	for i := range d.h.Grants {
		first = min(first, d.h.Grants[i].Arrived, d.begin[i])
	}
	for ; len(grants) > 0; first = always {
		n := d.lay(grants, first)
		if n == len(grants) {
			break
		}
		g := grants[n]
		f.add(1, g.at, "windows of one interval cannot be laid so that %d permits are in none: overfilled by %v", d.highest(g.grant), d.h.Grants[g.grant])
		grants = grants[n+1:]
	}
	return f
}

// lay lays windows, the first from a moment on, and gives how many of the grants
// they can hold.
//
// A cut is where one window ends and the next begins. Of all places for a cut
// between two grants only the earliest counts, for it leaves the next window all
// the room that a later one would. From a cut just before grant i the next cut
// is at least one interval away, and not after the first grant that the window
// cannot hold. So the places that can be reached from i are those up to there,
// and as i grows neither bound of them falls back.
func (d *docket) lay(grants []mark, first int64) int {
	interval := d.configs[0].interval
	cut := make([]int64, len(grants)+1) // the earliest before each grant
	for i := range cut {
		cut[i] = never
	}
	cut[0] = first
	sums := make([]int64, len(grants)+1) // of the permits before each grant
	for i, m := range grants {
		sums[i+1] = sums[i] + d.net[m.grant]
	}
	reached, next, farthest := 0, 0, 0
	for i := range grants {
		if cut[i] == never {
			continue
		}
		end := d.fits(grants, sums, i)
		farthest = max(farthest, end)
		if farthest == len(grants) {
			return farthest
		}
		for next <= i || next < len(grants) && grants[next].at < cut[i]+interval {
			next++
		}
		if next <= end && grants[next-1].at < grants[next].at {
			cut[next] = min(cut[next], max(cut[i]+interval, grants[next-1].at+1))
		}
		for reached = max(reached, next); reached < end; reached++ {
			if after := grants[reached].at + 1; after <= grants[reached+1].at {
				cut[reached+1] = min(cut[reached+1], after)
			}
		}
	}
	return farthest
}

// fits is the first grant that a window from grant i on cannot hold.
func (d *docket) fits(grants []mark, sums []int64, i int) int {
	if len(d.configs) == 1 {
		return i + sort.Search(len(grants)-i, func(n int) bool { return sums[i+n+1]-sums[i] > d.configs[0].rate })
	}
	rate := int64(0)
	for k := i; k < len(grants); k++ {
		rate = max(rate, d.highest(grants[k].grant))
		if sums[k+1]-sums[i] > rate {
			return k
		}
	}
	return len(grants)
}
