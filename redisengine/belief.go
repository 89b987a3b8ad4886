package redisengine

import (
	"sync"

	"github.com/sluice-rate/sluice"
)

// belief is what this process saw last of a limiter's configuration. The mode says which keys to send. The rate tells
// the script whether the stored value was counted under another one, as happens when the rate is changed by hand, or for
// the other clients of a PerClient limiter: then it counts the ledger. If all is as believed the script need not
// look into it. A wrong belief costs time, never correctness.
type belief struct {
	rate     int64 // permits; -1: not seen yet
	mode     sluice.Mode
	interval int64 // milliseconds
	checked  int64 // when a refusal last looked at the whole state, in microseconds of the store's clock; 0: never
}

const unknownRate = -1

// args is how the belief is told to a script, after now.
func (b belief) args(now int64) []any {
	return []any{now, b.rate, int(b.mode), b.interval, b.checked}
}

// doubt has the next refusal of each client of a limiter look at the whole state again: this process has changed it.
func (b *beliefs) doubt(limiter string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for key, old := range b.known {
		if key.Limiter == limiter && old.checked != 0 {
			old.checked = 0
			b.known[key] = old
		}
	}
}

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
	return belief{rate: unknownRate}
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
