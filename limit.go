package sluice

import (
	"fmt"
	"strings"
	"time"

	"github.com/sluice-rate/sluice/internal/inline"
)

// Algorithm says how a Limit counts.
type Algorithm int

const (
	// SlidingWindow is exact: in every half-open window [t, t+interval) at most the rate's permits. The default.
	// A limit of up to 500 grants in a window is exact to the millisecond. Beyond that, all but the newest 100 are
	// merged, and a permit may return late by 1/250 of the interval, never early. In windows of more than an hour dates are
	// rounded up by at most 1/1,800,000 of the interval.
	SlidingWindow Algorithm = iota
	// TokenBucket holds Burst permits and regains the rate's evenly, to the microsecond: in any time d at most
	// Burst + rate × d. Known as GCRA, or as a leaky bucket as a meter.
	TokenBucket
	// FixedWindow counts in windows one after the other, of which the first begins with the first call: at most the rate in
	// each, and up to twice the rate around the edge between two.
	FixedWindow
	// AlignedWindow is FixedWindow with windows that begin at whole multiples of the interval since 1970, UTC: the minute
	// of the clock, the day of UTC.
	AlignedWindow
)

var algorithmNames = [...]string{"sliding", "bucket", "fixed", "aligned"}

// String gives the word that ParseAlgorithm reads: sliding, bucket, fixed or aligned.
func (a Algorithm) String() string {
	if a >= 0 && int(a) < len(algorithmNames) {
		return algorithmNames[a]
	}
	return fmt.Sprintf("algorithm(%d)", int(a))
}

// ParseAlgorithm reads sliding, bucket, fixed or aligned. The error is an *InvalidError.
func ParseAlgorithm(s string) (Algorithm, error) {
	for a, name := range algorithmNames {
		if s == name {
			return Algorithm(a), nil
		}
	}
	return 0, &InvalidError{"algorithm", s, "sliding, bucket, fixed or aligned"}
}

// Limit is a rate that travels with the call: nothing is configured in the store. What is stored for it is only what each key
// has used, in one small key that expires by itself when that no longer matters.
//
// Limits on the same key count apart if they differ in their algorithm or interval: "10 per second and 1,000 per hour" is
// two charges in one call. To count apart what does not differ so, and to keep counting when an interval is changed, name
// them. Another Rate.Permits or Burst applies to what has been used already.
//
// A Limit is a value, comparable, and costs nothing to make.
type Limit struct {
	Rate      Rate
	Algorithm Algorithm // SlidingWindow unless said
	// Burst is how many permits a TokenBucket holds, 1 to MaxRate; 0, the default, means as many as Rate.Permits. For
	// other algorithms it must be 0.
	Burst int64
	// Name tells limits on the same key apart. The default is to tell them apart by their interval.
	Name string
}

// Most is how many permits the limit can give at once.
func (l Limit) Most() int64 {
	if l.Algorithm == TokenBucket && l.Burst != 0 {
		return l.Burst
	}
	return l.Rate.Permits
}

// String gives a short form for people, such as "5/1m", "10/1s bucket of 50", "100/1h fixed".
func (l Limit) String() string {
	s := l.Rate.String()
	switch {
	case l.Algorithm == TokenBucket:
		s += fmt.Sprintf(" bucket of %d", l.Most())
	case l.Algorithm != SlidingWindow:
		s += " " + l.Algorithm.String()
	}
	if l.Name != "" {
		s = l.Name + ": " + s
	}
	return s
}

// Charge is one permit of a key under this limit.
func (l Limit) Charge(key string) Charge { return l.ChargeN(key, 1) }

// ChargeN is n permits of a key under this limit, at most MaxPermits. No permits, 0, are always had and
// change nothing.
func (l Limit) ChargeN(key string, n int64) Charge {
	return Charge{limit: l, key: key, permits: n, made: true}
}

