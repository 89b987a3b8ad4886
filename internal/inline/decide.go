package inline

// Charge is so many permits under one limit, on its state: a copy of what is stored, to be stored if it was written to.
type Charge struct {
	State *State
	Limit Limit
	N     int64 // of one unit
	Wrote bool  // the state has changed

	opened  bool  // by the first of several looks or refunds
	setBack bool  // the clock was
	own     int64 // how long it would have to wait by itself
}

// open brings the state to now, once.
func (ch *Charge) open(c clock) {
	if !ch.opened {
		ch.opened = true
		ch.setBack = ch.State.open(ch.Limit, c)
	}
}

// Status is what became of a call.
type Status int64

// The statuses.
const (
	Refused Status = iota
	Granted
	TooMany // of Answer.Parts[Answer.Which]: more than the limit can ever give at once
	Gone    // looked for, and not there
)

// Answer is what was decided for a call. Times are in microseconds.
type Answer struct {
	Status Status
	Which  int
	Units  int64
	Wait   int64 // until the permits may be used, or could be had
	Parts  []Part
}

// Part is what was found for one charge.
type Part struct {
	Wait      int64 // until it could be had if it were alone
	Remaining int64
	Reset     int64
}

// Call asks for all its charges, or for none.
type Call struct {
	Charges []Charge
	Tag     Tag
	Units   int64 // as many times the charges as can be had at once, up to this; 0: once, within Patience
	// How long the caller waits, in microseconds.
	Patience int64
	AtLeast  int64 // it is not to have the permits sooner than this, in microseconds
	Peek     bool  // only say what the answer would be
}

// mostRounds bounds how long charges look for a moment that suits all. There is always one behind the last who waits, but lines of a
// thousand in windows that never fall together could make it a long way.
const mostRounds = 1000

// Take decides a call.
func (call *Call) Take(now int64) Answer {
	c := at(now)
	for i, ch := range call.Charges {
		if ch.N > ch.Limit.most() {
			return Answer{Status: TooMany, Which: i}
		}
	}
	for i := range call.Charges {
		call.Charges[i].open(c)
	}
	if a, again := call.again(c); again {
		if !call.Peek {
			call.mend(c)
		}
		return a
	}
	units := int64(1)
	if call.Units > 0 {
		units = max(1, min(call.Units, call.room(c)))
	}
	moment := call.settle(c, units)
	a := Answer{Status: Refused, Wait: moment - now}
	if a.Wait <= call.Patience && (a.Wait == 0 || call.Units == 0 && !call.crowded(c)) {
		a.Status, a.Units = Granted, units
		if !call.Peek {
			call.write(c, units, moment)
		}
	}
	a.Parts = call.parts(c)
	if !call.Peek {
		call.mend(c)
	}
	return a
}

// mend has the states stored that a clock which was set back had made wrong.
func (call *Call) mend(c clock) {
	for i := range call.Charges {
		if ch := &call.Charges[i]; ch.setBack && !ch.Wrote {
			ch.Wrote = true
			ch.State.close(ch.Limit, c)
		}
	}
}

// again is the answer to a call that has been granted before: its answer was lost, and it was sent again.
func (call *Call) again(c clock) (a Answer, found bool) {
	a = Answer{Status: Granted, Units: 1}
	for _, ch := range call.Charges {
		if i := ch.State.find(call.Tag); i >= 0 && ch.N > 0 {
			e := ch.State.Entries[i]
			a.Units, found = max(1, e.Permits/ch.N), true
			if e.Flags&Reserved != 0 {
				a.Wait = max(a.Wait, e.Date*1000-c.now)
			}
		}
	}
	if found {
		a.Parts = call.parts(c)
	}
	return a, found
}

// room is how many times the charges can be had now.
func (call *Call) room(c clock) int64 {
	units := call.Units
	for _, ch := range call.Charges {
		if ch.N > 0 {
			units = min(units, ch.State.free(ch.Limit, c)/ch.N)
		}
	}
	return units
}

// settle is the earliest moment at which all charges can be had; it notes for each how long it would have to wait by itself. What one of them
// allows the next may not, so it goes round until all agree.
func (call *Call) settle(c clock, units int64) (moment int64) {
	moment = c.now + call.AtLeast
	for i := range call.Charges {
		if ch := &call.Charges[i]; ch.N > 0 {
			own, _ := ch.State.place(ch.Limit, c, ch.N*units, c.now, len(ch.State.Entries), call.Patience > 0)
			ch.own = own - c.now
			moment = max(moment, own)
		}
	}
	agreed := len(call.Charges) == 1 && call.AtLeast == 0
	for rounds := 0; !agreed; rounds++ {
		if rounds == mostRounds {
			return c.never()
		}
		agreed = true
		for _, ch := range call.Charges {
			if ch.N > 0 {
				own, _ := ch.State.place(ch.Limit, c, ch.N*units, moment, len(ch.State.Entries), call.Patience > 0)
				agreed, moment = agreed && own == moment, own
			}
		}
	}
	return moment
}

