package oracle

import (
	"cmp"
	"fmt"
	"slices"
	"sort"
)

// Exact judges law 1 by dates: no window of the store clock holds more permits
// than the rate. The package comment says what that means when the
// configuration changes. A grant dated before its arrival is a violation too,
// since it would leave the window before its time.
//
// It takes O(n log n).
func Exact(h History) Findings {
	d := open(h)
	if d.record.Count > 0 {
		return d.record
	}
	f, _ := d.exact()
	return f
}

// ExactWent judges law 1 by the moments at which callers really went on, with
// windows that are shortened by [Params].Slack. What was promised under a
// configuration may be used under it, so configurations are chosen by date as
// in Exact, and those of the moment of going come on top.
//
// A caller who goes early is a violation whatever the slack: before the date
// if it had to wait, before the arrival if it did not.
//
// Where Exact and Fair find nothing, ExactWent finds nothing if no caller is
// more than Slack late and none goes before its date, but for those that are
// recorded as AtOnce.
func ExactWent(h History) Findings {
	d := open(h)
	if d.record.Count > 0 {
		return d.record
	}
	f, _ := d.exactWent()
	return f
}

func (d *docket) exact() (Findings, sweep) {
	s := sweep{docket: d, begin: d.byDate, end: d.byDate}
	if !slices.Equal(d.begin, d.date) {
		s.begin = d.marks(d.begin)
	}
	f := Findings{limit: d.h.Params.List}
	for i := range d.h.Grants {
		if g := &d.h.Grants[i]; g.At < g.Arrived {
			f.add(1, g.Arrived, "dated %d before its arrival: %v", g.Arrived-g.At, *g)
		}
	}
	f.join(s.run())
	return f, s
}

func (d *docket) exactWent() (Findings, sweep) {
	f := Findings{limit: d.h.Params.List}
	went := slices.Clone(d.begin)
	for i := range d.h.Grants {
		g := &d.h.Grants[i]
		if g.Went == 0 {
			continue
		}
		if early := g.earliest() - g.Went; early > 0 {
			f.add(1, g.Went, "went %d early: %v", early, *g)
		}
		went[i] = g.Went
	}
	byWent := d.marks(went)
	s := sweep{docket: d, begin: byWent, end: byWent, slack: d.h.Params.Slack}
	f.join(s.run())
	return f, s
}

// sweep checks one window for each grant. The window that is checked at a
// grant ends where the grant begins, and holds the grants that begin up to
// there and whose end, plus the interval, is later.
type sweep struct {
	*docket
	begin, end []mark
	slack      int64

	windows int    // that were checked
	fullest Window // of these, by the share of the rate; one that was overfull, if any was
}

// Window is the half-open window [From, To), what it held and what it could
// hold.
type Window struct {
	From, To, Permits, Rate int64
}

// String gives the fill and the place of the window.
func (w Window) String() string {
	return fmt.Sprintf("%d of %d in [%d, %d)", w.Permits, w.Rate, w.From, w.To)
}

// run walks through the grants in the order in which they begin.
//
// What a window holds is all that has begun, less all that has ended before
// the window, less what was released of the rest. The subtraction is right
// since whatever ended before a window also began before it.
func (s *sweep) run() Findings {
	f := Findings{limit: s.h.Params.List}
	ended := make([]int64, len(s.end)+1) // ended[i]: the permits of the first i grants by end
	for i, m := range s.end {
		ended[i+1] = ended[i] + s.net[m.grant]
	}
	bites, place := s.bites()
	released := newTally(len(place))
	cuts := slices.Repeat([]int{-1}, len(s.configs))
	var begun int64
	newest := 0
	for i, m := range s.begin {
		begun += s.net[m.grant]
		for ; len(bites) > 0 && bites[0].at <= int64(i); bites = bites[1:] {
			released.add(place[bites[0].grant], bites[0].permits)
		}
		for newest+1 < len(s.configs) && s.configs[newest+1].from <= m.at {
			newest++
		}
		if s.net[m.grant] == 0 {
			continue // all returned: nobody used it
		}
		holds := func(config int, low int64) int64 {
			cut := s.cut(&cuts[config], low)
			return begun - ended[cut] - released.from(min(cut, len(place)))
		}
		if w, full := s.check(m, newest, holds); full {
			f.add(1, m.at, "%v: opened by %v; overfilled by %v", w, s.opener(w.From), s.h.Grants[m.grant])
		}
	}
	return f
}

// check judges the window that ends at a grant under each configuration that
// may have been the reason for it, the newest first, until one allows it.
// It returns the window of the one that allows it, or else of the one under
// which the excess is least.
func (s *sweep) check(m mark, newest int, holds func(config int, low int64) int64) (best Window, full bool) {
	since := max(m.arrived, s.date[m.grant]-s.h.Params.Look)
	for k := newest; k == newest || k >= 0 && s.configs[k].until >= since; k-- {
		c := s.configs[k]
		low := c.low(m.at) + s.slack
		if low >= m.at {
			return Window{}, false // the slack leaves nothing to judge
		}
		w := Window{From: low + 1, To: m.at + 1, Permits: holds(k, low), Rate: c.rate}
		if k == newest || w.Permits-w.Rate < best.Permits-best.Rate {
			best = w
		}
		if w.Permits <= w.Rate {
			break
		}
	}
	s.windows++
	if s.fullest.Rate == 0 || best.fill() > s.fullest.fill() {
		s.fullest = best
	}
	return best, best.Permits > best.Rate
}

func (w Window) fill() float64 { return float64(w.Permits) / float64(w.Rate) }

// cut is how many grants ended at or before low. It moves on from the last
// answer for the same configuration, as low only grows; -1 is no answer yet.
func (s *sweep) cut(last *int, low int64) int {
	if *last < 0 {
		*last = sort.Search(len(s.end), func(i int) bool { return s.end[i].at > low })
	}
	for *last < len(s.end) && s.end[*last].at <= low {
		*last++
	}
	return *last
}

// opener is the first grant, by end, of the window that begins at from.
func (s *sweep) opener(from int64) Grant {
	i := sort.Search(len(s.end), func(i int) bool { return s.end[i].at >= from })
	for i < len(s.end)-1 && s.net[s.end[i].grant] == 0 {
		i++
	}
	return s.h.Grants[s.end[i].grant]
}

// bites are what the releases took; at is here the place in s.begin from which
// on it matters: not before the release, and not before the grant has begun.
// With them comes the place by end of each grant. Both are empty if nothing was
// released.
func (s *sweep) bites() (bites []bite, place []int) {
	if len(s.taken) == 0 {
		return nil, nil
	}
	begins := make([]int, len(s.begin))
	for i, m := range s.begin {
		begins[m.grant] = i
	}
	for _, b := range s.taken {
		since := sort.Search(len(s.begin), func(i int) bool { return s.begin[i].at >= b.at })
		b.at = int64(max(since, begins[b.grant]))
		bites = append(bites, b)
	}
	slices.SortStableFunc(bites, func(a, b bite) int { return cmp.Compare(a.at, b.at) })
	place = make([]int, len(s.end))
	for i, m := range s.end {
		place[m.grant] = i
	}
	return bites, place
}
