package ledger

// walk finds the date of the entry whose return makes n permits free, given that fewer are free now. It walks from
// the oldest entry until what has returned is enough, or from the newest until what is still held is too much: those
// are the same entry, since value + all entries = rate, and the walk takes the side on which fewer permits lie.
//
// A walk that runs off the end proves that the value is wrong, and one that meets an entry dated where it
// cannot be pulls that back. Then it is not ok, and the caller has to ask anew.
func (v *view) walk(n int64) (date int64, ok bool) {
	missing, keep := n-v.free(), v.cfg.Rate-n
	if missing <= keep {
		for i := v.gone; i < len(v.Entries); i++ {
			e := v.Entries[i]
			if v.astray(e) {
				v.pullBack(i, i+healSlice-1)
				v.queue()
				return 0, false
			}
			if missing -= int64(e.Permits); missing <= 0 {
				return v.date(e), true
			}
		}
	} else {
		for i := len(v.Entries) - 1; i >= v.gone; i-- {
			e := v.Entries[i]
			if v.astray(e) {
				v.pullBack(i-healSlice+1, i)
				v.queue()
				return 0, false
			}
			if keep -= int64(e.Permits); keep < 0 {
				return v.date(e), true
			}
		}
	}
	v.recount()
	return 0, false
}

// astray reports whether a walk has to pull an entry back. It does not ask how far ahead one who waits is dated: that would
// cost the scripts the reading of every score.
func (v *view) astray(e Entry) bool {
	return e.Date() > v.ceil && e.patience() == 0 && v.healed < healBudget
}
