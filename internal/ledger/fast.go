package ledger

// checkEvery is for how long, in microseconds, what a refusal has seen of the whole state does for the refusals after it.
const checkEvery = 10_000

// refuseByHead refuses a request because of the oldest grant, if its return is what the request would have to wait for and that is
// too long. Most refusals need to know no more. It is the twin of that half of fast.lua; the other half gives the answers of Take.
//
// It holds when nobody waits and no entry is dated ahead. That is looked at unless another refusal has done so just before:
// in a storm of refusals, one in ten milliseconds does. Within that time the wait can be too short, never too long.
func (s *State) refuseByHead(cfg Config, now int64, believed Belief, r Request) (Answer, bool) {
	n := int64(r.Permits)
	if !s.Known || believed.Rate != cfg.Rate || s.Value < 0 || s.Value >= n || n > cfg.Rate || len(s.Entries) == 0 {
		return Answer{}, false
	}
	head, ceil := s.Entries[0], (now+999)/1000
	wait := (head.Date()+cfg.Interval)*1000 - now
	if head.Date() <= now/1000-cfg.Interval || head.Date() > ceil || int64(head.Permits) < n-s.Value || wait <= r.MaxWait || s.has(r.Member) {
		return Answer{}, false
	}
	if since := now - believed.Checked; (since < 0 || since >= checkEvery) && s.Entries[len(s.Entries)-1].Date() > ceil {
		return Answer{}, false
	}
	return Answer{Status: Refused, Wait: wait, Remaining: s.Value, Reset: cfg.Interval * 1000}, true
}
