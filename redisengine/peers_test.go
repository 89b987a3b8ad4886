package redisengine_test

import (
	"testing"
	"time"

	"github.com/sluice-rate/sluice"
	"github.com/sluice-rate/sluice/internal/redistest"
	"github.com/sluice-rate/sluice/redisengine"
)

// TestJavaPeers: with Java peers value and ledger live exactly as long as the configuration, and else until the last grant has left the window.
func TestJavaPeers(t *testing.T) {
	t.Parallel()
	for _, peers := range []bool{false, true} {
		conn := redistest.Dial(t, redistest.Start(t).Addr())
		client := sluice.New(redisengine.New(conn, &redisengine.Options{JavaPeers: peers}))
		for name, act := range map[string]func(l *sluice.Limiter) error{
			"Expire":   func(l *sluice.Limiter) error { return second(l.Expire(t.Context(), time.Minute)) },
			"ExpireAt": func(l *sluice.Limiter) error { return second(l.ExpireAt(t.Context(), time.Now().Add(time.Minute))) },
			"UpdateRate, Reserve": func(l *sluice.Limiter) error {
				if _, err := l.UpdateRate(t.Context(), sluice.Config{Rate: sluice.Per(2, time.Minute), KeepAlive: time.Minute}); err != nil {
					return err
				}
				return second(l.Reserve(t.Context(), 2, time.Hour))
			},
		} {
			l := client.Limiter(name)
			if _, err := l.TrySetRate(t.Context(), sluice.Config{Rate: sluice.Per(2, time.Minute)}); err != nil {
				t.Fatal(err)
			}
			if _, err := l.TryAcquire(t.Context(), 1); err != nil {
				t.Fatal(err)
			}
			if err := act(l); err != nil {
				t.Fatal(err)
			}
			config := conn.Int(t, "PTTL", name)
			for _, key := range []string{"{" + name + "}:value", "{" + name + "}:permits"} {
				longer := conn.Int(t, "PTTL", key) - config
				if peers && (longer > 1 || longer < -50) || !peers && longer < 50_000 {
					t.Errorf("%s, Java peers %v: %s lives for %d ms longer than the configuration", name, peers, key, longer)
				}
			}
		}
	}
}
