package oracle

import (
	"cmp"
	"slices"
)

// release settles a release: the oldest permits in the window go first. Only
// if there are too few, it takes what the store may have seen in the window:
// dates up to the end of the millisecond, then dates that have just left.
func (s *settler) release(r Release) {
	low, lower := s.edge(r.At)
	upper := floor(r.At + Grain - 1)
	s.head = max(s.head, s.after(low))
	for s.head < len(s.byDate) && s.held[s.byDate[s.head].grant] == 0 {
		s.head++
	}
	now := s.after(r.At)
	left := s.take(r, r.Permits, s.byDate[min(s.head, now):now])
	if left > 0 {
		left = s.take(r, left, byLine(s.byDate[now:s.after(upper)]))
		left = s.take(r, left, s.byDate[s.after(lower):s.after(low)])
	}
	s.stats.Released += r.Permits - left
	if s.doubtEnd <= r.At {
		s.doubt = 0
	}
	// Any of these may have gone in place of what went here.
	s.doubt += min(r.Permits-left, s.sum(lower, low, r.At)+s.sum(r.At, upper, r.At))
	if s.doubt > 0 { // and if it did, later releases differ as well
		s.doubtEnd = r.At + s.longest + max(Grain, s.h.Params.Merge)
	}
	if left > s.doubt {
		s.conserving.add(2, r.At, "%v: only %d permits were in the window (%d, %d]", r, r.Permits-left, low, r.At)
	}
}

// byLine is the order of the line for grants that are dated after a release:
// that of arrival. Their final dates do not tell it. One that was made at once
// is dated by rounding up, and a waiter behind it may have got a date before
// that when a release had taken all of it. (A date that has passed does not
// move.) So of those that arrived at one moment, the one dated later was made
// at once, if any was.
func byLine(marks []mark) []mark {
	marks = slices.Clone(marks)
	slices.SortStableFunc(marks, func(a, b mark) int {
		return cmp.Or(cmp.Compare(a.arrived, b.arrived), cmp.Compare(b.at, a.at))
	})
	return marks
}

// take takes up to n permits from a line of grants, and returns how many are
// left to take.
//
// The history does not tell which of two was in front if they arrived at one
// moment and have one date, or if the one behind is dated before the other. But
// permits that came back by a receipt later were still there. So they are left
// as long as one that may have been in front has others.
func (s *settler) take(r Release, n int64, line []mark) int64 {
	for i, m := range line {
		if n == 0 {
			break
		}
		if s.awaited[m.grant] > 0 {
			n = s.bite(r, n, m, s.awaited[m.grant])
			for _, o := range line[i+1:] {
				if o.at < m.at || o.at == m.at && o.arrived == m.arrived {
					n = s.bite(r, n, o, s.awaited[o.grant])
				}
			}
		}
		n = s.bite(r, n, m, 0)
	}
	return n
}

// bite takes up to n permits from one grant, but not the last few that it
// spares, and returns how many are left to take.
func (s *settler) bite(r Release, n int64, m mark, spares int64) int64 {
	took := min(n, s.held[m.grant]-spares)
	if took <= 0 || m.arrived > r.At {
		return n
	}
	s.held[m.grant] -= took
	s.taken = append(s.taken, bite{at: r.At, permits: took, grant: m.grant})
	return n - took
}