// crowded reports whether as many wait already as can.
func (call *Call) crowded(c clock) bool {
	for _, ch := range call.Charges {
		if len(ch.State.Entries)-ch.State.pending(c) >= MostWaiting {
			return true
		}
	}
	return false
}

// write makes the grant.
func (call *Call) write(c clock, units, moment int64) {
	for i := range call.Charges {
		ch := &call.Charges[i]
		if ch.N == 0 {
			continue
		}
		ch.Wrote = true
		e := Entry{Permits: ch.N * units, Tag: call.Tag}
		ch.State.date(&e, ch.Limit, c, moment, moment-c.now == ch.own, len(ch.State.Entries))
		if ch.Limit.Kind == Bucket {
			ch.State.Debt += e.Permits * ch.Limit.Cost
		}
		ch.State.insert(ch.Limit, e)
		ch.State.close(ch.Limit, c)
	}
}

// date gives an entry its date and flags for a moment at which it is to be had.
func (s *State) date(e *Entry, l Limit, c clock, moment int64, bound bool, upto int) {
	e.Date, e.Flags = c.up, 0
	if moment > c.now {
		e.Date, e.Flags = ceilDiv(moment, 1000), Reserved
		if bound {
			e.Flags |= Bound
		}
	}
	if l.Kind == Fixed || l.Kind == Aligned {
		_, e.Date = s.placeFixed(l, c, e.Permits, moment, upto)
	}
}

func (call *Call) parts(c clock) []Part {
	parts := make([]Part, len(call.Charges))
	for i, ch := range call.Charges {
		parts[i] = Part{ch.own, ch.State.free(ch.Limit, c), ch.State.reset(ch.Limit, c)}
	}
	return parts
}

// Refund takes the call's grant out of all states, and says how many permits that frees.
func (call *Call) Refund(now int64) (freed int64) {
	c := at(now)
	for k := range call.Charges {
		ch := &call.Charges[k]
		s, l := ch.State, ch.Limit
		ch.open(c)
		i := s.find(call.Tag)
		if i < 0 {
			continue
		}
		ch.Wrote = true
		if l.Kind != Bucket {
			freed += s.remove(i).Permits
		} else {
			units := s.unspent(l, i, now)
			s.remove(i)
			debt := max(s.Debt-units, s.owed(s.pending(c), len(s.Entries))*l.Cost)
			freed += (s.Debt - debt) / l.Cost
			s.Debt = debt
		}
		s.close(l, c)
	}
	call.mend(c)
	return freed
}

// Look moves the call's reservation as far ahead as those in front of it allow now, and says how long that is away.
func (call *Call) Look(now int64) Answer {
	c := at(now)
	places := make([]int, len(call.Charges))
	a := Answer{Status: Gone}
	var date int64
	movable := true
	for i := range call.Charges {
		ch := &call.Charges[i]
		ch.open(c)
		if places[i] = ch.State.find(call.Tag); places[i] >= 0 {
			e := ch.State.Entries[places[i]]
			a.Status, date, movable = Granted, max(date, e.Date), movable && e.Flags&Reserved != 0
		}
	}
	defer call.mend(c)
	a.Wait = date*1000 - now
	if a.Status == Gone || !movable || date <= c.up {
		return a
	}
	moment := call.resettle(c, places)
	if moment >= date*1000 {
		return a
	}
	for i := range call.Charges {
		ch := &call.Charges[i]
		if places[i] < 0 {
			continue
		}
		ch.Wrote = true
		e := ch.State.remove(places[i])
		ch.State.date(&e, ch.Limit, c, moment, moment-c.now == ch.own, places[i])
		e.Flags |= Reserved
		ch.State.insert(ch.Limit, e)
		ch.State.close(ch.Limit, c)
	}
	a.Wait = moment - now
	return a
}

// resettle is settle for a reservation that is there, with those before it.
func (call *Call) resettle(c clock, places []int) (moment int64) {
	moment = c.up * 1000
	agreed := false
	for rounds := 0; !agreed; rounds++ {
		if rounds == mostRounds {
			return c.never()
		}
		agreed = true
		for i := range call.Charges {
			ch := &call.Charges[i]
			if places[i] < 0 {
				continue
			}
			own, _ := ch.State.place(ch.Limit, c, ch.State.Entries[places[i]].Permits, moment, places[i], true)
			if rounds == 0 {
				alone, _ := ch.State.place(ch.Limit, c, ch.State.Entries[places[i]].Permits, c.up*1000, places[i], true)
				ch.own = alone - c.now
			}
			agreed, moment = agreed && own == moment, own
		}
	}
	return moment
}
