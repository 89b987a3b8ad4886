package inline

// place is the earliest moment, in microseconds and not before a given one, at which n permits can be had if only the entries before a place
// are reckoned with, and the window in which they then count, for the fixed kinds. For a caller who waits it is a whole millisecond.
func (s *State) place(l Limit, c clock, n, after int64, upto int, waits bool) (moment, window int64) {
	if n > l.most() { // a reservation that was made under a higher limit
		return max(after, c.never()), 0
	}
	if b := s.barrier(c, upto); b != 0 {
		after = max(after, b*1000)
	}
	switch l.Kind {
	case Sliding:
		return s.placeSliding(l, n, after, upto), 0
	case Bucket:
		return s.placeBucket(l, c, n, after, upto, waits), 0
	}
	return s.placeFixed(l, c, n, after, upto)
}

// never is a moment later than anybody waits.
func (c clock) never() int64 { return (c.down + never) * 1000 }

// placeSliding walks from the oldest grant to the one whose return makes n permits free. All later entries are reckoned with, so no
// window is too full, whichever of them it holds.
func (s *State) placeSliding(l Limit, n, after int64, upto int) int64 {
	used := s.Sum
	if upto < len(s.Entries) {
		used = s.sum(0, upto)
	}
	missing := n - (l.Rate - used)
	for i := 0; missing > 0 && i < upto; i++ {
		if missing -= s.Entries[i].Permits; missing <= 0 {
			after = max(after, (s.Entries[i].Date+l.Interval)*1000)
		}
	}
	return after
}

// placeBucket is when enough has flowed back. What those behind have taken does not count. The debt does not flow back in a straight line: at the
// date of each pending reservation it is at least what those from there on have taken, as in leak.
func (s *State) placeBucket(l Limit, c clock, n, after int64, upto int, waits bool) int64 {
	debt := s.Debt
	if upto < len(s.Entries) {
		debt -= s.owed(upto, len(s.Entries)) * l.Cost
	}
	if debt+n*l.Cost > mostDebt {
		return max(after, c.never())
	}
	mark, target := s.Mark, l.room()-n*l.Cost
	first := min(s.from(mark/1000+1), upto)
	owed := s.owed(first, upto)
	for _, e := range s.Entries[first:upto] {
		if e.Flags&Reserved == 0 {
			continue
		}
		if target >= owed*l.Cost && mark+l.ticks(max(0, debt-target))*l.Tick <= e.Date*1000 && after <= e.Date*1000 {
			break
		}
		t := max(0, e.Date*1000-mark) / l.Tick
		mark += t * l.Tick
		debt = max(debt-t*l.Leak, owed*l.Cost)
		owed -= e.Permits
	}
	if debt > target {
		after = max(after, mark+l.ticks(debt-target)*l.Tick)
	}
	if waits && after > c.now {
		after = ceilDiv(after, 1000) * 1000
	}
	return after
}

// placeFixed is the first window with room for n.
func (s *State) placeFixed(l Limit, c clock, n, after int64, upto int) (moment, window int64) {
	current := s.window(l, c)
	w := current
	if d := after / 1000; d >= w+l.Interval {
		w += (d - w) / l.Interval * l.Interval
	}
	for s.in(l, w, upto)+n > l.Rate {
		w += l.Interval
	}
	if w > current {
		after = max(after, w*1000)
	}
	return after, w
}

// in is how many permits before a place count in a window.
func (s *State) in(l Limit, window int64, upto int) int64 {
	i, j := min(upto, s.from(window)), min(upto, s.from(window+l.Interval))
	return s.sum(i, j)
}

// window is when the current window begins. Without grants that of the first call is not older than now.
func (s *State) window(l Limit, c clock) int64 {
	switch {
	case l.Kind == Aligned:
		return c.down - c.down%l.Interval
	case len(s.Entries) == 0:
		return c.up
	}
	first := s.Entries[0].Date
	if first > c.up {
		first -= ceilDiv(first-c.up, l.Interval) * l.Interval
	}
	return first
}

// free is how many permits can be had now.
func (s *State) free(l Limit, c clock) int64 {
	n := len(s.Entries)
	switch {
	case s.barrier(c, n) != 0:
		return 0
	case l.Kind == Sliding:
		return max(0, l.Rate-s.Sum)
	case l.Kind == Bucket:
		return max(0, l.room()-s.Debt) / l.Cost
	}
	return max(0, l.Rate-s.in(l, s.window(l, c), n))
}

// reset is in how many microseconds all permits are free if nobody takes any.
func (s *State) reset(l Limit, c clock) int64 {
	switch n := len(s.Entries); {
	case l.Kind == Bucket:
		if s.Debt == 0 {
			return 0
		}
		return max(0, s.Mark+l.ticks(s.Debt)*l.Tick-c.now)
	case n == 0:
		return 0
	default:
		return max(0, (s.Entries[n-1].Date+l.Interval)*1000-c.now)
	}
}
