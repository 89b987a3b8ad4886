package redisengine

import (
	"sync"

	"github.com/sluice-rate/sluice"
)

// belief is what this process saw last of a limiter's configuration. The mode says which keys to send. The rate tells
// the script whether the stored value was counted under another one, as happens when the rate is changed by hand, or for
// the other clients of a PerClient limiter: then it counts the ledger. A wrong belief costs time, never correctness.
type belief struct {
	mode sluice.Mode
	rate int64
}

const unknownRate = -1

// maxBeliefs bounds the memory for limiters that are used once and never again.
const maxBeliefs = 10_000

type beliefs struct {
	mu    sync.Mutex
	known map[sluice.Key]belief
}

func (b *beliefs) of(key sluice.Key) belief {
	b.mu.Lock()
	defer b.mu.Unlock()
	if old, ok := b.known[key]; ok {
		return old
	}
	return belief{sluice.Overall, unknownRate}
}

func (b *beliefs) set(key sluice.Key, now belief) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if old, ok := b.known[key]; ok && old == now {
		return
	}
	if b.known == nil || len(b.known) >= maxBeliefs {
		b.known = make(map[sluice.Key]belief)
	}
	b.known[key] = now
}
