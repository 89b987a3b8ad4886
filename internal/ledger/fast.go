package ledger

// checkEvery is for how long, in microseconds, what a refusal has seen does for the refusals after it.
const checkEvery = 10_000

// refuseByHead refuses a request because of the oldest grant, if its return is what the request would have to wait for and that is
// too long. Most refusals need to know no more. It is the twin of that half of fast.lua; the other half gives the answers of Take.
//
// It holds when the configuration is as the caller believes, nobody waits, and no entry is dated ahead. That is looked at unless
// another refusal has done so just before: in a storm of refusals, one in ten milliseconds does. Within that time a
// change is not noticed; a refusal does no harm.
func (s *State) refuseByHead(cfg Config, now int64, believed Belief, r Request) (Answer, bool) {
	n := int64(r.Permits)
	if !s.Known || believed.Rate == 0 || s.Value < 0 || s.Value >= n || n > believed.Rate || len(s.Entries) == 0 {
		return Answer{}, false
	}
	head, ceil, interval := s.Entries[0], (now+999)/1000, believed.Interval
	wait := (head.Date()+interval)*1000 - now
	if head.Date() <= now/1000-interval || head.Date() > ceil || int64(head.Permits) < n-s.Value || wait <= r.MaxWait || s.has(r.Member) {
		return Answer{}, false
	}
	since := now - believed.Checked
	rests := since >= 0 && since < checkEvery
	if !rests && (believed.Config != cfg || s.Entries[len(s.Entries)-1].Date() > ceil) {
		return Answer{}, false
	}
	return Answer{Status: Refused, Wait: wait, Remaining: s.Value, Reset: interval * 1000}, true
}
