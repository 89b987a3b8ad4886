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
		w.fillAsPeer(rand.New(rand.NewPCG(1, uint64(size))), size)

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
		t.Logf("the slowest script took %.0f µs", p.slowest)
		if p.slowest > 1e6 {
			t.Errorf("a script took Redis %.0f µs", p.slowest)
		}
	}
}

// fillAsPeer writes takes of one permit into half a second from now on, a hundred in each millisecond.
func (w *world) fillAsPeer(rnd *rand.Rand, size int) {
	const slice = 5000
	for i := 0; i < peersTakes; i += slice {
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
	w.redis("SET", "{x}:value", peersTakes)
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
