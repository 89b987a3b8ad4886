package ledger

// refuseByHead refuses a request because of the oldest grant, if its return is what the request would have to wait for and that is
// too long. Most refusals need to know no more, so it looks at nothing else: it is the twin of that half of fast.lua. The other
// half gives the answers of Take.
//
// Nobody waits while the value is not negative, except that some who waited have just left and those behind have not moved
// up yet: then the wait is the shortest that it can be.
func (s *State) refuseByHead(cfg Config, now, believed int64, r Request) (Answer, bool) {
	n := int64(r.Permits)
	if !s.Known || believed != cfg.Rate || s.Value < 0 || s.Value >= n || n > cfg.Rate || len(s.Entries) == 0 {
		return Answer{}, false
	}
	head := s.Entries[0]
	wait := (head.Date()+cfg.Interval)*1000 - now
	if head.Date() <= now/1000-cfg.Interval || head.Date() > (now+999)/1000 || int64(head.Permits) < n-s.Value || wait <= r.MaxWait {
		return Answer{}, false
	}
	if _, found := s.scores[r.Member]; found {
		return Answer{}, false
	}
	return Answer{Status: Refused, Wait: wait, Remaining: s.Value, Reset: cfg.Interval * 1000}, true
}
