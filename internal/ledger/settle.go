package ledger

// movable reports whether an entry is a reservation whose owner keeps looking where it is.
func (e Entry) movable() bool { return e.Own() && !e.firm() && e.patience() > 0 }

// settle sets a part of the line in order: it goes through count entries from the place start on, and dates each reservation at the
// earliest moment at which the window has room for it, in their order. So they move up into what was freed before its
// time, and back when the rate was lowered. What lies before start stays as it is.
//
// A date that came nearer than its owner can learn of would be used late, and then the grants of two windows would
// fall into one. So a date within the look period is a promise and stays; a later one does not move into that period.
// Those that are looking now (mine) learn of it at once: theirs may be moved to as early as now.
//
// What can no longer be had is taken out: more permits than the rate, or a date that its owner would not wait
// for. The owner finds it gone and asks anew. If those behind the part would have to move back with it, or the window
// before it holds more than context entries, nothing changes. It says up to which place the line is in order.
func (v *view) settle(mine map[Member]bool, start, count, context int) (end int) {
	from := v.ceil
	if start > 0 {
		from = max(from, v.date(v.Entries[start-1]))
	}
	begin := v.position((from-v.cfg.Interval+1)*ticks, Member{})
	if start-begin > context {
		return start
	}
	end = min(len(v.Entries), start+count)
	s := sweep{interval: v.cfg.Interval}
	for _, e := range v.Entries[begin:start] {
		s.put(e)
	}
	var moves []Entry
	var out []Member
	for _, e := range v.Entries[start:end] {
		promised := e.Date() <= v.ceil+lookPeriod
		if e.Date() <= v.ceil || !e.movable() || promised && !mine[e.Member] {
			s.put(e)
			continue
		}
		date := v.ceil
		if !mine[e.Member] {
			date += lookPeriod
		}
		if int64(e.Permits) > v.cfg.Rate {
			out = append(out, e.Member)
			continue
		}
		before := s
		date = s.room(max(date, s.last/ticks), v.cfg.Rate-int64(e.Permits))
		if promised && date > e.Date() {
			date, s = e.Date(), before // it stays, and so does all that is in the window at that moment
		}
		if date > v.floor+e.patience() {
			out, s = append(out, e.Member), before
			continue
		}
		if date != e.Date() || e.Score <= s.last {
			e.Score = max(date*ticks, s.last+1)
			moves = append(moves, e)
		}
		s.put(e)
	}
	if end < len(v.Entries) && s.last >= v.Entries[end].Score {
		return start
	}
	var freed int64
	for _, m := range out {
		v.remove(m)
		freed += int64(m.Permits)
	}
	for _, e := range moves {
		v.remove(e.Member)
		v.Add(e.Score, e.Member)
	}
	v.credit(freed)
	v.queue()
	return end - len(out)
}

// sweep is a window that slides along the entries as they are put into it, in order.
type sweep struct {
	interval int64
	entries  []Entry
	first    int   // the oldest entry that is still held
	held     int64 // permits from there on
	last     int64 // score of the newest
}

func (s *sweep) put(e Entry) {
	s.entries = append(s.entries, e)
	s.held += int64(e.Permits)
	s.last = max(s.last, e.Score)
}

// room is the earliest moment from date on at which no more than keep permits are held.
func (s *sweep) room(date, keep int64) int64 {
	for ; s.first < len(s.entries); s.first++ {
		e := s.entries[s.first]
		if s.held <= keep && e.Date() > date-s.interval {
			break
		}
		if s.held > keep {
			date = max(date, e.Date()+s.interval)
		}
		s.held -= int64(e.Permits)
	}
	return date
}
