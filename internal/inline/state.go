package inline

import (
	"slices"
	"sort"
)

const (
	mostEntries = 500 // of a sliding window; beyond it all but the newest are merged
	fresh       = 100 // that are not merged
	buckets     = 250 // parts of the interval, of which each is merged into one entry
	mostOthers  = 32  // of the other kinds, which need entries for receipts and reservations only
	freshOthers = 16
	mostMerged  = 1 << 40 // permits of one merged entry

	// MostWaiting is how many reservations one state holds. Further callers who would have to wait are refused.
	MostWaiting = 1000
)

// Tag is what a state keeps of a receipt. Forty random bits: of two callers with grants in the same window one in 10^12 has the tag of the
// other, and is then taken for a repeat of it.
type Tag [5]byte

// TagOf is the tag of a receipt's ID: of its random part.
func TagOf(id [16]byte) Tag { return Tag(id[11:]) }

// The flags of an entry.
const (
	Reserved = 1 << iota // it was dated in the future when it was made
	Bound                // it is this limit that it waits for, so those who come later stay behind it
	Merged               // several grants in one, without a tag
)

// Entry is a grant. Its date is from when on it counts; of a fixed window, when the window begins.
type Entry struct {
	Date    int64
	Permits int64
	Flags   uint8
	Tag     Tag
}

// State is what is stored for one limit of one key. The zero value is that of a key that nobody has used.
type State struct {
	Entries []Entry // oldest first
	Sum     int64   // their permits; not kept for a bucket
	Written int64   // when it was last written, in milliseconds; counts only while an entry is Reserved

	// Of a bucket: the units that were taken and have not flowed back, at the moment Mark in microseconds, when a permit cost Cost.
	Debt, Mark, Cost int64
}

// Empty reports whether the state is that of a key that nobody has used.
func (s *State) Empty() bool { return len(s.Entries) == 0 && s.Debt == 0 }

// clock is one moment: in microseconds, and in milliseconds rounded down and up. A grant is dated up, and what is over
// is judged with down, so that the law of the window holds in real time and not only in milliseconds.
type clock struct{ now, down, up int64 }

func at(now int64) clock { return clock{now, now / 1000, ceilDiv(now, 1000)} }

// open brings a copy of the state to now: what a store clock that was set back makes wrong, grants that no longer count, what has flowed
// back. What is stored stays as it is unless the call writes, for another limit may see it otherwise. Only when the clock was set back, which open
// reports, it has to be stored in any case, or else it would be set back again and again until the clock has caught up.
func (s *State) open(l Limit, c clock) (setBack bool) {
	ahead := s.ahead(l, c)
	if ahead > 0 {
		s.Entries = slices.Clone(s.Entries)
		for i := range s.Entries {
			s.Entries[i].Date -= ahead
		}
		s.Mark, s.Written = min(s.Mark, c.now), min(s.Written, c.up)
	}
	if l.Kind == Bucket {
		s.leak(l, c.now)
	}
	gone := 0
	for gone < len(s.Entries) && s.Entries[gone].Date <= c.down-l.life() {
		s.Sum -= s.Entries[gone].Permits
		gone++
	}
	s.Entries = s.Entries[gone:]
	return ahead > 0
}

// ahead is by how many milliseconds the state's last moment lies ahead of now: the store's clock has been set back, or another
// server with a slower clock has taken over. The state moves back with it: nothing is forgotten and nobody locked out.
func (s *State) ahead(l Limit, c clock) int64 {
	last := int64(0)
	for i := len(s.Entries) - 1; i >= 0; i-- {
		e := &s.Entries[i]
		if e.Flags&Reserved == 0 {
			last = max(last, e.Date)
			break
		}
		if l.Kind != Bucket {
			last = max(last, s.Written)
		}
	}
	by := last - c.up
	if by < l.unit() {
		by = 0
	}
	if l.Kind == Bucket {
		by = max(by, ceilDiv(max(0, s.Mark-c.now), 1000))
	}
	return by
}

