package interop

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/sluice-rate/sluice/internal/oracle"
)

// A use is a grant as it happened, by Redis' clock in microseconds.
type use struct {
	at      int64 // from when on the permits were used
	gone    int64 // from when on nobody counted them any more; right is one interval later
	permits int64
	who     int // the number of Go's process; or one of these
}

const (
	byJava    = -1
	byAcquire = -2 // of some process of Go: Acquire does not say its receipt
)

const intervalMicros = int64(loadInterval / time.Microsecond)

// early is by how much a use was forgotten before its time.
func (u use) early() int64 { return u.at + intervalMicros - u.gone }

// history is what a run came to.
type history struct {
	uses    []use // in the order of time
	back    int   // reservations that were given back
	untold  int   // entries of Go's for which its processes have no record, but what Acquire took
	skewed  int64 // permits that Java took out of the ledger early, since its clock was ahead
	lagging int64 // permits of Java that left early, since it read its clock long before Redis ran its script
	faults  []string
}

// historyOf puts together what the monitor saw from a moment on, and what the processes say.
//
// A grant of Java's is used when its script runs, and one of ours at once when it was decided, or at its reservation's date. It should be gone one
// interval later. It is gone before that for two reasons, which are Java's:
//
//   - Java dates its grant with the clock that it read before it sent the request. Everybody counts by that date.
//   - Java takes out what its own clock says is past, so with a fast clock what is not: whoever made it.
//
// Each is checked entry by entry, by the date that Java gave and by the clock that it said when it took the entry out. All else that leaves early
// is a fault of ours.
func historyOf(r *replay, parts []part, begin int64) *history {
	h := &history{}
	told := make(map[string]use)
	untold := 0
	for i, p := range parts {
		untold -= p.acquired
		for _, g := range p.takes {
			if _, twice := told[g.id]; twice {
				h.fault("two grants with the receipt %x", g.id)
			}
			told[g.id] = use{at: g.date, permits: g.permits, who: i}
		}
	}
	for _, e := range r.all {
		if e.added < begin {
			continue
		}
		u, known := told[e.id()]
		delete(told, e.id())
		switch {
		case e.java:
			u = use{at: e.added, permits: e.permits, who: byJava}
		case known && u.permits != e.permits:
			h.fault("%d permits in the ledger, but %d for the caller of %x", e.permits, u.permits, e.id())
		case !known && e.removed > 0 && !e.byJava && e.removed < micros(e.date)+intervalMicros:
			h.back++ // its caller has left
			continue
		case !known: // a caller of Acquire; from when on is known to a millisecond, and this is the latest
			u = use{at: micros(e.date), permits: e.permits, who: byAcquire}
			untold++
		}
		if late := u.at - micros(e.date); !e.java && late < -oracle.Grain {
			h.fault("%x was used %d µs before its date in the ledger", e.id(), -late)
		} else if !e.java && late > 0 {
			h.fault("%x is dated %d µs too early in the ledger", e.id(), late)
		}
		u.gone = h.gone(e, u)
		h.uses = append(h.uses, u)
	}
	for id := range told {
		h.fault("the receipt %x is not in the ledger", id)
	}
	h.untold = untold
	slices.SortFunc(h.uses, func(a, b use) int { return cmp.Compare(a.at, b.at) })
	return h
}

func (h *history) fault(format string, args ...any) {
	h.faults = append(h.faults, fmt.Sprintf(format, args...))
}

// micros is a date of the ledger without the parts that only order entries.
func micros(date float64) int64 { return int64(math.Floor(date)) * 1000 }

// gone is from when on an entry is not counted, for the reasons that are Java's.
func (h *history) gone(e *entry, u use) int64 {
	gone := u.at + intervalMicros
	dated := micros(e.date) + intervalMicros
	if e.java && dated < gone {
		if e.first > e.date {
			h.fault("we pulled an entry of Java's back by %v ms, to before it was made", e.first-e.date)
		} else {
			gone = max(dated, u.at+1)
			h.lagging += u.permits
		}
	}
	if e.removed == 0 || e.removed >= gone {
		return gone
	}
	// Java's clock shows whole milliseconds.
	if e.byJava && micros(e.date)+intervalMicros <= e.clock*1000 {
		h.skewed += u.permits
		return e.removed
	}
	h.fault("an entry of %d was taken out %d µs too early: by Java %v, whose clock said %d; dated %v", u.who, gone-e.removed, e.byJava, e.clock, e.date)
	return gone
}

// rightly is when a use should be gone, and really when it was.
func rightly(u use) int64 { return u.at + intervalMicros }
func really(u use) int64  { return u.gone }

// above is how many permits more than the rate are in use at once at most, and how often it is more, when each counts until gone.
func above(uses []use, gone func(use) int64) (most int64, windows int) {
	leaving := slices.Clone(uses)
	slices.SortFunc(leaving, func(a, b use) int { return cmp.Compare(gone(a), gone(b)) })
	var held int64
	for _, u := range uses {
		held += u.permits
		for len(leaving) > 0 && gone(leaving[0]) <= u.at {
			held -= leaving[0].permits
			leaving = leaving[1:]
		}
		if held > loadRate {
			windows++
			most = max(most, held-loadRate)
		}
	}
	return most, windows
}

// exact asks the oracle the same, which knows nothing of this.
//
// The oracle has one interval for all. So it gets the shortest that any use counted for, and each use is dated later by as much as it counted for
// longer; with AtOnce the window that ends with a use still ends when it happened.
func exact(uses []use, gone func(use) int64) oracle.Findings {
	shortest := intervalMicros
	for _, u := range uses {
		shortest = max(1, min(shortest, gone(u)-u.at))
	}
	h := oracle.History{
		Params:  oracle.Params{List: 5},
		Changes: []oracle.Change{{Rate: loadRate, Interval: shortest}},
	}
	for _, u := range uses {
		h.Grants = append(h.Grants, oracle.Grant{
			Arrived: u.at, At: max(u.at, gone(u)-shortest), Permits: u.permits, AtOnce: true, Who: fmt.Sprint(u.who),
		})
	}
	return oracle.Exact(h)
}

// forgotten is how many permits of a window were not counted any more when it ended, at most.
func forgotten(uses []use) (most int64) {
	early := slices.DeleteFunc(slices.Clone(uses), func(u use) bool { return u.early() <= 0 })
	leaving := slices.Clone(early)
	slices.SortFunc(early, func(a, b use) int { return cmp.Compare(a.gone, b.gone) })
	var held int64
	for _, u := range uses {
		for ; len(early) > 0 && early[0].gone <= u.at; early = early[1:] {
			held += early[0].permits
		}
		for ; len(leaving) > 0 && rightly(leaving[0]) <= u.at; leaving = leaving[1:] {
			held -= leaving[0].permits
		}
		most = max(most, held)
	}
	return most
}
