package clienttest

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/sluice-rate/sluice"
	"github.com/sluice-rate/sluice/internal/redistest"
)

// TestLostReply loses the reply to a take that has run. Whether the library sends it again by itself or the caller does, it is
// charged once.
func TestLostReply(t *testing.T) {
	cluster := startCluster(t, redistest.Redis7)
	for _, c := range clients {
		t.Run(c.name, func(t *testing.T) {
			s := cluster
			if !c.cluster {
				s = startStore(t, redistest.Redis7)
			}
			proxies := newProxies(t)
			engine := c.open(t, target{addrs: s.addrs(), dial: proxies.dial})
			p := &place{T: t, kind: c, store: s, engine: engine, client: sluice.New(engine)}
			l := p.limiter(sluice.Config{Rate: sluice.Per(10, time.Hour)})
			p.take(l, 1)

			take := sluice.Take{Key: sluice.Key{Limiter: l.Name(), Client: "c"}, Receipt: sluice.ReceiptFrom([16]byte{'S', 'L', 15: 1}, 2)}
			before := s.scriptCalls(t)
			proxies.armed.Store(true)
			answers, err := engine.Take(t.Context(), []sluice.Take{take})
			if proxies.lost.Load() != 1 {
				t.Fatalf("%d replies were lost, want 1", proxies.lost.Load())
			}
			if (err == nil) != c.resends {
				t.Errorf("Take() = %v, want it to be sent again by the library: %v", err, c.resends)
			}
			if err != nil {
				if !errors.Is(err, sluice.ErrStoreUnavailable) {
					t.Errorf("Take() = %v, want ErrStoreUnavailable", err)
				}
				answers, err = engine.Take(t.Context(), []sluice.Take{take})
			}
			if err != nil || !answers[0].Decision.Allowed || answers[0].Decision.Receipt != take.Receipt || answers[0].Decision.Wait >= time.Millisecond {
				t.Errorf("Take() = %+v, %v, want its receipt", answers, err)
			}
			if n := s.scriptCalls(t) - before; n != 2 {
				t.Errorf("the take has run %d times, want 2", n)
			}
			p.wantAvailable(l, 7)
			if n := s.do(t, "ZCARD", l.Name()+":permits"); n != int64(2) {
				t.Errorf("the ledger has %v entries, want 2", n)
			}
		})
	}
}

// TestServerStops stops the server under a client, and starts it again.
func TestServerStops(t *testing.T) {
	t.Parallel()
	for _, c := range clients {
		if c.cluster {
			continue
		}
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := startStore(t, redistest.Redis7)
			engine := c.open(t, target{addrs: s.addrs()})
			p := &place{T: t, kind: c, store: s, engine: engine, client: sluice.New(engine)}
			p.take(p.limiter(sluice.Config{Rate: sluice.Per(1, time.Hour)}), 1)

			s.servers[0].Stop()
			l := p.client.Limiter(p.name())
			for name, call := range map[string]func(context.Context) error{
				"TryAcquire": func(ctx context.Context) error { _, err := l.TryAcquire(ctx, 1); return err },
				"SetRate":    func(ctx context.Context) error { return l.SetRate(ctx, sluice.Config{Rate: sluice.Per(1, time.Hour)}) },
				"Available":  func(ctx context.Context) error { _, err := l.Available(ctx); return err },
				"Release":    func(ctx context.Context) error { _, err := l.Release(ctx, 1); return err },
				"Expire":     func(ctx context.Context) error { _, err := l.Expire(ctx, time.Hour); return err },
			} {
				ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
				if err := call(ctx); !errors.Is(err, sluice.ErrStoreUnavailable) {
					t.Errorf("%s without a server: error %v, want ErrStoreUnavailable", name, err)
				}
				cancel()
			}

			s.servers[0].Restart(t)
			await(t, "the client finds the server again", func() bool {
				_, err := l.TrySetRate(t.Context(), sluice.Config{Rate: sluice.Per(1, time.Hour)})
				return err == nil
			})
			p.take(l, 1)
		})
	}
}

// TestServerHangs freezes the server: the caller's deadline ends the call, and nothing is charged in the end.
func TestServerHangs(t *testing.T) {
	t.Parallel()
	for _, c := range clients {
		if c.cluster {
			continue
		}
		t.Run(c.name, func(t *testing.T) {
			c.skipFlawed(t, "a server hangs")
			t.Parallel()
			s := startStore(t, redistest.Redis7)
			engine := c.open(t, target{addrs: s.addrs()})
			p := &place{T: t, kind: c, store: s, engine: engine, client: sluice.New(engine)}
			l := p.limiter(sluice.Config{Rate: sluice.Per(10, time.Hour)})
			p.take(l, 1)

			s.servers[0].Pause()
			ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
			defer cancel()
			start := time.Now()
			_, err := l.TryAcquire(ctx, 1)
			took := time.Since(start)
			if !errors.Is(err, sluice.ErrStoreUnavailable) || !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("TryAcquire(1) = %v, want ErrStoreUnavailable by the deadline", err)
			}
			if took > 2*time.Second {
				t.Errorf("TryAcquire(1) took %v with 200ms", took)
			}
			s.servers[0].Resume()
			await(t, "the take is given back", func() bool {
				n, err := l.Available(t.Context())
				return err == nil && n == 9
			})
		})
	}
}

// await polls until done, for some seconds at most.
func await(t *testing.T, what string, done func() bool) {
	t.Helper()
	for deadline := time.Now().Add(10 * time.Second); !done(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("it does not come about that %s", what)
		}
	}
}