// validate says what is wrong with l, all of it, or nil.
func (l Limit) validate() error {
	var problems problems
	problems.join(l.Rate.validate())
	switch {
	case l.Algorithm < SlidingWindow || l.Algorithm > AlignedWindow:
		problems.add("limit.algorithm", l.Algorithm, "SlidingWindow, TokenBucket, FixedWindow or AlignedWindow")
	case l.Burst == 0:
	case l.Algorithm != TokenBucket:
		problems.add("limit.burst", l.Burst, "0: only a TokenBucket has a burst")
	case l.Burst < 1 || l.Burst > MaxRate:
		problems.add("limit.burst", l.Burst, fmt.Sprintf("1 to %d", MaxRate))
	}
	if len(l.Name) > maxLimitName {
		problems.add("limit.name", l.Name[:20]+"…", fmt.Sprintf("at most %d bytes", maxLimitName))
	}
	if len(problems) == 0 && l.Algorithm == TokenBucket {
		if _, ok := inline.Make(inline.Bucket, l.Rate.Permits, l.Rate.Interval.Milliseconds(), l.Burst); !ok {
			problems.add("limit.burst", l.Most(), fmt.Sprintf("smaller: %d permits of %v cannot be counted exactly; an interval with more whole milliseconds a permit can", l.Most(), l.Rate))
		}
	}
	return problems.err()
}

const (
	maxLimitName = 64
	maxChargeKey = 1024
)

// Charge is so many permits of one key under one limit: what Client.Take takes. Limit.Charge makes it; the zero Charge is
// refused, so that a forgotten field lets nothing pass.
type Charge struct {
	limit   Limit
	key     string
	tag     string
	permits int64
	made    bool
}

// With gives the charge a hash tag: on a cluster, all charges with the same tag lie in one slot, and are then taken in one
// atomic step. Without one the key is its own tag, so that all limits of one key lie together. Use the same tag each time,
// since what is used is counted under key and tag.
func (c Charge) With(tag string) Charge {
	c.tag = tag
	return c
}

// Limit is the limit.
func (c Charge) Limit() Limit { return c.limit }

// Key is the key.
func (c Charge) Key() string { return c.key }

// Tag is the hash tag; "" if the key is its own.
func (c Charge) Tag() string { return c.tag }

// Permits is how many permits are asked for.
func (c Charge) Permits() int64 { return c.permits }

// Slot says what is counted together: charges with equal slots draw on one state.
type Slot struct {
	Tag, Key, Name string
	Interval       time.Duration // 0 if there is a name
	Algorithm      Algorithm
}

// Slot is the state on which the charge draws. It is meant for engines.
func (c Charge) Slot() Slot {
	s := Slot{Tag: c.tag, Key: c.key, Name: c.limit.Name, Algorithm: c.limit.Algorithm}
	if s.Name == "" {
		s.Interval = c.limit.Rate.Interval
	}
	return s
}

// validate says what is wrong with c, all of it, or nil.
func (c Charge) validate() error {
	var problems problems
	if !c.made {
		problems.add("charge", "Charge{}", "made by Limit.Charge or Limit.ChargeN")
		return problems.err()
	}
	problems.join(c.limit.validate())
	switch {
	case c.key == "":
		problems.add("charge.key", c.key, "not empty: an empty key would make all callers share one budget")
	case len(c.key) > maxChargeKey:
		problems.add("charge.key", c.key[:20]+"…", fmt.Sprintf("at most %d bytes; use a hash of it", maxChargeKey))
	}
	if strings.ContainsAny(c.tag, "{}") || len(c.tag) > maxChargeKey {
		problems.add("charge tag", c.tag, fmt.Sprintf("without braces, at most %d bytes", maxChargeKey))
	}
	if c.permits < 0 || c.permits > MaxPermits {
		problems.add("permits", c.permits, fmt.Sprintf("0 to %d", MaxPermits))
	}
	return problems.err()
}
