package redisengine_test

import (
	"context"
	"testing"
	"time"

	"github.com/sluice-rate/sluice"
)

// TestLastGrantGivenBack: a Java peer whose take was sent twice has lowered the value once too often. When nothing is in the ledger any more the whole rate is
// free, whatever the value said; else a Java peer would find a value below the rate beside no ledger, and fail.
func TestLastGrantGivenBack(t *testing.T) {
	t.Parallel()
	for name, giveBack := range map[string]func(ctx context.Context, l *sluice.Limiter, d sluice.Decision) error{
		"Refund": func(ctx context.Context, l *sluice.Limiter, d sluice.Decision) error {
			return second(l.Refund(ctx, d.Receipt))
		},
		"Release": func(ctx context.Context, l *sluice.Limiter, d sluice.Decision) error {
			return second(l.Release(ctx, 2))
		},
	} {
		s := newCaseStore(t, nil)
		l := s.client.Limiter("x")
		_, err := l.TrySetRate(t.Context(), sluice.Config{Rate: sluice.Per(3, time.Hour)})
		s.must(err)
		d, err := l.TryAcquire(t.Context(), 2)
		s.must(err)
		s.conn.Int(t, "DECRBY", "{x}:value", 1)
		s.must(giveBack(t.Context(), l, d))
		if value, entries := s.conn.Str(t, "GET", "{x}:value"), s.conn.Int(t, "ZCARD", "{x}:permits"); value != "3" || entries != 0 {
			t.Errorf("%s: the value is %s beside %d entries, want 3 beside none", name, value, entries)
		}
	}
}
