package redisengine_test

import (
	"context"
	"errors"
	"regexp"
	"testing"
	"time"

	"github.com/sluice-rate/sluice"
)

// denial is how the servers say it.
var denial = regexp.MustCompile("can't run this command|no permissions to run")

// TestDeniedCommand: a user who may not do what the scripts do gets that error. It says nothing of the keys: they are not taken for garbage and dropped.
func TestDeniedCommand(t *testing.T) {
	t.Parallel()
	for _, command := range []string{"hmget", "get", "zrange", "zcard", "zcount"} {
		s := newCaseStore(t, nil)
		l := s.client.Limiter("x")
		_, err := l.TrySetRate(t.Context(), sluice.Config{Rate: sluice.Per(3, time.Hour)})
		s.must(err)
		_, err = l.TryAcquire(t.Context(), 2)
		s.must(err)
		minute := sluice.Limit{Rate: sluice.Per(3, time.Minute)}
		s.take(minute.ChargeN("y", 2))

		s.conn.Str(t, "ACL", "SETUSER", "default", "-"+command)
		calls := map[string]func(ctx context.Context) error{
			"TryAcquire":      func(ctx context.Context) error { return second(l.TryAcquire(ctx, 1)) },
			"TryAcquire of 2": func(ctx context.Context) error { return second(l.TryAcquire(ctx, 2)) },
			"Available":       func(ctx context.Context) error { return second(l.Available(ctx)) },
			"Release":         func(ctx context.Context) error { return second(l.Release(ctx, 1)) },
			"Take":            func(ctx context.Context) error { return second(s.client.Take(ctx, minute.Charge("y"))) },
			"Peek":            func(ctx context.Context) error { return second(s.client.Peek(ctx, minute.Charge("y"))) },
		}
		denied := 0
		for name, call := range calls {
			err := call(t.Context())
			if err == nil {
				continue // it has no need of the command
			}
			denied++
			if !errors.Is(err, sluice.ErrStoreUnavailable) || !denial.MatchString(err.Error()) {
				t.Errorf("%s without %s: %v, want what Redis says", name, command, err)
			}
		}
		if denied == 0 {
			t.Errorf("nothing has need of %s", command)
		}
		s.conn.Str(t, "ACL", "SETUSER", "default", "+"+command)
		for _, key := range []string{"{x}:value", "{x}:permits", "sl:{y}:s60000"} {
			if s.conn.Int(t, "EXISTS", key) != 1 {
				t.Errorf("without %s, %s was dropped", command, key)
			}
		}
	}
}
