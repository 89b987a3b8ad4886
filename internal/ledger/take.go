package ledger

// Request asks for the permits of a member, to be had within MaxWait microseconds.
type Request struct {
	Member
	MaxWait int64
}

// Status says how a request fared.
type Status int

const (
	Refused Status = iota
	Granted
	TooMany // more permits than the rate: never
)

// Answer is the decision on a request. Times are microseconds from now.
type Answer struct {
	Status    Status
	Wait      int64 // until the date of the grant; for a refusal until the date that it would have had
	Remaining int64
	Reset     int64 // until the whole rate is free; for a refusal at the latest
}

// Take decides requests in order. It returns how many entries had to be put right.
func (s *State) Take(cfg Config, now int64, believed Belief, requests []Request) ([]Answer, int) {
	if len(requests) == 1 {
		if a, ok := s.refuseByHead(cfg, now, believed, requests[0]); ok {
			return []Answer{a}, 0
		}
	}
	v := open(s, cfg, now, believed)
	answers := make([]Answer, len(requests))
	for i, r := range requests {
		answers[i] = v.decide(r)
	}
	if v.wrote && cfg.Rate > maxGrants {
		v.compact()
	}
	v.close()
	return answers, v.healed
}

func (v *view) decide(r Request) Answer {
	n := int64(r.Permits)
	if n > v.cfg.Rate {
		return Answer{Status: TooMany}
	}
	for {
		score, wait := v.ceil*ticks, int64(0)
		if v.wait || v.free() < n {
			if score, found := v.scores[r.Member]; found {
				return v.again(score)
			}
			var ok bool
			if score, wait, ok = v.place(n); !ok {
				continue
			}
			if wait > r.MaxWait {
				return v.answer(Refused, wait)
			}
		}
		if v.purge() {
			continue // the value was wrong
		}
		v.wrote = true
		if score, found := v.scores[r.Member]; found {
			return v.again(score)
		}
		v.Add(score, r.Member)
		v.value -= n
		v.queue()
		return v.answer(Granted, wait)
	}
}

// again answers a take that has run before: it is not charged twice.
func (v *view) again(score int64) Answer {
	return v.answer(Granted, max(0, score/ticks*1000-v.now))
}

func (v *view) answer(status Status, wait int64) Answer {
	a := Answer{Status: status, Wait: wait, Reset: max(0, (v.end()+v.cfg.Interval)*1000-v.now)}
	if !v.wait {
		a.Remaining = max(0, v.free())
	}
	return a
}

// place finds the score for n permits that are not to be had now, and how long that is away: the first moment
// at which enough have returned, but not before the last of those who wait. It is not ok when the ledger had
// to be put right, and has to be asked anew.
func (v *view) place(n int64) (score, wait int64, ok bool) {
	if v.wait && !v.told {
		v.told = true
		// Nobody is first in line for longer than an interval, unless the store's clock was set back, or all
		// who stood before have left and no one of those behind has looked since.
		place := v.future()
		first := v.Entries[place]
		if first.movable() && first.Date() > v.floor+max(v.cfg.Interval, lookPeriod) {
			v.settle(nil, place, settleSlice, windowSlice)
			return 0, 0, false
		}
	}
	date := v.floor
	if v.free() < n {
		if date, ok = v.walk(n); !ok {
			return 0, 0, false
		}
		date += v.cfg.Interval
	}
	score = max(date, v.ceil) * ticks
	if v.wait && score <= v.last() {
		score = v.last() + 1 // behind the last in line; when the places of this millisecond are used up, in the next
	} else if date <= v.floor {
		return score, 0, true // it has expired, but lay beyond the slice
	}
	return score, score/ticks*1000 - v.now, true
}

// future is the position of the first entry that is dated after now.
func (v *view) future() int { return v.position((v.ceil+1)*ticks, Member{}) }
