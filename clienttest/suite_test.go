package clienttest

import (
	"testing"
	"time"

	"github.com/sluice-rate/sluice"
	"github.com/sluice-rate/sluice/enginetest"
	"github.com/sluice-rate/sluice/internal/redistest"
	"github.com/sluice-rate/sluice/redisengine"
)

// releases are the servers on which the suite runs.
var releases = []redistest.Release{redistest.Redis7, redistest.Redis8, redistest.Valkey8}

// TestEngine runs the suite that every engine passes, on each release, on one server, a cluster, and a master that is watched by
// sentinels. All clients run it on the first release, one of each library on the others; when this is short, those only.
func TestEngine(t *testing.T) {
	for i, release := range releases {
		t.Run(release.String(), func(t *testing.T) {
			if i > 0 && withRace {
				t.Skip("the race detector sees the same on every release; this is for a run without it")
			}
			t.Parallel()
			all := i == 0 && !testing.Short()
			t.Run("one server", func(t *testing.T) {
				t.Parallel()
				p := newPool(2, func() *store { return startStore(t, release) })
				p.run(t, clients, func(c client) bool { return !c.cluster && !c.again && (all || c.everywhere) })
			})
			t.Run("cluster", func(t *testing.T) {
				t.Parallel()
				p := newPool(1, func() *store { return startCluster(t, release) })
				p.run(t, clients, func(c client) bool { return c.cluster && !c.again && (all || c.everywhere) })
			})
			t.Run("sentinels", func(t *testing.T) {
				if i > 0 && testing.Short() {
					t.Skip("to a client they are the same on every release")
				}
				t.Parallel()
				p := newPool(1, func() *store { return startWatched(t, release) })
				p.run(t, failoverClients, func(c client) bool { return all || c.everywhere })
			})
		})
	}
}

// pool is a few stores that tests have in turn, each for itself. Most tests wait most of the time.
type pool chan *store

func newPool(n int, start func() *store) pool {
	p := make(pool, n)
	for range n {
		p <- start()
	}
	return p
}

// run runs the suite over the clients that fit.
func (p pool) run(t *testing.T, clients []client, fits func(client) bool) {
	for _, c := range clients {
		if !fits(c) {
			continue
		}
		t.Run(c.name, func(t *testing.T) {
			engine := func(t testing.TB, now func() time.Time, lasting bool) (sluice.Engine, enginetest.Keys) {
				s := p.get(t)
				engine := c.open(t, target{addrs: s.addrs(), options: &redisengine.Options{Now: now}, lasting: lasting})
				if c.cluster {
					return tagged{engine}, s.tagged(t)
				}
				return engine, s.nodes[0]
			}
			enginetest.Run(t, enginetest.Harness{
				New: func(t testing.TB, now func() time.Time) (sluice.Engine, enginetest.Keys) {
					return engine(t, now, false)
				},
				Lasting: func(t testing.TB, now func() time.Time) (sluice.Engine, enginetest.Keys) {
					return engine(t, now, true)
				},
			})
		})
	}
}

// get waits for a store, which is empty, and has it until the test ends.
func (p pool) get(tb testing.TB) *store {
	s := <-p
	tb.Cleanup(func() { p <- s })
	s.everywhere(tb, "FLUSHALL")
	return s
}
