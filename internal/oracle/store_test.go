package oracle_test

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/sluice-rate/sluice/internal/oracle"
)

// store is a limiter that is right by construction, and slow: it keeps a ledger
// in the order of arrival and tries every date at which something leaves.
type store struct {
	rng     *rand.Rand
	round   bool  // dates up to the millisecond, expiry with now down
	atOnce  bool  // recorded; needed for resets where dates are rounded
	longest int64 // interval, in milliseconds
	now     int64
	config  oracle.Change
	ledger  []*entry
	h       oracle.History
}

// entry is what the ledger knows of the grant h.Grants[grant].
type entry struct {
	grant         int
	date, permits int64
	waits         bool
}

// story is the whole history of n steps of such a store.
type story struct {
	steps                    int
	round                    bool
	changes, returns, claims bool

	short bool // intervals of a few milliseconds, so that what is rounded matters
	twins bool // some arrive at one moment, and the record is in any order
}

func (y story) tell(rng *rand.Rand) oracle.History {
	s := &store{rng: rng, round: y.round, atOnce: rng.IntN(2) == 0, now: 1_000_000}
	s.h.Params = oracle.Params{Look: 1000 * (1 + rng.Int64N(20)), Slack: 1 + rng.Int64N(900)}
	if s.longest = 60; y.short {
		s.longest = 4
	}
	s.change(false)
	load := int64(2) << rng.IntN(4) // from a queue that only grows to hardly any
	for range y.steps {
		s.now += 1 + rng.Int64N(1+rng.Int64N(load*s.config.Interval/s.config.Rate))
		s.expire()
		switch p := rng.IntN(40); {
		case y.changes && p == 0:
			s.change(rng.IntN(3) == 0 && (s.atOnce || !s.round))
		case y.returns && p < 6:
			s.giveBack()
		case y.returns && p < 8:
			s.release()
		case p < 12:
			s.look()
		case y.claims && p < 16:
			s.claim()
		default:
			s.take(1 + rng.Int64N(min(3, s.config.Rate)))
			for y.twins && rng.IntN(3) == 0 {
				s.take(1 + rng.Int64N(min(3, s.config.Rate)))
			}
		}
	}
	s.leave()
	if y.twins {
		rng.Shuffle(len(s.h.Grants), func(i, j int) { s.h.Grants[i], s.h.Grants[j] = s.h.Grants[j], s.h.Grants[i] })
	}
	return s.h
}

func (s *store) up(t int64) int64 {
	if s.round {
		return (t + oracle.Grain - 1) / oracle.Grain * oracle.Grain
	}
	return t
}

func (s *store) down(t int64) int64 {
	if s.round {
		return t / oracle.Grain * oracle.Grain
	}
	return t
}

func (s *store) expire() {
	s.ledger = slices.DeleteFunc(s.ledger, func(e *entry) bool {
		return e.permits == 0 || e.date <= s.down(s.now)-s.config.Interval
	})
}

func (s *store) sum(ahead []*entry) (sum int64) {
	for _, e := range ahead {
		sum += e.permits
	}
	return sum
}

// due is the first date from from on at which n permits are free behind those
// ahead.
func (s *store) due(ahead []*entry, n, from int64) int64 {
	if len(ahead) > 0 {
		from = max(from, ahead[len(ahead)-1].date)
	}
	dates := []int64{from}
	for _, e := range ahead {
		dates = append(dates, max(from, e.date+s.config.Interval))
	}
	slices.Sort(dates)
	for _, t := range dates {
		used := n
		for _, e := range ahead {
			if e.date > t-s.config.Interval {
				used += e.permits
			}
		}
		if used <= s.config.Rate {
			return t
		}
	}
	panic("a grant larger than the rate")
}

func (s *store) take(n int64) {
	e := &entry{grant: len(s.h.Grants), permits: n, date: s.up(s.now)}
	queue := slices.ContainsFunc(s.ledger, func(e *entry) bool { return e.waits && e.date > s.now })
	if queue || s.sum(s.ledger)+n > s.config.Rate {
		e.waits, e.date = true, s.due(s.ledger, n, s.now)
	}
	s.ledger = append(s.ledger, e)
	s.h.Grants = append(s.h.Grants, oracle.Grant{
		Arrived: s.now, At: e.date, Permits: n, ID: fmt.Sprint(e.grant), AtOnce: s.atOnce && !e.waits,
	})
}

// redate moves the waiters that are due after now+Look, in their order.
func (s *store) redate() {
	soon := s.now + s.h.Params.Look
	for i, e := range s.ledger {
		if !e.waits || e.date <= soon {
			continue
		}
		if e.permits > s.config.Rate { // it cannot be served any more
			s.back(e, e.permits)
			continue
		}
		s.move(e, s.due(s.ledger[:i], e.permits, soon))
	}
}

func (s *store) move(e *entry, date int64) {
	e.date, s.h.Grants[e.grant].At = date, date
}

// look lets one waiter look: it alone may be moved to before now+Look.
func (s *store) look() {
	if len(s.ledger) == 0 {
		return
	}
	i := s.rng.IntN(len(s.ledger))
	if e := s.ledger[i]; e.waits && e.date > s.now && e.permits <= s.config.Rate {
		s.move(e, min(e.date, s.due(s.ledger[:i], e.permits, s.now)))
	}
}

func (s *store) change(reset bool) {
	c := oracle.Change{At: s.now, Rate: 3 + s.rng.Int64N(6), Interval: 1000 * (1 + s.rng.Int64N(s.longest)), Reset: reset}
	if s.rng.IntN(3) == 0 && s.config.Interval > 0 {
		c.Interval = s.config.Interval
	}
	if reset {
		s.ledger = slices.DeleteFunc(s.ledger, func(e *entry) bool { return !e.waits || e.date < s.now })
	}
	s.config = c
	s.h.Changes = append(s.h.Changes, c)
	s.redate()
	s.expire()
}

func (s *store) back(e *entry, n int64) {
	e.permits -= n
	s.h.Returns = append(s.h.Returns, oracle.Return{At: s.now, ID: s.h.Grants[e.grant].ID, Permits: n})
}

func (s *store) giveBack() {
	if len(s.ledger) > 0 {
		e := s.ledger[s.rng.IntN(len(s.ledger))]
		s.back(e, 1+s.rng.Int64N(e.permits))
		s.expire()
		s.redate()
	}
}

func (s *store) release() {
	want := 1 + s.rng.Int64N(3)
	left := want
	for _, e := range s.ledger {
		if !e.waits || e.date <= s.now {
			n := min(left, e.permits)
			e.permits, left = e.permits-n, left-n
		}
	}
	if left < want {
		s.h.Releases = append(s.h.Releases, oracle.Release{At: s.now, Permits: want - left})
		s.expire()
		s.redate()
	}
}

func (s *store) claim() {
	s.h.Claims = append(s.h.Claims, oracle.Claim{At: s.now, Free: s.config.Rate - s.sum(s.ledger)})
}

// leave lets most callers go, some of them late.
func (s *store) leave() {
	for i := range s.h.Grants {
		g := &s.h.Grants[i]
		from := g.At
		if g.AtOnce {
			from = g.Arrived
		}
		if s.rng.IntN(4) > 0 {
			g.Went = from + s.rng.Int64N(2)*s.rng.Int64N(s.h.Params.Slack+1)
		}
	}
}
