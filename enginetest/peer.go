package enginetest

import (
	"encoding/binary"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/sluice-rate/sluice"
)

// peersTakes is how many takes a peer makes in longLedger.
const peersTakes = 50_000

// longLedger takes from a limiter in which a Java peer has made fifty thousand takes, with members of this size. One of Redisson's takes
// that finds them expired stops Redis for some 60 ms, and ten times as many for a second. Ours tidy up in slices, and nothing gets
// lost of what is merged.
func longLedger(size int) func(h Harness, t *testing.T) {
	return func(h Harness, t *testing.T) {
		w := newWorld(t, h)
		if w.keys == nil {
			t.Skip("needs an engine with keys")
		}
		w.at = "a long ledger"
		_, err := w.limiter().TrySetRate(t.Context(), sluice.Config{Rate: sluice.Per(2*peersTakes, time.Second)})
		must(t, err)
		w.fillAsPeer(rand.New(rand.NewPCG(1, uint64(size))), peersTakes, size)

		w.clock.move(time.Second / 2)
		p := &peer{world: w}
		p.take(peersTakes, true)
		p.take(1, false)
		w.clock.move(time.Second / 2)
		for range 40 {
			w.clock.move(time.Second / 80)
			p.take(peersTakes/40, true)
		}
		w.clock.move(time.Second)
		p.take(2*peersTakes, true)
		p.take(1, false)
		if entries, _ := w.entries(); entries > mostGrants {
			t.Errorf("%d entries are left, want at most %d", entries, mostGrants)
		}
		// Not judged: on a machine that does other things, too, it says little.
		t.Logf("the slowest script took %.0f µs", p.slowest)
	}
}

// fillAsPeer writes n takes of one permit from now on, a hundred in each millisecond.
func (w *world) fillAsPeer(rnd *rand.Rand, n, size int) {
	const slice = 5000
	for i := 0; i < n; i += slice {
		command := []any{"ZADD", "{x}:permits"}
		for j := i; j < i+slice; j++ {
			m := make([]byte, size)
			for k := range m[:size-4] {
				m[k] = byte(rnd.Uint32())
			}
			m[0] = byte(size - 5)
			binary.LittleEndian.PutUint32(m[size-4:], 1)
			command = append(command, w.clock.now().UnixMilli()+int64(j/100), m)
		}
		w.redis(command...)
	}
	w.redis("SET", "{x}:value", w.number("HGET", "x", "rate")-int64(n))
}

// peer is a world that notes how long its takes keep Redis.
type peer struct {
	*world
	slowest float64 // in microseconds
}

func (p *peer) take(permits int64, want bool) {
	p.Helper()
	_, before := p.keys.ScriptStats(p)
	d, err := p.limiter().TryAcquire(p.Context(), permits)
	if err != nil || d.Allowed != want {
		p.Fatalf("at %v TryAcquire(%d) = %+v, %v, want %v", p.clock.since(), permits, d, err, want)
	}
	_, after := p.keys.ScriptStats(p)
	p.slowest = max(p.slowest, after-before)
	p.conserved()
}

// manyAhead lets a peer whose clock is an hour ahead make more takes than one step puts right. Nobody may be told to wait for his hour, and
// least of all be promised it.
func (h Harness) manyAhead(t *testing.T) {
	const n = 5000
	w := newWorld(t, h)
	if w.keys == nil {
		t.Skip("needs an engine with keys")
	}
	_, err := w.limiter().TrySetRate(t.Context(), sluice.Config{Rate: sluice.Per(n, time.Second)})
	must(t, err)
	w.clock.move(time.Hour)
	w.fillAsPeer(random(t), n, 21)
	w.clock.move(-time.Hour)

	d, err := w.limiter().TryAcquire(t.Context(), 1)
	if err != nil || d.Allowed || d.RetryAfter > time.Second {
		t.Errorf("TryAcquire = %+v, %v, want a refusal for at most a second", d, err)
	}
	r, err := w.limiter().Reserve(t.Context(), 1, 2*time.Hour)
	if err != nil || r.Delay() > time.Second {
		t.Errorf("Reserve is told to wait for %v, %v, want at most a second", r.Delay(), err)
	}
	w.clock.move(time.Second)
	for range n / 1000 { // one step puts about a thousand right
		d, err = w.limiter().TryAcquire(t.Context(), n-1)
		must(t, err)
	}
	w.clock.move(time.Second)
	if d, err = w.limiter().TryAcquire(t.Context(), n); err != nil || !d.Allowed {
		t.Errorf("TryAcquire of all = %+v, %v, want a grant", d, err)
	}
}
