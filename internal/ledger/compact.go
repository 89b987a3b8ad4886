package ledger

// compact merges neighbours when the ledger holds more than maxGrants grants, so that neither its memory nor the
// time of a step grows with the rate: the newest stay as they are, and of the others those that fall into one
// thousandth of the interval become one entry. It carries their latest date, so no permit returns too early; the price
// is that a permit may return late by a thousandth of the interval. Reservations are never merged.
//
// It begins at the newest merged entry, since what lies before that has been through it. So it looks at each grant once.
func (v *view) compact() {
	grants := len(v.Entries)
	if grants <= maxGrants {
		return
	}
	if v.wait {
		if grants = v.future(); grants <= maxGrants {
			return
		}
	}
	if grants > mergeSlice+fresh { // a peer's, or those of a crowd that has waited
		v.mergeRun(0, mergeSlice)
		return
	}
	start := v.newestMerged(grants - fresh)
	fewer := v.mergeRun(start, grants-fresh)
	if start > 0 && grants-fewer > maxGrants-fresh/2 {
		v.mergeRun(0, grants-fewer-fresh) // a peer with a slow clock has written among what was merged
	}
}

// newestMerged is the place of the newest merged entry before this place; 0 when there is none.
func (v *view) newestMerged(place int) int {
	for place > 0 {
		if place--; v.Entries[place].Merged() {
			return place
		}
	}
	return 0
}

// mergeRun merges the entries of these places, up to but not including to. It says how many fewer there are.
func (v *view) mergeRun(from, to int) (fewer int) {
	width := (v.cfg.Interval + buckets - 1) / buckets
	for place := from; place < to-1; place++ {
		end := (v.Entries[place].Date()/width + 1) * width
		after := min(to, v.position(end*ticks, Member{}))
		run := v.Entries[place:after]
		total, n := int64(run[0].Permits), 1
		for n < len(run) && total+int64(run[n].Permits) <= maxPermits {
			total += int64(run[n].Permits)
			n++
		}
		if n > 1 {
			newest := run[n-1]
			v.removeRun(place, place+n)
			merged := newest.merge(uint32(total), 0)
			for salt := uint32(1); v.has(merged); salt++ {
				merged = newest.merge(uint32(total), salt)
			}
			v.Add(newest.Score, merged)
			fewer, to = fewer+n-1, to-n+1
		}
	}
	return fewer
}
