package oracle

import (
	"math/big"
	"slices"
)

// Bucket judges law 1 for a token bucket: in every closed span [a, b] of time
// the permits used are at most the burst and what the rate gives in b-a. The
// bursts go with the changes, which must be in the order of time; those that
// are left out are the rate's permits.
//
// A grant is used at its arrival if it is known as made at once, else at its
// date. A returned permit was never used.
//
// Another configuration applies to what has been used already, since a store
// need not know when it changed: of the rates that were in force at a moment or
// after it, the highest has flowed then, and what is in use counts for no more
// than the lowest of those bursts, be it used or only promised. (A bucket cannot
// owe more than it holds.) A grant is right if this is so under at least one
// configuration that was in force at some moment from its arrival to its date,
// but not more than Look before it, if that configuration had been the last one.
// So a promise stands when the rate is lowered behind it.
//
// It takes O(n log n), times the number of configurations. The arithmetic is
// exact and cannot overflow. A bucket has no releases and is not reset.
func Bucket(h History, bursts ...int64) Findings {
	d := open(h)
	if d.record.Count > 0 {
		return d.record
	}
	if f := d.withoutWindows(bursts); f.Count > 0 {
		return f
	}
	f := d.early()
	f.join(newBucket(d, bursts).run())
	return f
}

// withoutWindows says what makes the history impossible to judge as a bucket's.
func (d *docket) withoutWindows(bursts []int64) Findings {
	f := d.unforgotten()
	if len(bursts) > len(d.h.Changes) {
		f.add(0, 0, "%d bursts of %d configurations", len(bursts), len(d.h.Changes))
	}
	for _, b := range bursts {
		if b < 1 || b >= rateMax {
			f.add(0, 0, "impossible burst: %d", b)
		}
	}
	return f
}

// bucket is the judgement of one history.
//
// All that the law says of spans that end at one moment is the level of a queue:
// of the permits used, less what the rate has given since, but never below
// zero. For if the queue was last empty just before a, its level at b is what
// [a, b] holds more than the rate gives in it, and of all spans that end at b
// this one has the greatest excess.
type bucket struct {
	*docket
	bursts []int64      // of each stretch
	permit *big.Int     // a permit in units, such that the leaks are whole
	leaks  []*big.Int   // units a microsecond, of each stretch
	flows  [][]*big.Int // flows[m][k] is the highest of the leaks k to m

	// levels[m] is the queue if stretch m, and what came before it, had been all.
	levels []*big.Int
	last   int64 // the moment of the levels
}

func newBucket(d *docket, bursts []int64) *bucket {
	b := &bucket{docket: d, permit: big.NewInt(1)}
	for _, c := range d.configs {
		b.permit.Mul(b.permit, big.NewInt(c.interval))
	}
	for m, c := range d.configs {
		leak := new(big.Int).Div(b.permit, big.NewInt(c.interval))
		b.leaks = append(b.leaks, leak.Mul(leak, big.NewInt(c.rate)))
		b.bursts = append(b.bursts, c.rate)
		if m < len(bursts) {
			b.bursts[m] = bursts[m]
		}
		b.levels = append(b.levels, new(big.Int))
		var flows []*big.Int
		for k := range m + 1 {
			flows = append(flows, slices.MaxFunc(b.leaks[k:], (*big.Int).Cmp))
		}
		b.flows = append(b.flows, flows)
	}
	return b
}

// run walks through the grants in the order in which they begin.
func (b *bucket) run() Findings {
	f := Findings{limit: b.h.Params.List}
	newest := 0
	for _, m := range b.marks(b.begin) {
		if b.net[m.grant] == 0 {
			continue // all returned: nobody used it
		}
		for newest+1 < len(b.configs) && b.configs[newest+1].from <= m.at {
			newest++
		}
		b.pour(m)
		since := max(m.arrived, m.at-b.h.Params.Look)
		right := false
		for k := newest; !right && (k == newest || k >= 0 && b.configs[k].until >= since); k-- {
			right = b.levels[k].Cmp(b.room(k)) <= 0
		}
		if !right {
			f.add(1, m.at, "more than a burst of %d: overfilled by %v", b.bursts[newest], b.h.Grants[m.grant])
		}
		b.forget(m, newest)
	}
	return f
}

// pour brings the levels to the moment at which a grant begins, and adds it.
func (b *bucket) pour(g mark) {
	n := new(big.Int).Mul(b.permit, big.NewInt(b.net[g.grant]))
	for m, level := range b.levels {
		b.leak(level, m, g.at)
		level.Add(level, n)
	}
	b.last = g.at
}

// leak takes from a level what the rates give until a moment, if stretch m had been the last.
func (b *bucket) leak(level *big.Int, m int, until int64) {
	part := new(big.Int)
	for k := range m + 1 {
		c := b.configs[k]
		if c.from > until {
			return
		}
		end := c.until
		if k == m {
			end = never
		}
		if length := min(until, end) - max(b.last, c.from); length > 0 {
			level.Sub(level, part.Mul(b.flows[m][k], big.NewInt(length)))
		}
		if level.Sign() < 0 {
			level.SetInt64(0)
		}
	}
}

// forget bounds each level by the lowest burst that applies to a grant which has begun, unless it was made under the last.
func (b *bucket) forget(g mark, newest int) {
	for k, level := range b.levels {
		in := min(k, newest)
		if in == k && g.arrived >= b.configs[k].from {
			continue
		}
		lowest := 0
		for j := in; j <= k; j++ {
			if j == in || b.bursts[j] < b.bursts[lowest] {
				lowest = j
			}
		}
		if room := b.room(lowest); level.Cmp(room) > 0 {
			level.Set(room)
		}
	}
}

// room is what the bucket of a stretch holds.
func (b *bucket) room(k int) *big.Int {
	return new(big.Int).Mul(b.permit, big.NewInt(b.bursts[k]))
}
