package demo

import (
	"slices"
	"time"
)

// board remembers which permit of the rate each grant has, so that its bar stays in its lane as it slides through the picture.
// The limiter itself counts permits and does not tell them apart.
type board struct {
	bars []bar // of grants whose date has come, also those that have ended lately
}

// bar is one permit in somebody's hands.
type bar struct {
	id       [16]byte
	who      string
	lane     int
	from, to time.Duration
	ended    bool
	waits    bool // its date has not come yet
}

// update brings the board up to date, and gives all bars that are to be seen: those that ended not longer than an interval
// ago, those of the ledger, and those to come.
func (b *board) update(s scene) []bar {
	b.end(s)
	all := slices.Clone(b.bars)
	for _, e := range s.ledger {
		for range e.permits - b.count(e.id) {
			next := bar{id: e.id, who: e.who, from: e.from, to: e.from + s.rate.Interval, waits: e.waits}
			next.lane = lane(all, s.rate.Permits)
			all = append(all, next)
			if !e.waits {
				b.bars = append(b.bars, next)
			}
		}
	}
	return all
}

// end ends the bars of permits that are no longer in the ledger, and forgets those that have left the picture.
func (b *board) end(s scene) {
	left := make(map[[16]byte]int64)
	for _, e := range s.ledger {
		left[e.id] = e.permits
	}
	for i := range b.bars {
		bar := &b.bars[i]
		if left[bar.id]--; left[bar.id] < 0 && !bar.ended {
			bar.ended, bar.to = true, min(bar.to, s.now)
		}
	}
	b.bars = slices.DeleteFunc(b.bars, func(bar bar) bool { return bar.to < s.now-s.rate.Interval })
}

// count is how many permits of a grant have a bar.
func (b *board) count(id [16]byte) int64 {
	var n int64
	for _, bar := range b.bars {
		if bar.id == id && !bar.ended {
			n++
		}
	}
	return n
}

// lane is the one that is free first.
func lane(bars []bar, lanes int64) int {
	until := make([]time.Duration, lanes)
	for _, b := range bars {
		until[b.lane] = max(until[b.lane], b.to)
	}
	return slices.Index(until, slices.Min(until))
}
