package ledger

// Sight is where a reservation is now.
type Sight struct {
	Wait int64 // microseconds until its date
	Gone bool  // it is not in the ledger
}

// Look sets the line in order and says where the reservations of the caller, who looks at them now, are in it. A rate
// that differs from the one the caller believed in moves the whole line, however long it is.
func (s *State) Look(cfg Config, now int64, believed Belief, members []Member) ([]Sight, int) {
	v := open(s, cfg, now, believed)
	if v.wait {
		mine := make(map[Member]bool, len(members))
		for _, m := range members {
			mine[m] = true
		}
		v.settle(mine, v.reach(believed))
	}
	v.close()
	sights := make([]Sight, len(members))
	for i, m := range members {
		score, found := v.scores[m]
		sights[i] = Sight{Wait: score/ticks*1000 - now, Gone: !found}
	}
	return sights, v.healed
}

// reach is how many entries a look may read: all when the rate has changed, which is rare; else a slice.
func (v *view) reach(believed Belief) int {
	if believed.Rate > 0 && believed.Rate != v.cfg.Rate {
		return len(v.Entries)
	}
	return settleSlice
}
