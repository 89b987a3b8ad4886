package ledger

// compact merges neighbours when the ledger holds more than maxGrants grants, so that neither its memory nor the
// time of a step grows with the rate: the newest stay as they are, and of the others those that fall into one
// thousandth of the interval become one entry. It carries their latest date, so no permit returns too early; the price
// is that a permit may return late by a thousandth of the interval. Reservations are never merged.
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
	width := (v.cfg.Interval + buckets - 1) / buckets
	old := v.Entries[:grants-fresh]
	var out []Member
	var in []Entry
	for i := 0; i < len(old); {
		permits, end := int64(old[i].Permits), i+1
		for end < len(old) && old[end].Date()/width == old[i].Date()/width && permits+int64(old[end].Permits) <= maxPermits {
			permits += int64(old[end].Permits)
			end++
		}
		if end-i > 1 {
			for _, e := range old[i:end] {
				out = append(out, e.Member)
			}
			newest := old[end-1]
			in = append(in, Entry{newest.Score, newest.merge(uint32(permits))})
		}
		i = end
	}
	for _, m := range out {
		delete(v.scores, m)
	}
	v.Entries = append(mergeSorted(old, out, in), v.Entries[len(old):]...)
	for _, e := range in {
		v.scores[e.Member] = e.Score
	}
}

// mergeSorted is old without the members of out, and with the entries of in; both are in the order of old.
func mergeSorted(old []Entry, out []Member, in []Entry) []Entry {
	kept := make([]Entry, 0, len(old)-len(out)+len(in))
	for _, e := range old {
		for len(in) > 0 && in[0].before(e.Score, e.Member) {
			kept, in = append(kept, in[0]), in[1:]
		}
		if len(out) > 0 && out[0] == e.Member {
			out = out[1:]
			continue
		}
		kept = append(kept, e)
	}
	return append(kept, in...)
}
