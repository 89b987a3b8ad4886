package clienttest

import (
	"fmt"
	"sync/atomic"
	"testing"

	"github.com/sluice-rate/sluice"
	"github.com/sluice-rate/sluice/internal/redistest"
)

// TestClients runs each behaviour over each client.
func TestClients(t *testing.T) {
	cluster := startCluster(t, redistest.Redis7)
	for _, c := range clients {
		t.Run(c.name, func(t *testing.T) {
			s := cluster
			if !c.cluster {
				s = startStore(t, redistest.Redis7)
			}
			engine := c.open(t, target{addrs: s.addrs()})
			for _, b := range behaviours {
				t.Run(b.name, func(t *testing.T) {
					c.skipFlawed(t, b.name)
					b.test(&place{T: t, kind: c, store: s, engine: engine, client: sluice.New(engine)})
				})
			}
		})
	}
}

// place is what a behaviour is seen on.
type place struct {
	*testing.T
	kind   client
	store  *store
	engine sluice.Engine
	client *sluice.Client
}

var names atomic.Int64

// name is one that was not used before. It has a hash tag of its own, so that those of a cluster lie on all its nodes.
func (p *place) name() string { return fmt.Sprintf("{limiter:%d}", names.Add(1)) }

// limiter is a new one with this configuration.
func (p *place) limiter(config sluice.Config) *sluice.Limiter {
	p.Helper()
	l := p.client.Limiter(p.name())
	if done, err := l.TrySetRate(p.Context(), config); err != nil || !done {
		p.Fatalf("TrySetRate = %v, %v, want true", done, err)
	}
	return l
}

// take takes n permits, which are free.
func (p *place) take(l *sluice.Limiter, n int64) sluice.Decision {
	p.Helper()
	d, err := l.TryAcquire(p.Context(), n)
	if err != nil || !d.Allowed {
		p.Fatalf("TryAcquire(%d) = %+v, %v, want allowed", n, d, err)
	}
	return d
}

// wantAvailable compares what is free.
func (p *place) wantAvailable(l *sluice.Limiter, want int64) {
	p.Helper()
	if n, err := l.Available(p.Context()); err != nil || n != want {
		p.Errorf("Available() = %d, %v, want %d", n, err, want)
	}
}

// expect compares an answer.
func expect[V comparable](p *place, what string, got V, err error, want V) {
	p.Helper()
	if err != nil || got != want {
		p.Errorf("%s = %v, %v, want %v", what, got, err, want)
	}
}
