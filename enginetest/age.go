package enginetest

import (
	"strings"
	"time"
)

// The TTLs of keys run by Redis' own clock, which stands still in comparison with that of a scenario, but not quite. So they are moved on by
// hand; those of inline states, which are as short as what they hold matters, are also kept from running out in between.

// kept is a key that is kept from expiring.
type kept struct {
	until int64         // the moment by Redis' clock, in milliseconds, that was given to it
	due   time.Duration // the moment by the scenario's clock at which it goes
}

const (
	keepFor = time.Minute
	grain   = 100 * time.Millisecond
)

func isInline(key string) bool { return strings.HasPrefix(key, "sl:") }

// age moves all TTLs on. The clock has moved already.
func (w *world) age(d time.Duration) {
	for _, key := range w.strings("KEYS", "*") {
		ttl := w.number("PTTL", key)
		switch {
		case ttl < 0, ttl == 0 && !isInline(key):
		case !isInline(key):
			w.redis("PEXPIRE", key, ttl-d.Milliseconds())
		default:
			due := w.due(key, w.clock.since()-d)
			if due <= w.clock.since() {
				w.redis("DEL", key)
				continue
			}
			w.redis("PEXPIRE", key, (due - w.clock.since() + keepFor).Milliseconds())
			w.kept[key] = kept{w.number("PEXPIRETIME", key), due}
		}
	}
}

// due is when a key goes, by the scenario's clock, which shows now.
func (w *world) due(key string, now time.Duration) time.Duration {
	if k, known := w.kept[key]; known && k.until == w.number("PEXPIRETIME", key) {
		return k.due
	}
	ttl := time.Duration(w.number("PTTL", key)) * time.Millisecond
	return now + (ttl + grain).Truncate(grain) // some of it has passed by Redis' clock since it was set
}

// ttl is how many milliseconds a key lives, below 0 for ever.
func (w *world) ttl(key string) int64 {
	if isInline(key) {
		return (w.due(key, w.clock.since()) - w.clock.since()).Milliseconds()
	}
	return w.number("PTTL", key)
}
