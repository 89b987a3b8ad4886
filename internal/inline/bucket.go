package inline

import "math"

// leak lets flow back what does until now. The debt never falls below what pending reservations have taken: their permits are in
// use only from their date on, and if the bucket were full then it would hold more than the burst together with them.
func (s *State) leak(l Limit, now int64) {
	if s.Cost != l.Cost && s.Cost != 0 { // another rate: as many permits are used as before
		s.Debt = int64(math.Ceil(float64(s.Debt) / float64(s.Cost) * float64(l.Cost)))
	}
	s.Cost = l.Cost
	first := s.from(s.Mark/1000 + 1)
	owed := s.owed(first, len(s.Entries))
	most := l.room() // after a smaller burst
	if owed > 0 {
		away := max(0, s.Entries[len(s.Entries)-1].Date*1000-s.Mark)/l.Tick + 1
		most += min(away, mostDebt/l.Leak) * l.Leak
	}
	s.Debt = min(s.Debt, most)
	for i := first; i < len(s.Entries) && s.Entries[i].Date*1000 <= now; i++ {
		if e := s.Entries[i]; e.Flags&Reserved != 0 {
			s.flow(l, e.Date*1000)
			s.Debt = max(s.Debt, owed*l.Cost)
			owed -= e.Permits
		}
	}
	s.flow(l, now)
	s.Debt = max(s.Debt, owed*l.Cost)
}

// owed is the permits of the reservations i to j, without j.
func (s *State) owed(i, j int) (n int64) {
	for _, e := range s.Entries[i:j] {
		if e.Flags&Reserved != 0 {
			n += e.Permits
		}
	}
	return n
}

// flow lets the debt flow back until a moment. What is less than a tick is kept for the next time.
func (s *State) flow(l Limit, until int64) {
	ticks := max(0, until-s.Mark) / l.Tick
	s.Mark += ticks * l.Tick
	if ticks >= l.ticks(s.Debt) {
		s.Debt = 0
	} else {
		s.Debt -= ticks * l.Leak
	}
}

// unspent is how many units the debt falls if the grant at a place had never been: its cost less what has flowed back for nothing, as
// the bucket would have been full without it. So it is at most the least debt before each later grant, and now.
func (s *State) unspent(l Limit, place int, now int64) int64 {
	e := s.Entries[place]
	cost := e.Permits * l.Cost
	if e.Flags&Reserved != 0 && e.Date*1000 > now {
		return min(cost, s.Debt)
	}
	taken := e.Date * 1000
	if e.Flags&Reserved == 0 {
		taken -= 999 // its date is rounded up
	}
	least, debt, from := s.Debt, s.Debt, s.Mark
	first := place // of those of its millisecond: a reservation among them is used later than what was taken at once
	for first > 0 && s.Entries[first-1].Date == e.Date {
		first--
	}
	for i := len(s.Entries) - 1; i >= first; i-- {
		if i == place || i < place && s.Entries[i].Flags&Reserved == 0 {
			continue
		}
		later := s.Entries[i]
		if later.Flags&Reserved != 0 { // when it was taken is not known: assume that all that time flowed back for nothing
			passed := l.ticks(cost)
			if ticks := max(0, now-taken) / l.Tick; ticks < passed {
				passed = ticks
			}
			return min(max(0, cost-passed*l.Leak), s.Debt)
		}
		debt += max(0, from-later.Date*1000) / l.Tick * l.Leak
		from = min(from, later.Date*1000)
		debt -= later.Permits * l.Cost
		least = min(least, debt)
	}
	return max(0, min(cost, least))
}
