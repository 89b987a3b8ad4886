// Package torture_test walks the arithmetic of the ledger through thousands of small random histories and has the oracle
// judge them. What the torture test of package redisengine finds once in a hundred thousand grants shows here in a
// second, always in the same way, and with the few steps that led to it.
package torture_test

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"sort"
	"testing"
	"time"

	"github.com/sluice-rate/sluice/internal/ledger"
	"github.com/sluice-rate/sluice/internal/oracle"
)

var (
	historySeed  = flag.Uint64("history.seed", 0, "seed of TestHistories; 0: by the clock")
	historyCount = flag.Int("history.count", 5000, "how many histories TestHistories tells")
)

// steps is how long a history is.
const steps = 400

// TestHistories has three processes take, wait, look, cancel and give back while the rate changes, and judges by the dates that the ledger
// gave: no window above the rate, nobody passed.
func TestHistories(t *testing.T) {
	seed := *historySeed
	if seed == 0 {
		seed = uint64(time.Now().UnixNano())
	}
	t.Logf("seed %d (repeat with -history.seed)", seed)
	count := *historyCount
	if testing.Short() {
		count /= 10
	}
	grants := 0
	for i := range uint64(count) {
		s := tell(seed, i, steps)
		grants += len(s.h.Grants)
		if len(s.violations()) == 0 {
			continue
		}
		short := sort.Search(steps, func(n int) bool { return len(tell(seed, i, n).violations()) > 0 })
		s = tell(seed, i, short)
		for _, line := range s.log {
			t.Log(line)
		}
		t.Fatalf("history %d breaks a law after %d steps: %v", i, short, s.violations())
	}
	t.Logf("%d grants in %d histories", grants, count)
}

// story is one history while it is told.
type story struct {
	rng    *rand.Rand
	now    int64 // microseconds
	config ledger.Config
	state  ledger.State
	procs  [3]process
	h      oracle.History
	log    []string

	granted []ledger.Member // of each grant of h, what has not been given back
}

// process is one that takes for several callers.
type process struct {
	believed ledger.Belief
	waiters  []*waiter // in the order of the line
	nextLook int64
}

// waiter is what a process knows of one who waits.
type waiter struct {
	ledger.Member
	firm          bool
	arrived, date int64
	seen          int64 // when the date was last confirmed
}

const (
	lookEvery  = 750_000
	lookPeriod = 1_000_000
	lookAtOnce = 3      // few, so that lines are looked at in parts
	mostInLine = 12     // of one process
	everyStep  = 20_000 // the longest time between two steps
	hour       = 3_600_000_000
	beginning  = 1_790_000_000_000_000
)

var rates = []ledger.Config{per(15, 1000), per(3, 1000), per(7, 500), per(5, 250), per(30, 2000), per(5, 20), per(25, 1000), per(8, 1000)}

func per(permits, milliseconds int64) ledger.Config {
	return ledger.Config{Rate: permits, Interval: milliseconds}
}

func tell(seed, n uint64, steps int) *story {
	s := &story{rng: rand.New(rand.NewPCG(seed, n)), now: beginning, config: rates[len(rates)-1]}
	s.h.Params.Look = lookPeriod + oracle.Grain
	s.h.Changes = []oracle.Change{{Rate: s.config.Rate, Interval: s.config.Interval * 1000}}
	for i := range s.procs {
		s.procs[i].nextLook = s.now + s.rng.Int64N(lookEvery)
	}
	for range steps {
		s.now += 1 + s.rng.Int64N(everyStep)
		for i := range s.procs {
			p := &s.procs[i]
			s.letGo(p)
			if p.nextLook <= s.now {
				s.look(p)
				p.nextLook = s.now + lookEvery
				s.letGo(p)
			}
		}
		p := &s.procs[s.rng.IntN(len(s.procs))]
		switch what := s.rng.IntN(100); {
		case what < 3:
			s.change()
		case what < 10:
			s.cancel(p)
		case what < 13 && n%2 == 0:
			s.refund(p)
		case what < 13: // not both in one history: of two grants of one millisecond the oracle does not know which is released
			s.release(p)
		case what < 60:
			s.take(p)
		}
	}
	return s
}

// since is a moment in milliseconds since the beginning.
func (s *story) since(t int64) float64 { return float64(t-beginning) / 1000 }

func (s *story) notef(format string, args ...any) {
	s.log = append(s.log, fmt.Sprintf("%10.3f ms: ", s.since(s.now))+fmt.Sprintf(format, args...))
}

func (s *story) take(p *process) {
	if len(p.waiters) >= mostInLine {
		return
	}
	n, patience, firm := 1+s.rng.Int64N(5), int64(0), false
	switch s.rng.IntN(8) {
	case 0: // no patience
	case 1:
		patience = s.rng.Int64N(lookPeriod)
	case 2: // a reservation; a date farther ahead would stand under a lower rate, too
		patience, firm = lookPeriod, true
	default:
		patience = hour
	}
	m := ledger.NewMember(n, time.Duration(patience)*time.Microsecond, firm)
	for i := 6; i < len(m.ID); i++ {
		m.ID[i] = byte(s.rng.Uint32()) // the same in each telling
	}
	answers, _ := s.state.Take(s.config, s.now, p.believed, []ledger.Request{{Member: m, MaxWait: patience}})
	p.believed.Rate = s.config.Rate
	a := answers[0]
	s.notef("take %d: status %d, wait %.3f ms", n, a.Status, float64(a.Wait)/1000)
	if a.Status != ledger.Granted {
		return
	}
	w := &waiter{Member: m, firm: firm, arrived: s.now, date: s.now + a.Wait, seen: s.now}
	if a.Wait > 0 {
		p.waiters = append(p.waiters, w)
	} else {
		s.goes(w)
	}
}

