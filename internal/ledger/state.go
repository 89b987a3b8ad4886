// Package ledger is the arithmetic of one limiter's ledger: state, request and the present moment in, new state and
// answer out. It does no I/O, reads no clock and holds no lock. The scripts of package redisengine are its twin, step
// by step; a test holds the two together.
//
// The ledger is a list of grants in the order of their dates. A grant counts against the rate from its date on, for
// one interval. Reservations are grants dated in the future. Beside the list lives a cached count of free permits, the
// value, which is the rate less the permits of all entries: it is negative while callers wait in line. The list is the
// authority; where the two disagree, the list wins.
//
// Dates are milliseconds. A grant made now is dated now rounded up, and what has left the window is judged by now
// rounded down, so the law of the window holds in real time. A date is kept with ten binary places, the score,
// which only order the entries of one millisecond: a reservation with date d may be used from d on, whatever its places.
package ledger

import "sort"

const (
	ticks   = 1 << 10 // score units a millisecond. 2^-10 ms is exact in a double for dates below 2^43
	maxDate = 1<<43 - 1

	// lookPeriod is how far ahead a date is a promise, in milliseconds: sluice.LookPeriod.
	lookPeriod = 1000

	maxGrants   = 2000 // a ledger with more grants than this is compacted …
	buckets     = 1000 // … to at most one entry for each 1/1000 of the interval …
	fresh       = 512  // … except for so many of the newest, which keep their receipts
	maxPermits  = 1<<32 - 1
	mergeSlice  = 3000 // entries that are merged in one step
	expirySlice = 2048 // expired entries that are taken out in one step
	healSlice   = 256  // entries that are searched at once for dates that cannot be …
	healBudget  = 1024 // … and about how many are put right in one step
	settleSlice = 250  // entries that one look sets in order …
	windowSlice = 2600 // … after it has read so many of the window before them
)

// Config is what the arithmetic needs of a limiter's configuration.
type Config struct {
	Rate     int64 // permits
	Interval int64 // milliseconds
}

// Belief is what a caller knows of a state from before. The zero value is that of one who sees it for the first time.
type Belief struct {
	Config        // under which it last saw the state: another rate means that the value was counted under another
	Checked int64 // when, in microseconds, a refusal to it last looked at the configuration and the whole state
}

// Entry is one grant.
type Entry struct {
	Score int64 // its date in 1/1024 ms
	Member
}

// Date is the moment from which the grant counts, in milliseconds.
func (e Entry) Date() int64 { return e.Score / ticks }

// State is the ledger and its value. The zero value is that of a limiter that has never been used.
type State struct {
	Value   int64
	Known   bool    // false: there is no value, count the ledger
	Entries []Entry // by score, then by member

	scores map[Member]int64
}

// sum is how many permits the entries hold.
func sum(entries []Entry) (permits int64) {
	for _, e := range entries {
		permits += int64(e.Permits)
	}
	return permits
}

// has reports whether there is such an entry.
func (s *State) has(m Member) bool {
	_, found := s.scores[m]
	return found
}

// position is where an entry of this score and member is, or belongs.
func (s *State) position(score int64, m Member) int {
	if n := len(s.Entries); n == 0 || s.Entries[n-1].before(score, m) {
		return n // nearly every entry is the newest
	}
	return sort.Search(len(s.Entries), func(i int) bool { return !s.Entries[i].before(score, m) })
}

func (e Entry) before(score int64, m Member) bool {
	return e.Score < score || e.Score == score && e.Member.less(m)
}

// Add puts an entry into the ledger; one with this member must not be there. The value is left as it is.
func (s *State) Add(score int64, m Member) {
	i := s.position(score, m)
	s.Entries = append(s.Entries, Entry{})
	copy(s.Entries[i+1:], s.Entries[i:])
	s.Entries[i] = Entry{score, m}
	if s.scores == nil {
		s.scores = make(map[Member]int64)
	}
	s.scores[m] = score
}

// remove takes an entry out and reports whether it was there. The value is left as it is.
func (s *State) remove(m Member) bool {
	score, found := s.scores[m]
	if !found {
		return false
	}
	i := s.position(score, m)
	s.Entries = append(s.Entries[:i], s.Entries[i+1:]...)
	delete(s.scores, m)
	return true
}

// removeFirst takes the n oldest entries out.
func (s *State) removeFirst(n int) {
	for _, e := range s.Entries[:n] {
		delete(s.scores, e.Member)
	}
	if s.Entries = s.Entries[n:]; len(s.Entries) == 0 {
		s.Entries = nil
	}
}

// removeRun takes the entries of these places out, up to but not including to.
func (s *State) removeRun(from, to int) {
	for _, e := range s.Entries[from:to] {
		delete(s.scores, e.Member)
	}
	s.Entries = append(s.Entries[:from], s.Entries[to:]...)
}

// Clear forgets everything.
func (s *State) Clear() { *s = State{} }