// find is the place of the entry of a tag; -1 when there is none.
func (s *State) find(t Tag) int {
	for i := len(s.Entries) - 1; i >= 0; i-- {
		if s.Entries[i].Tag == t && s.Entries[i].Flags&Merged == 0 {
			return i
		}
	}
	return -1
}

// from is the place of the first entry that is dated d or later.
func (s *State) from(d int64) int {
	if n := len(s.Entries); n == 0 || s.Entries[n-1].Date < d {
		return n
	}
	return sort.Search(len(s.Entries), func(i int) bool { return s.Entries[i].Date >= d })
}

// sum is the permits of the entries i to j, without j.
func (s *State) sum(i, j int) (n int64) {
	for _, e := range s.Entries[i:j] {
		n += e.Permits
	}
	return n
}

// pending is the place of the first reservation whose date has not come.
func (s *State) pending(c clock) int { return s.from(c.up + 1) }

// barrier is the date of the last of the entries before a place who waits for this limit; 0 if nobody does.
func (s *State) barrier(c clock, upto int) int64 {
	for i := upto - 1; i >= 0 && s.Entries[i].Date > c.up; i-- {
		if s.Entries[i].Flags&Bound != 0 {
			return s.Entries[i].Date
		}
	}
	return 0
}

// insert puts an entry behind those of its date and earlier ones.
func (s *State) insert(l Limit, e Entry) {
	if e.Flags&Reserved == 0 {
		e.Date = s.round(l, e.Date)
	}
	i := s.from(e.Date + 1)
	s.Entries = slices.Insert(s.Entries, i, e)
	s.Sum += e.Permits
}

// round makes a date a whole number of units, up, from the first entry's. Among reservations all dates are exact, since their owners know
// them.
func (s *State) round(l Limit, date int64) int64 {
	unit := l.unit()
	if unit == 1 || len(s.Entries) == 0 || s.owed(0, len(s.Entries)) > 0 {
		return date
	}
	first := s.Entries[0].Date
	if date < first {
		return first - (first-date)/unit*unit
	}
	return first + ceilDiv(date-first, unit)*unit
}

func (s *State) remove(i int) Entry {
	e := s.Entries[i]
	s.Entries = slices.Delete(s.Entries, i, i+1)
	s.Sum -= e.Permits
	return e
}

// close bounds the state after a write.
func (s *State) close(l Limit, c clock) {
	s.Written = c.up
	for i := range s.Entries { // another unit may have been in force
		s.Entries[i].Date = s.round(l, s.Entries[i].Date)
	}
	switch over := min(len(s.Entries), s.pending(c)); {
	case l.Kind == Sliding && len(s.Entries) > mostEntries:
		s.merge(min(over, len(s.Entries)-fresh), ceilDiv(l.Interval, buckets))
	case l.Kind == Bucket && over > mostOthers:
		s.Entries = s.Entries[over-freshOthers:] // what they took is in the debt
	case (l.Kind == Fixed || l.Kind == Aligned) && over > mostOthers:
		s.merge(over-freshOthers, 1)
	}
}

// merge makes one entry of all in the same part of the given width, among the oldest. It carries the latest date, so permits come back late, never early.
func (s *State) merge(oldest int, width int64) {
	kept := s.Entries[:0:0]
	for i := 0; i < oldest; {
		e, j := s.Entries[i], i+1
		for ; j < oldest && s.Entries[j].Date/width == e.Date/width && e.Permits+s.Entries[j].Permits <= mostMerged; j++ {
			e = Entry{Date: s.Entries[j].Date, Permits: e.Permits + s.Entries[j].Permits, Flags: Merged}
		}
		kept = append(kept, e)
		i = j
	}
	s.Entries = append(kept, s.Entries[oldest:]...)
}

// Life is for how many milliseconds the state has to be kept.
func (s *State) Life(l Limit, now int64) int64 {
	c := at(now)
	last := int64(0)
	if n := len(s.Entries); n > 0 {
		last = s.Entries[n-1].Date
	}
	if l.Kind == Bucket {
		return ceilDiv(s.Mark+l.ticks(s.Debt)*l.Tick-now, 1000) + max(0, last-c.down) + 1
	}
	return max(1, last+l.Interval-c.down)
}