// goes notes a grant by the date under which the ledger keeps it: what is taken at once is kept at the end of its millisecond.
func (s *story) goes(w *waiter) {
	date := roundUp(w.date)
	s.h.Grants = append(s.h.Grants, oracle.Grant{
		Arrived: w.arrived, At: date, Permits: int64(w.Permits), ID: fmt.Sprintf("%x", w.ID), AtOnce: w.date == w.arrived,
	})
	s.granted = append(s.granted, w.Member)
}

func roundUp(t int64) int64 { return (t + oracle.Grain - 1) / oracle.Grain * oracle.Grain }

// letGo lets those go on whose turn has come, as far as the process may trust what it knows.
func (s *story) letGo(p *process) {
	for i := 0; i < len(p.waiters); {
		w := p.waiters[i]
		switch {
		case w.date > s.now:
			i++
		case !w.firm && w.date-w.seen > lookPeriod:
			s.look(p)
			i = 0
		default:
			s.goes(w)
			p.waiters = append(p.waiters[:i:i], p.waiters[i+1:]...)
		}
	}
}

func (s *story) look(p *process) {
	var asked []*waiter
	for _, w := range p.waiters {
		if !w.firm {
			asked = append(asked, w)
		}
	}
	for len(asked) > 0 {
		some := asked[:min(len(asked), lookAtOnce)]
		asked = asked[len(some):]
		members := make([]ledger.Member, len(some))
		for i, w := range some {
			members[i] = w.Member
		}
		sights, _ := s.state.Look(s.config, s.now, p.believed, members)
		p.believed.Rate = s.config.Rate
		for i, w := range some {
			w.seen = s.now
			if sights[i].Gone {
				s.remove(p, w)
			} else if date := s.now + sights[i].Wait; date != w.date {
				s.notef("a look moves the one of %.3f ms from %.3f to %.3f ms", s.since(w.arrived), s.since(w.date), s.since(date))
				w.date = date
			}
		}
	}
}

func (s *story) remove(p *process, w *waiter) {
	for i := range p.waiters {
		if p.waiters[i] == w {
			p.waiters = append(p.waiters[:i:i], p.waiters[i+1:]...)
			return
		}
	}
}

// change gives the limiter another rate, at a whole millisecond: what is dated in the millisecond of a reset is forgotten
// by it, and the oracle forgets by the microsecond.
func (s *story) change() {
	c := rates[s.rng.IntN(len(rates))]
	if c == s.config {
		return
	}
	s.now = roundUp(s.now)
	for i := range s.procs {
		s.letGo(&s.procs[i])
	}
	s.config = c
	to := oracle.Change{At: s.now, Rate: c.Rate, Interval: c.Interval * 1000, Reset: s.rng.IntN(5) == 0}
	s.notef("%v", to)
	s.state.Reconfigure(c, s.now, !to.Reset)
	if to.Reset {
		to.At++
	}
	s.h.Changes = append(s.h.Changes, to)
}

func (s *story) cancel(p *process) {
	if len(p.waiters) == 0 {
		return
	}
	w := p.waiters[s.rng.IntN(len(p.waiters))]
	s.notef("the one of %.3f ms leaves", s.since(w.arrived))
	s.state.GiveBack(s.config, s.now, p.believed, []ledger.Return{{Member: w.Member, Back: int64(w.Permits)}})
	s.remove(p, w)
}

// refund gives back one of the last grants, or a part of it; release some permits of the oldest.
func (s *story) refund(p *process) {
	if len(s.granted) == 0 {
		return
	}
	i := len(s.granted) - 1 - s.rng.IntN(min(10, len(s.granted)))
	m := s.granted[i]
	if m.Permits == 0 {
		return
	}
	n := 1 + s.rng.Int64N(int64(m.Permits))
	freed, _ := s.state.GiveBack(s.config, s.now, p.believed, []ledger.Return{{Member: m, Back: n}})
	s.granted[i].Permits -= uint32(n)
	s.notef("%d permits of the grant of %.3f ms come back: %d", n, s.since(s.h.Grants[i].Arrived), freed[0])
	if freed[0] > 0 {
		s.h.Returns = append(s.h.Returns, oracle.Return{At: s.now, ID: s.h.Grants[i].ID, Permits: freed[0]})
	}
}

func (s *story) release(p *process) {
	freed, _ := s.state.GiveBack(s.config, s.now, p.believed, []ledger.Return{{Back: 1 + s.rng.Int64N(5)}})
	s.notef("%d permits are released", freed[0])
	if freed[0] > 0 {
		s.h.Releases = append(s.h.Releases, oracle.Release{At: s.now, Permits: freed[0]})
	}
}

// violations is what the oracle finds. The line is in order to the millisecond: one who goes at once does so at the end of his.
func (s *story) violations() []oracle.Violation {
	line := s.h
	line.Grants = slices.Clone(s.h.Grants)
	for i := range line.Grants {
		line.Grants[i].AtOnce = false
	}
	return append(oracle.Exact(s.h).List, oracle.Fair(line).List...)
}
