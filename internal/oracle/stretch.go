package oracle

import (
	"cmp"
	"slices"
	"sort"
)

const (
	always = -2 * horizon // before every time
	never  = 2 * horizon  // after every time
)

// stretch is a span [from, until) of constant configuration.
type stretch struct {
	from, until    int64 // the first begins always, the last ends never
	rate, interval int64
	reset          int64 // dates up to here were forgotten by a Reset at or before from
	gone           int64 // dates up to here had left the window before from: the ledger has dropped them
}

// stretches turns the changes, in any order, into stretches without gaps.
//
// gone is the highest date that had left under an earlier stretch. Under one
// of interval i that ended at e, dates up to e-i had left. They stay gone
// under every later stretch, so gone never falls.
func stretches(changes []Change) []stretch {
	changes = slices.Clone(changes)
	slices.SortStableFunc(changes, func(a, b Change) int { return cmp.Compare(a.At, b.At) })
	all := make([]stretch, len(changes))
	for i, c := range changes {
		s := stretch{from: always, until: never, rate: c.Rate, interval: c.Interval, reset: always, gone: always}
		if i > 0 {
			last := &all[i-1]
			last.until = c.At
			s.from, s.reset = c.At, last.reset
			if c.Reset {
				s.reset = c.At - 1
			}
			s.gone = max(last.gone, s.reset, c.At-last.interval)
		}
		all[i] = s
	}
	return all
}

// low is the highest date that is no longer in the window at the moment t, if
// this is the configuration in force.
func (s stretch) low(t int64) int64 { return max(s.gone, t-s.interval) }

// inForce is the stretch at the moment t. Of changes at one moment the last wins.
func inForce(all []stretch, t int64) stretch {
	after := sort.Search(len(all), func(i int) bool { return all[i].from > t })
	return all[after-1] // the first begins always
}
