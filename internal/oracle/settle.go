package oracle

import (
	"slices"
	"sort"
)

// settle goes through returns, releases and claims in the order of time. It
// finds what each grant is worth in the end, what each release took, and what
// was given back that was not there.
//
// A return may ask for permits that a release has taken here. It gets nothing
// for them, and this alone is no violation: the store may have taken others
// (see doubt). If the store did give them twice, its next claim or the next
// full window tells. A waiter is cancelled all the same.
//
// Of events at one moment the returns come first, then the releases, then the
// claims; grants that arrived at that moment are there for all of them.
func (d *docket) settle() {
	s := newSettler(d)
	back := History{Returns: d.h.Returns, Releases: d.h.Releases, Claims: d.h.Claims}
	for _, e := range back.Events() {
		switch e := e.(type) {
		case Return:
			s.giveBack(e)
		case Release:
			s.release(e)
		case Claim:
			s.claim(e)
		}
	}
}

// settler is the store as it should be: what each grant still holds.
type settler struct {
	*docket
	held     []int64          // permits of each grant, less those returned or released so far
	returned []int64          // permits of each grant that came back by its receipt so far
	awaited  []int64          // permits of each grant that come back by its receipt later
	named    map[string]int32 // the first grant of each receipt
	head     int              // in byDate: all before it are out of the window or hold nothing
	wait     int64            // the longest from arrival to date
	longest  int64            // of all intervals

	// Up to doubtEnd, doubt is by how many permits what the store holds may
	// exceed held, since a release may have met other grants there: such as had
	// just left here. It cannot hold less, for here the oldest are taken first.
	doubt, doubtEnd int64
}

func newSettler(d *docket) *settler {
	d.once.limit, d.conserving.limit = d.h.Params.List, d.h.Params.List
	n := len(d.net)
	s := &settler{docket: d, held: slices.Clone(d.net), returned: make([]int64, n), awaited: make([]int64, n)}
	s.named = make(map[string]int32, len(d.h.Grants))
	for _, c := range d.configs {
		s.longest = max(s.longest, c.interval)
	}
	for i := range d.h.Grants {
		g := &d.h.Grants[i]
		s.wait = max(s.wait, g.At-g.Arrived)
		if g.ID == "" {
			continue
		}
		if first, ok := s.named[g.ID]; ok {
			d.once.add(6, g.Arrived, "granted twice: %v; and %v", d.h.Grants[first], *g)
			continue
		}
		s.named[g.ID] = int32(i)
	}
	for _, r := range d.h.Returns {
		if i, ok := s.named[r.ID]; ok {
			s.awaited[i] += r.Permits
		}
	}
	return s
}

// giveBack settles a return.
func (s *settler) giveBack(r Return) {
	i, ok := s.named[r.ID]
	if !ok {
		s.once.add(6, r.At, "%v: no such grant", r)
		return
	}
	g := &s.h.Grants[i]
	if r.At < g.Arrived {
		s.once.add(6, r.At, "%v: given back before it arrived: %v", r, *g)
	}
	if left := g.Permits - s.returned[i]; r.Permits > left {
		s.once.add(6, r.At, "%v: only %d permits had not yet come back of %v", r, left, *g)
	}
	s.returned[i] += r.Permits
	s.awaited[i] -= r.Permits
	n := min(r.Permits, s.held[i])
	s.held[i] -= n
	s.net[i] -= n
	s.stats.Returned += n
	s.cancelled[i] = s.returned[i] >= g.Permits && (s.cancelled[i] || r.At <= g.At)
}

// claim judges what the store said was free.
func (s *settler) claim(c Claim) {
	low, lower := s.edge(c.At)
	most := inForce(s.configs, c.At).rate - s.sum(low, c.At+s.wait, c.At)
	least := most - s.sum(lower, low, c.At)
	if c.At < s.doubtEnd {
		least -= s.doubt
	}
	if c.Free > most {
		s.conserving.add(2, c.At, "%v: minted %d permits: %d were free, by the grants dated after %d", c, c.Free-most, most, low)
	}
	if c.Free < least {
		s.conserving.add(2, c.At, "%v: lost %d permits: %d were free, by the grants dated after %d", c, least-c.Free, least, lower)
	}
}

// edge is where the window at the moment t begins: dates up to low are out of
// it. The store may count down to lower if it rounds or merges, or if a longer
// interval came before it had dropped what was out of the shorter one.
func (s *settler) edge(t int64) (low, lower int64) {
	c := inForce(s.configs, t)
	low = c.low(t)
	return low, min(low, max(c.reset, t-c.interval-max(t-floor(t), s.h.Params.Merge)))
}

// sum is what the grants dated in (low, high] that had arrived at the moment t
// still hold.
func (s *settler) sum(low, high, t int64) int64 {
	var sum int64
	for i := s.after(low); i < len(s.byDate) && s.byDate[i].at <= high; i++ {
		if m := s.byDate[i]; m.arrived <= t {
			sum += s.held[m.grant]
		}
	}
	return sum
}

// after is the place of the first grant dated after t.
func (s *settler) after(t int64) int {
	return sort.Search(len(s.byDate), func(i int) bool { return s.byDate[i].at > t })
}

// floor rounds t down to the grain.
func floor(t int64) int64 { return t - (t%Grain+Grain)%Grain }
