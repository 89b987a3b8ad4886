package redisengine_test

import (
	"testing"
	"time"

	"github.com/sluice-rate/sluice"
)

// TestValueOfAFixedWindow: Redisson up to 3.13.2 leaves a value that expires with its window. The first take makes it one that stays, or it would be gone
// before the ledger, and a newer Redisson would then grant the rate twice.
func TestValueOfAFixedWindow(t *testing.T) {
	t.Parallel()
	s := newCaseStore(t, nil)
	l := s.client.Limiter("x")
	_, err := l.TrySetRate(t.Context(), sluice.Config{Rate: sluice.Per(5, time.Hour)})
	s.must(err)
	s.conn.Str(t, "SET", "{x}:value", "2", "PX", "60000")
	_, err = l.TryAcquire(t.Context(), 1)
	s.must(err)
	if v, p := s.conn.Int(t, "PTTL", "{x}:value"), s.conn.Int(t, "PTTL", "{x}:permits"); v != -1 || p != -1 {
		t.Errorf("the value lives for %d ms and the ledger for %d, want both for ever", v, p)
	}
	if got := s.conn.Str(t, "GET", "{x}:value"); got != "4" {
		t.Errorf("the value is %s, want 4: the ledger is the authority", got)
	}
}

// TestKeyThatExpiresAlone: what a hand has given one of the keys is mended by the audit of the next interval.
func TestKeyThatExpiresAlone(t *testing.T) {
	t.Parallel()
	for _, key := range []string{"{x}:value", "{x}:permits"} {
		for _, life := range []time.Duration{0, 3 * time.Hour} {
			clock := time.Now()
			s := newCaseStore(t, func() time.Time { return clock })
			l := s.client.Limiter("x")
			_, err := l.TrySetRate(t.Context(), sluice.Config{Rate: sluice.Per(5, time.Minute)})
			s.must(err)
			if life > 0 {
				_, err = l.Expire(t.Context(), life)
				s.must(err)
			}
			_, err = l.TryAcquire(t.Context(), 1)
			s.must(err)
			s.conn.Int(t, "PEXPIRE", key, "100000000")
			for range 6 { // each takes a grant out, and the audit comes when the head is one of the next minute
				clock = clock.Add(20 * time.Second)
				_, err = l.TryAcquire(t.Context(), 1)
				s.must(err)
			}
			v, p := s.conn.Int(t, "PTTL", "{x}:value"), s.conn.Int(t, "PTTL", "{x}:permits")
			want := int64(-1)
			if life > 0 {
				want = life.Milliseconds()
			}
			if v > want || p > want || v < want-10_000 || p < want-10_000 {
				t.Errorf("%s expires alone, the limiter after %v: the value lives for %d ms and the ledger for %d, want both %d", key, life, v, p, want)
			}
		}
	}
}
