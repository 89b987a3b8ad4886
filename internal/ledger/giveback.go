package ledger

// Return gives back Permits of the grant that Member names, or of the oldest grants if it names none.
type Return struct {
	Member
	Back int64 // how many
}

// releaseSlice is how many entries one release takes out in one step.
const releaseSlice = 2048

// GiveBack takes returns in order and says how many permits each has freed: none for a grant that is not in the ledger,
// since it has left the window, was merged, or never was.
func (s *State) GiveBack(cfg Config, now int64, believed Belief, returns []Return) ([]int64, int) {
	v := open(s, cfg, now, believed)
	freed := make([]int64, len(returns))
	for i, r := range returns {
		if r.Member == (Member{}) {
			freed[i] = v.release(r.Back)
		} else {
			freed[i] = v.refund(r.Member, r.Back)
		}
	}
	if len(v.Entries) == 0 { // whatever the value said
		v.value = cfg.Rate
	}
	v.close()
	return freed, v.healed
}

// refund takes n permits out of exactly one entry. What is left of it keeps its ID and date.
func (v *view) refund(m Member, n int64) int64 {
	score, found := v.scores[m]
	if !found || m.Merged() {
		return 0
	}
	if v.expired(Entry{Score: score}) {
		return 0 // its permits are free already
	}
	n = min(n, int64(m.Permits))
	v.shrink(score, m, n)
	return n
}

// release takes n permits out of the oldest grants in the window. Oldest first never lets too much
// through: whichever grant was meant, the permits that are left count for at least as long as they should. The dates
// of those who wait are promises to others and are left alone.
func (v *view) release(n int64) (freed int64) {
	v.purge()
	grants := v.Entries[:v.future()]
	if len(grants) > releaseSlice {
		grants = grants[:releaseSlice]
	}
	var gone int
	for _, e := range grants {
		if n-freed < int64(e.Permits) {
			break
		}
		freed += int64(e.Permits)
		gone++
	}
	v.removeFirst(gone)
	v.credit(freed)
	if rest := n - freed; rest > 0 && gone < len(grants) {
		v.shrink(v.Entries[0].Score, v.Entries[0].Member, rest)
		freed += rest
	}
	return freed
}

func (v *view) shrink(score int64, m Member, n int64) {
	v.remove(m)
	rest := m
	switch rest.Permits -= uint32(n); {
	case rest.Permits == 0:
	case v.has(rest): // a take was resent after a part of it had been given back
		n = int64(m.Permits)
	default:
		v.Add(score, rest)
	}
	v.credit(n)
}
