package legacy_test

import (
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"strconv"
	"testing"
	"time"

	"github.com/sluice-rate/sluice"
	"github.com/sluice-rate/sluice/internal/redistest"
	"github.com/sluice-rate/sluice/legacy"
)

var peerSeed = flag.Uint64("peer.seed", rand.Uint64(), "the seed of TestPeer")

// peer does what a Redisson 3.12.5 does with the limiter of a name, by single commands. It was written down from its scripts.
type peer struct {
	*store
	name string
}

func (p peer) value() string {
	if p.do("HGET", p.name, "type") == "1" {
		return "{" + p.name + "}:value:" + clientID
	}
	return "{" + p.name + "}:value"
}

// tryAcquire gives "granted", "refused" or what Redisson throws.
func (p peer) tryAcquire(n int64) string {
	rate, interval := p.do("HGET", p.name, "rate"), p.do("HGET", p.name, "interval")
	if rate == nil || interval == nil || p.do("HGET", p.name, "type") == nil {
		return "RateLimiter is not initialized"
	}
	switch now := p.do("GET", p.value()).(type) {
	case nil:
		if number(rate) < n {
			return "Requested permits amount could not exceed defined rate"
		}
		p.do("SET", p.value(), rate, "PX", interval)
	case string:
		if number(now) < n {
			return "refused"
		}
	}
	p.do("DECRBY", p.value(), n)
	return "granted"
}

func number(text any) int64 {
	n, err := strconv.ParseInt(text.(string), 10, 64)
	if err != nil {
		panic(err)
	}
	return n
}

func (p peer) trySetRate(c sluice.Config) bool {
	p.do("HSETNX", p.name, "rate", c.Rate.Permits)
	p.do("HSETNX", p.name, "interval", c.Rate.Interval.Milliseconds())
	return p.do("HSETNX", p.name, "type", int(c.Mode)) == int64(1)
}

func (p peer) delete() {
	p.do("DEL", p.name, "{"+p.name+"}:value", "{"+p.name+"}:value:"+clientID)
}

// TestPeer takes random steps with two limiters: on one all are Redisson's, on the other half of them are this package's. Answers and keys are
// the same after each.
func TestPeer(t *testing.T) {
	t.Logf("to run this again: -peer.seed %d", *peerSeed)
	r := rand.New(rand.NewPCG(*peerSeed, 0))
	s := newStore(t, redistest.Start(t))
	alone, mixed, ours := peer{s, "alone"}, peer{s, "mixed"}, s.client.Limiter("mixed")
	for step := range 3000 {
		what, want, got := s.step(r, alone, mixed, ours)
		if got != want {
			t.Fatalf("step %d, %s: %s, want %s", step, what, got, want)
		}
		keys := s.keys()
		for _, suffix := range []string{"%s", "{%s}:value", "{%s}:value:" + clientID} {
			a, m := fmt.Sprintf(suffix, "alone"), fmt.Sprintf(suffix, "mixed")
			if keys[a] != keys[m] {
				t.Fatalf("step %d, %s: %s is %q, want %q", step, what, m, keys[m], keys[a])
			}
			if life := s.conn.Int(t, "PTTL", a); life > 0 {
				s.wantLife(m, time.Duration(life)*time.Millisecond+time.Second)
			}
		}
		if t.Failed() {
			t.Fatalf("at step %d, %s", step, what)
		}
	}
}

// step does one thing with both limiters, and says what, and what came of it.
func (s *store) step(r *rand.Rand, alone, mixed peer, ours *legacy.Limiter) (what, want, got string) {
	byPeer := r.IntN(2) == 0
	switch r.IntN(20) {
	case 0:
		alone.delete()
		if byPeer {
			mixed.delete()
		} else {
			s.must(second(ours.Delete(s.Context())))
		}
		return "delete", "", ""
	case 1, 2, 3:
		c := sluice.Config{Rate: sluice.Per(1+r.Int64N(8), time.Duration(1+r.IntN(6))*10*time.Minute), Mode: sluice.Mode(r.IntN(2))}
		if r.IntN(5) == 0 {
			c.Rate.Permits = sluice.MaxRate - r.Int64N(3)
		}
		want = fmt.Sprint(alone.trySetRate(c))
		if byPeer {
			return "trySetRate", want, fmt.Sprint(mixed.trySetRate(c))
		}
		done, err := ours.TrySetRate(s.Context(), c)
		s.must(err)
		return fmt.Sprintf("TrySetRate(%+v)", c), want, fmt.Sprint(done)
	case 4, 5, 6, 7:
		s.pass(time.Duration(1+r.IntN(3)) * 10 * time.Minute)
		return "pass", "", ""
	default:
		n := 1 + r.Int64N(4)
		if r.IntN(10) == 0 {
			n = sluice.MaxPermits
		}
		want = alone.tryAcquire(n)
		if byPeer {
			return "tryAcquire", want, mixed.tryAcquire(n)
		}
		d, err := ours.TryAcquire(s.Context(), n)
		switch {
		case errors.Is(err, sluice.ErrNotInitialized):
			got = "RateLimiter is not initialized"
		case errors.Is(err, sluice.ErrExceedsRate):
			got = "Requested permits amount could not exceed defined rate"
			if want == "refused" { // Redisson says so only when it begins a window
				got = want
			}
		case err != nil:
			got = err.Error()
		case d.Allowed:
			got = "granted"
		default:
			got = "refused"
		}
		return fmt.Sprintf("TryAcquire(%d)", n), want, got
	}
}
