package oracle

import (
	"cmp"
	"slices"
)

const (
	// Grain is the step, in microseconds, to which stores round the date of a
	// grant that is made at once.
	Grain = 1000

	// Second is one second of the store clock.
	Second = 1_000_000

	// horizon bounds every time and duration, so that no sum of a few of them
	// overflows. It is 36,000 years.
	horizon = 1 << 60

	// Permits are bounded as the limiter bounds them: 2^32 in one grant, 2^53 as
	// a rate. The sum of two billion grants still fits in 63 bits.
	grantMax, rateMax = 1 << 32, 1 << 53
)

// History is what happened to one limiter. The order of the events inside each
// slice does not matter; judging is fastest if grants are in the order of
// arrival. The judgements change nothing in it.
type History struct {
	Params   Params
	Changes  []Change
	Grants   []Grant
	Returns  []Return
	Releases []Release
	Claims   []Claim
}

// Params are the tolerances of the judgement. The zero value is useful.
type Params struct {
	// Look is how long after a change a promise made before it may still
	// stand, in microseconds. Zero means one second, negative means not at all.
	// A store that re-dates only when a waiter looks, not in the change itself,
	// needs two look periods.
	Look int64

	// Slack is how late a caller may go, in microseconds: ExactWent shortens
	// its windows by it. Zero is exact. With a slack of an interval or more,
	// ExactWent judges no window.
	Slack int64

	// Merge is how much later than its own date a store may keep a grant that it
	// merged with a neighbour, in microseconds. It widens what a release may
	// take and what a claim may say. Zero means that nothing is merged.
	Merge int64

	// List is how many violations a judgement lists; it counts them all.
	// Zero means 20.
	List int
}

// Grant is one grant of permits.
type Grant struct {
	Arrived int64  // when the store saw the request; grows in store order. Of equals the order is not known
	At      int64  // the (final) date of the grant: from here on the permits may be used
	Went    int64  // when the caller really went on; 0 is not recorded, and then At stands for it
	Permits int64  // at least 1
	ID      string // the receipt; empty is not recorded
	Who     string // the caller, for the reader of a report
	AtOnce  bool   // the caller was let go at Arrived, without a wait; false is "not known"
}

// Return gives back permits of one grant: a refund, or the cancel of a waiter.
// They count as never used.
type Return struct {
	At      int64
	ID      string
	Permits int64 // as many as the store really took back
}

// Release gives back permits without a receipt. It takes the oldest permits
// in the window at that moment, which count as never used from then on.
type Release struct {
	At      int64
	Permits int64 // as many as the store really took back
}

// Change is the configuration from a moment on: Rate permits per Interval.
type Change struct {
	At       int64
	Rate     int64
	Interval int64 // microseconds
	Reset    bool  // forget the grants dated before At
}

// Claim is what the store said was free. Free is negative while callers queue.
type Claim struct {
	At   int64
	Free int64
}

// immediate tells whether the grant can be taken as made at once.
func (g Grant) immediate() bool { return g.AtOnce || g.At-g.Arrived <= Grain }

// earliest is the moment before which the caller must not go.
func (g Grant) earliest() int64 {
	if g.immediate() {
		return g.Arrived
	}
	return g.At
}

// begin is the moment at which the grant passes others: its date, unless it is
// known to have gone before.
func (g Grant) begin() int64 {
	if g.AtOnce {
		return min(g.Arrived, g.At)
	}
	return g.At
}

// defaults fills in the parameters that were left out.
func (p Params) defaults() Params {
	switch {
	case p.Look == 0:
		p.Look = Second
	case p.Look < 0:
		p.Look = 0
	}
	if p.List == 0 {
		p.List = 20
	}
	return p
}

// record says what makes the history impossible to judge.
func record(h History) Findings {
	f := Findings{limit: h.Params.List}
	if len(h.Changes) == 0 {
		f.add(0, 0, "no configuration: the first change says the initial one")
	}
	inRange := func(ts ...int64) bool {
		return slices.MinFunc(ts, cmp.Compare[int64]) > -horizon && slices.Max(ts) < horizon
	}
	if p := h.Params; !inRange(p.Look, p.Slack, p.Merge) || p.Slack < 0 || p.Merge < 0 {
		f.add(0, 0, "impossible parameters %+v", p)
	}
	for _, c := range h.Changes {
		if c.Rate < 1 || c.Rate >= rateMax || c.Interval < 1 || !inRange(c.At, c.Interval) {
			f.add(0, c.At, "impossible configuration: %v", c)
		}
	}
	for i := range h.Grants {
		if g := &h.Grants[i]; g.Permits < 1 || g.Permits >= grantMax || !inRange(g.Arrived, g.At, g.Went) {
			f.add(0, g.At, "impossible grant: %v", *g)
		}
	}
	for _, r := range h.Returns {
		if r.Permits < 1 || r.Permits >= grantMax || !inRange(r.At) {
			f.add(0, r.At, "impossible return: %v", r)
		}
	}
	for _, r := range h.Releases {
		if r.Permits < 1 || r.Permits >= rateMax || !inRange(r.At) {
			f.add(0, r.At, "impossible release: %v", r)
		}
	}
	for _, c := range h.Claims {
		if !inRange(c.At, c.Free) {
			f.add(0, c.At, "impossible claim: %v", c)
		}
	}
	return f
}
