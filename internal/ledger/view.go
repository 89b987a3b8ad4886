package ledger

// view is the state as one step sees it: what it is at this moment, with the expired entries set apart but not
// yet taken out, since a refusal writes nothing.
type view struct {
	*State
	cfg    Config
	now    int64 // microseconds
	floor  int64 // now in whole milliseconds, rounded down: judges what has expired
	ceil   int64 // rounded up: dates new grants
	value  int64 // the rate less all entries, expired ones included
	gone   int   // how many of the oldest entries have expired
	back   int64 // their permits
	wait   bool  // callers are waiting in line
	wrote  bool  // a take has come as far as the ledger
	told   bool  // the line has been set in order in this step
	healed int   // entries that had to be put right
}

// open looks at the state.
func open(s *State, cfg Config, now int64, believed Belief) *view {
	v := &view{State: s, cfg: cfg, now: now, floor: now / 1000, ceil: (now + 999) / 1000, value: s.Value}
	if !s.Known || believed.Rate != cfg.Rate || v.value > cfg.Rate || len(s.Entries) == 0 {
		v.recount()
	}
	v.heal()
	v.expire()
	return v
}

// free is how many permits nobody holds at this moment.
func (v *view) free() int64 { return v.value + v.back }

// recount makes the value from the ledger.
func (v *view) recount() { v.value = v.cfg.Rate - sum(v.Entries) }

// credit adds to the value what has been taken out of the ledger. More than the rate shows that it was wrong.
func (v *view) credit(n int64) {
	if v.value += n; v.value > v.cfg.Rate {
		v.recount()
	}
}

// last is the score of the newest entry, 0 if there is none.
func (v *view) last() int64 {
	if n := len(v.Entries); n > 0 {
		return v.Entries[n-1].Score
	}
	return 0
}

// queue finds out whether callers wait in line.
func (v *view) queue() { v.wait = v.end() > v.ceil }

// date is from when on an entry counts: from now on, if it is dated where it cannot be and has not been pulled back yet.
func (v *view) date(e Entry) int64 {
	if v.early(e) {
		return v.ceil
	}
	return e.Date()
}

// end is the date of the newest entry, 0 if there is none.
func (v *view) end() int64 {
	if n := len(v.Entries); n > 0 {
		return v.date(v.Entries[n-1])
	}
	return 0
}

// expired reports whether an entry has left the window.
func (v *view) expired(e Entry) bool { return e.Date() <= v.floor-v.cfg.Interval }

// expire sets apart what has left the window. All of a long idle ledger goes at once, else a slice.
func (v *view) expire() {
	v.gone, v.back = 0, 0
	if n := len(v.Entries); n > 0 && v.expired(v.Entries[n-1]) {
		v.gone, v.back = n, v.cfg.Rate-v.value
		return
	}
	for v.gone < expirySlice && v.gone < len(v.Entries) && v.expired(v.Entries[v.gone]) {
		v.back += int64(v.Entries[v.gone].Permits)
		v.gone++
	}
	if v.free() > v.cfg.Rate {
		v.recount()
	}
}

// early reports whether an entry is dated further ahead than it can be by right: a Java peer with a fast
// clock wrote it, or the store's clock was set back.
func (v *view) early(e Entry) bool { return e.Date() > v.ceil+e.patience() }

// heal pulls such entries back to now if the newest is one. The others are found by the walk along the
// ledger where they matter: a peer that finds callers in line is refused, so they do not hide behind reservations.
func (v *view) heal() {
	for v.last()/ticks > v.ceil && v.early(v.Entries[len(v.Entries)-1]) && v.healed < healBudget {
		v.pullBack(len(v.Entries)-healSlice, len(v.Entries)-1)
	}
	v.queue()
}

// pullBack dates the early entries of the places first to last at now.
func (v *view) pullBack(first, last int) {
	var early []Member
	for i := max(0, first); i <= last && i < len(v.Entries); i++ {
		if v.early(v.Entries[i]) {
			early = append(early, v.Entries[i].Member)
		}
	}
	for _, m := range early {
		v.remove(m)
		v.Add(v.ceil*ticks, m)
	}
	v.healed += len(early)
}

// purge takes the expired entries out for good. When that carries the ledger's head into another interval, it counts
// the ledger: a drift that nothing else shows (a Java call that was resent, an edit by hand) lasts no longer than
// that. It reports whether there was a drift.
func (v *view) purge() (drift bool) {
	if v.gone == 0 {
		return false
	}
	head, all := v.Entries[0].Date()/v.cfg.Interval, v.gone == len(v.Entries)
	v.removeFirst(v.gone)
	v.value, v.gone, v.back = v.free(), 0, 0
	if all || len(v.Entries) > expirySlice || v.Entries[0].Date()/v.cfg.Interval == head {
		return false
	}
	counted := v.value
	v.recount()
	return v.value != counted
}

// close puts the value back. A state that was never used stays so.
func (v *view) close() {
	if v.Known || len(v.Entries) > 0 || v.value != v.cfg.Rate {
		v.Value, v.Known = v.value, true
	}
}
