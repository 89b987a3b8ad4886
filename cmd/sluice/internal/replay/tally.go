package replay

import (
	"cmp"
	"slices"
	"time"

	"github.com/axiomhq/hyperloglog"
)

// maxKeys is how many keys are counted one by one.
const maxKeys = 1 << 18

// tally counts by key. Up to max keys the counts are exact. Beyond, it keeps the keys with the most requests, by the algorithm of
// Misra and Gries in batches: each time the table is full, the median of the weights is taken off all of them and those that are left with
// nothing go. So of N requests a key that has more than 2N/max is always there, and of one that is there at most missed
// requests went uncounted. How many keys there are is then a HyperLogLog's estimate.
type tally struct {
	max    int
	counts map[string]*count
	off    int64 // what has been taken off every weight
	above  *distinct
}

// count is what is known of a key. Times are in Unix seconds.
type count struct {
	key              string
	allowed, refused int64
	missed           int64         // how many of its requests may have come before it was counted
	first, last      int64         // refusal
	longest          time.Duration // until a refused request would have passed
}

// distinct estimates how many keys there are, once they are too many to count.
type distinct struct{ all, refused *hyperloglog.Sketch }

func newTally(limit int) *tally { return &tally{max: limit, counts: make(map[string]*count)} }

// of is the count of a key.
func (t *tally) of(key []byte) *count {
	if c, ok := t.counts[string(key)]; ok {
		return c
	}
	if len(t.counts) == t.max {
		t.makeRoom()
	}
	c := &count{key: string(key), missed: t.off}
	t.counts[c.key] = c
	if t.above != nil {
		t.above.all.Insert(key)
	}
	return c
}

// refuse counts a refusal of a request at a moment in Unix seconds.
func (t *tally) refuse(c *count, at int64, retryAfter time.Duration) {
	if c.refused == 0 {
		c.first = at
		if t.above != nil {
			t.above.refused.Insert([]byte(c.key))
		}
	}
	c.refused++
	c.last = at
	c.longest = max(c.longest, retryAfter)
}

// weight is how much of a key's count is left.
func (t *tally) weight(c *count) int64 { return c.requests() - (t.off - c.missed) }

func (c *count) requests() int64 { return c.allowed + c.refused }

// makeRoom drops at least half of the keys: those with the fewest requests.
func (t *tally) makeRoom() {
	if t.above == nil {
		t.above = &distinct{hyperloglog.New16NoSparse(), hyperloglog.New16NoSparse()}
		for _, c := range t.counts {
			t.above.all.Insert([]byte(c.key))
			if c.refused > 0 {
				t.above.refused.Insert([]byte(c.key))
			}
		}
	}
	weights := make([]int64, 0, len(t.counts))
	for _, c := range t.counts {
		weights = append(weights, t.weight(c))
	}
	slices.Sort(weights)
	t.off += weights[len(weights)/2]
	for key, c := range t.counts {
		if t.weight(c) <= 0 {
			delete(t.counts, key)
		}
	}
}

// keys is how many keys there were, and of how many a request was refused.
func (t *tally) keys() (all, refused int64) {
	if t.above != nil {
		return int64(t.above.all.Estimate()), int64(t.above.refused.Estimate())
	}
	for _, c := range t.counts {
		if c.refused > 0 {
			refused++
		}
	}
	return int64(len(t.counts)), refused
}

// top is the n keys with the most refusals, and among equals those with the most requests.
func (t *tally) top(n int) []*count {
	all := make([]*count, 0, len(t.counts))
	for _, c := range t.counts {
		all = append(all, c)
	}
	slices.SortFunc(all, func(a, b *count) int {
		return cmp.Or(cmp.Compare(b.refused, a.refused), cmp.Compare(b.requests(), a.requests()), cmp.Compare(a.key, b.key))
	})
	return all[:min(n, len(all))]
}
