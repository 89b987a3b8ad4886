package ledger

// Reconfigure carries the state over to another configuration: the value is counted anew, and those who wait move to
// the dates that the new rate allows, outside of the look period. keep says whether the grants are kept; reservations are in any case,
// since their owners wait for them.
func (s *State) Reconfigure(cfg Config, now int64, keep bool) {
	v := open(s, cfg, now, Belief{})
	if !keep {
		v.removeFirst(v.future())
	}
	if len(v.Entries) == 0 {
		s.Clear() // as if never used
		return
	}
	v.recount()
	v.expire()
	if v.wait {
		v.settle(nil, v.future(), len(v.Entries), len(v.Entries))
	}
	v.close()
}

// Available is how many permits could be had at this moment, counted from the ledger; none while callers wait.
// It changes nothing.
func (s *State) Available(cfg Config, now int64) int64 {
	v := view{State: s, cfg: cfg, now: now, floor: now / 1000, ceil: (now + 999) / 1000}
	v.recount()
	v.expire()
	if n := len(s.Entries); n > 0 && v.last()/ticks > v.ceil && !v.early(s.Entries[n-1]) {
		return 0
	}
	return max(0, v.free())
}

// Lifetime is how long, in milliseconds from now, the ledger has to be kept when its configuration is kept for
// limiter ms (0: for ever): at least until its last grant has left the window. A ledger that went sooner would let the
// permits that are in use be granted again when the limiter is made anew.
func Lifetime(cfg Config, now, limiter, last int64) int64 {
	if limiter == 0 {
		return 0
	}
	return max(limiter, last/ticks-now/1000+cfg.Interval)
}
