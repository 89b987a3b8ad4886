package ledger

// Sight is where a reservation is now.
type Sight struct {
	Wait    int64 // microseconds until its date
	Gone    bool  // it is not in the ledger
	Settled bool  // the line is in order up to it, and it was so for those asked for before it
}

// Look sets the line in order from the earliest of these reservations on, and says where they are in it. They are the caller's, who
// looks at them now. It goes some way only: the caller asks again from there. A rate that differs from
// the one the caller believed in moves the whole line, however long it is.
func (s *State) Look(cfg Config, now int64, believed Belief, members []Member) ([]Sight, int) {
	v := open(s, cfg, now, believed)
	end := 0
	if v.wait {
		end = v.settleFor(members, believed)
	}
	v.close()
	settled := int64(-1) // the score up to which the line is in order
	if !v.wait {
		settled = maxDate * ticks
	} else if end > 0 {
		settled = v.Entries[end-1].Score
	}
	sights := make([]Sight, len(members))
	inOrder := 0
	for i, m := range members {
		score, found := v.scores[m]
		sights[i] = Sight{Wait: score/ticks*1000 - now, Gone: !found}
		if inOrder == i && (!found || score <= settled) {
			sights[i].Settled = true
			inOrder++
		}
	}
	return sights, v.healed
}

func (v *view) settleFor(members []Member, believed Belief) (end int) {
	mine := make(map[Member]bool, len(members))
	for _, m := range members {
		mine[m] = true
	}
	if believed.Rate > 0 && believed.Rate != v.cfg.Rate {
		return v.settle(mine, v.future(), len(v.Entries), len(v.Entries))
	}
	start := v.future()
	least, any := int64(maxDate*ticks), false
	for _, m := range members {
		if score, found := v.scores[m]; found {
			least, any = min(least, score), true
		}
	}
	if any {
		start = max(start, v.position(least, Member{}))
	}
	return v.settle(mine, start, settleSlice, windowSlice)
}
