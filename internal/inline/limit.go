// Package inline is the arithmetic of limits that travel with the call: state, calls, now → state, answers. It does no I/O and
// reads no clock. Times are integers: now in microseconds, dates of grants in milliseconds. Its twin is redisengine/lua/inline.lua.
package inline

// Kind says how a limit counts. The order is that of sluice.Algorithm.
type Kind int

// The kinds.
const (
	Sliding Kind = iota
	Bucket
	Fixed
	Aligned
)

// Limit is a limit in the units of the arithmetic.
type Limit struct {
	Kind     Kind
	Rate     int64 // permits
	Interval int64 // milliseconds

	// Of a bucket. A permit costs Cost units, Leak units flow back each Tick microseconds, and there is room for Burst
	// permits. Cost and Leak have no common factor, so Leak/(Cost×Tick) is exactly the rate, and all counting is in integers.
	Burst, Cost, Leak, Tick int64
}

const (
	mostUnits = 1 << 51                      // bounds what a bucket can hold
	mostDebt  = 1 << 52                      // and that together with what waiters owe, so that all sums stay below 2^53
	never     = 200 * 365 * 24 * 3600 * 1000 // milliseconds: later than anybody waits
)

// Make gives a limit its units. It reports false for a bucket that cannot be counted exactly: too many permits in too fine parts of
// too long an interval.
func Make(kind Kind, rate, interval, burst int64) (Limit, bool) {
	l := Limit{Kind: kind, Rate: rate, Interval: interval}
	if kind != Bucket {
		return l, true
	}
	l.Burst = burst
	if l.Burst == 0 {
		l.Burst = rate
	}
	for _, l.Tick = range [...]int64{1, 1000} {
		length := interval * 1000 / l.Tick
		common := gcd(rate, length)
		l.Cost, l.Leak = length/common, rate/common
		if l.Burst <= mostUnits/l.Cost && l.Leak <= mostUnits {
			return l, true
		}
	}
	return l, false
}

func gcd(a, b int64) int64 {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}

// most is how many permits can be had at once.
func (l Limit) most() int64 {
	if l.Kind == Bucket {
		return l.Burst
	}
	return l.Rate
}

// room is a bucket's size in units.
func (l Limit) room() int64 { return l.Burst * l.Cost }

// ticks is how many ticks it takes for units to flow back.
func (l Limit) ticks(units int64) int64 { return (units + l.Leak - 1) / l.Leak }

// Shift says in which unit the dates of a sliding window are kept: 2^Shift ms, which is more than 1 only for intervals of more than an
// hour. So the distance from one grant to the next takes at most four bytes.
func (l Limit) Shift() (k int) {
	for l.Kind == Sliding && l.Interval > unitsPerInterval<<k {
		k++
	}
	return k
}

const unitsPerInterval = 3_600_000

func (l Limit) unit() int64 { return 1 << l.Shift() }

// life is after how many milliseconds a grant no longer counts.
func (l Limit) life() int64 {
	if l.Kind == Bucket {
		return ceilDiv(l.ticks(l.room())*l.Tick, 1000)
	}
	return l.Interval
}

func ceilDiv(a, b int64) int64 { return (a + b - 1) / b }
