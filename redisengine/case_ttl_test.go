package redisengine_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/sluice-rate/sluice"
	"github.com/sluice-rate/sluice/internal/redistest"
	"github.com/sluice-rate/sluice/redisengine"
)

// The tests named TestCase are symptoms that users of rate limiters have reported, where they show in the keys of Redis. See docs/cases.md.

var algorithms = []sluice.Algorithm{sluice.SlidingWindow, sluice.TokenBucket, sluice.FixedWindow, sluice.AlignedWindow}

// caseStore is a client on a server of its own.
type caseStore struct {
	*testing.T
	conn   *redistest.Conn
	engine *redisengine.Engine
	client *sluice.Client
}

func newCaseStore(t *testing.T, now func() time.Time) *caseStore {
	t.Helper()
	conn := redistest.Dial(t, redistest.Start(t).Addr())
	engine := redisengine.New(conn, &redisengine.Options{Now: now})
	return &caseStore{t, conn, engine, sluice.New(engine)}
}

func (s *caseStore) must(err error) {
	s.Helper()
	if err != nil {
		s.Fatal(err)
	}
}

func (s *caseStore) take(charges ...sluice.Charge) sluice.Outcome {
	s.Helper()
	o, err := s.client.Take(s.Context(), charges...)
	s.must(err)
	return o
}

// key is the only key that there is.
func (s *caseStore) key() string {
	s.Helper()
	keys := s.conn.Strings(s, "KEYS", "*")
	if len(keys) != 1 {
		s.Fatalf("the keys are %q, want one", keys)
	}
	return keys[0]
}

// TestCaseSomePathsSetNoTTL: whatever is called under whichever algorithm, no key is kept for more than two windows, and what grants nothing
// makes none.
func TestCaseSomePathsSetNoTTL(t *testing.T) {
	t.Parallel()
	s := newCaseStore(t, nil)
	for _, a := range algorithms {
		l := sluice.Limit{Rate: sluice.Per(2, 12*time.Hour), Algorithm: a}
		other := sluice.Limit{Rate: sluice.Per(2, 13*time.Hour), Algorithm: a}
		grants := map[string]func(ctx context.Context, c sluice.Charge) error{
			"Take": func(ctx context.Context, c sluice.Charge) error { return second(s.client.Take(ctx, c)) },
			"Take twice": func(ctx context.Context, c sluice.Charge) error {
				s.take(c)
				return second(s.client.Take(ctx, c))
			},
			"a refused Take behind a granted one": func(ctx context.Context, c sluice.Charge) error {
				s.take(l.ChargeN(c.Key(), 2))
				return second(s.client.Take(ctx, c))
			},
			"Book": func(ctx context.Context, c sluice.Charge) error {
				s.take(l.ChargeN(c.Key(), 2))
				return second(s.client.Book(ctx, 24*time.Hour, c))
			},
			"TakeUpTo": func(ctx context.Context, c sluice.Charge) error { return second(s.client.TakeUpTo(ctx, 5, c)) },
			"Take of two": func(ctx context.Context, c sluice.Charge) error {
				return second(s.client.Take(ctx, c, other.Charge(c.Key())))
			},
			"Refund of one": func(ctx context.Context, c sluice.Charge) error {
				s.take(c)
				return second(s.client.Refund(ctx, s.take(c).Receipt, c))
			},
			"Take on a lost TTL": func(ctx context.Context, c sluice.Charge) error {
				s.take(c)
				for _, key := range s.conn.Strings(s, "KEYS", "*"+c.Key()+"*") {
					s.conn.Int(s, "PERSIST", key)
				}
				return second(s.client.Take(ctx, c))
			},
		}
		for name, grant := range grants {
			s.must(grant(t.Context(), l.Charge(name)))
			keys := s.conn.Strings(s, "KEYS", "*")
			if len(keys) == 0 {
				t.Errorf("%v: %s stores nothing", l, name)
			}
			for _, key := range keys {
				ttl := time.Duration(s.conn.Int(s, "PTTL", key)) * time.Millisecond
				most := 13 * time.Hour
				if name == "Book" {
					most = 24 * time.Hour // the window of the reservation's date comes after this one
				}
				if !strings.HasPrefix(key, "sl:") || ttl <= 0 || ttl > most+2*time.Millisecond { // rounded up, twice
					t.Errorf("%v: after %s the key %q has a TTL of %v, want one of at most %v", l, name, key, ttl, most)
				}
			}
			s.conn.Str(s, "FLUSHALL")
		}
		for name, call := range map[string]func(ctx context.Context, c sluice.Charge) error{
			"Peek": func(ctx context.Context, c sluice.Charge) error { return second(s.client.Peek(ctx, c)) },
			"a Take of none": func(ctx context.Context, c sluice.Charge) error {
				return second(s.client.Take(ctx, l.ChargeN(c.Key(), 0)))
			},
			"a Take of too many": func(ctx context.Context, c sluice.Charge) error {
				s.client.Take(ctx, l.ChargeN(c.Key(), 3))
				return nil
			},
			"a Refund of the whole": func(ctx context.Context, c sluice.Charge) error {
				return second(s.client.Refund(ctx, s.take(c).Receipt, c))
			},
			"Reset": func(ctx context.Context, c sluice.Charge) error { s.take(c); return s.client.Reset(ctx, c) },
		} {
			s.must(call(t.Context(), l.Charge(name)))
			if keys := s.conn.Strings(s, "KEYS", "*"); len(keys) != 0 {
				t.Errorf("%v: %s leaves the keys %q, want none", l, name, keys)
			}
		}
	}
}

// TestCaseKeysStayForEver: a thousand keys of each algorithm, used once, are gone two windows later.
func TestCaseKeysStayForEver(t *testing.T) {
	t.Parallel()
	s := newCaseStore(t, nil)
	const interval = 200 * time.Millisecond
	for _, a := range algorithms {
		for k := range 1000 {
			s.take(sluice.Limit{Rate: sluice.Per(1, interval), Algorithm: a}.Charge(fmt.Sprint(k)))
		}
	}
	last := time.Now()
	for s.conn.Int(s, "DBSIZE") > 0 {
		if time.Since(last) > 2*interval+5*time.Second { // Redis takes a second or so to notice by itself
			t.Fatalf("%d keys are left %v after the last call", s.conn.Int(s, "DBSIZE"), time.Since(last))
		}
		select {
		case <-time.After(5 * time.Millisecond):
		case <-t.Context().Done():
		}
	}
}

// TestCaseTTLInAnotherUnit: seconds are not taken for milliseconds, parts of a second are kept, and nothing is added to a short window.
func TestCaseTTLInAnotherUnit(t *testing.T) {
	t.Parallel()
	now := time.Unix(1_800_000_000, 0) // a whole multiple of each interval of a minute or less
	s := newCaseStore(t, func() time.Time { return now })
	for _, c := range []struct {
		rate   sluice.Rate
		use    int64
		bucket time.Duration // how long a bucket is kept: until it is full
	}{
		{sluice.Per(60, time.Minute), 60, time.Minute},
		{sluice.Per(60, time.Minute), 1, time.Second},
		{sluice.Per(1, time.Second), 1, time.Second},
		{sluice.Per(1, 600_001*time.Millisecond), 1, 600_001 * time.Millisecond},
		{sluice.Per(1, 1500*time.Millisecond), 1, 1500 * time.Millisecond},
		{sluice.Per(1, 250*time.Millisecond), 1, 250 * time.Millisecond},
		{sluice.Per(1, sluice.MaxInterval), 1, sluice.MaxInterval},
	} {
		for _, a := range algorithms {
			want := c.rate.Interval
			switch {
			case a == sluice.TokenBucket:
				want = c.bucket
			case a == sluice.AlignedWindow:
				want -= time.Duration(now.UnixMilli()) * time.Millisecond % want
			}
			s.take(sluice.Limit{Rate: c.rate, Algorithm: a}.ChargeN("k", c.use))
			s.wantTTL(fmt.Sprintf("%d of %v %v", c.use, c.rate, a), want)
			s.conn.Str(s, "FLUSHALL")
		}
	}
	validation := sluice.Limit{Rate: sluice.Per(3, 1000*time.Second), Algorithm: sluice.TokenBucket, Burst: 5}
	s.take(validation.ChargeN("k", 5))
	s.wantTTL(validation.String(), 1_666_667*time.Millisecond)
}

// wantTTL sees that the only key lives so long, less what has passed since it was written, and a millisecond more at most.
func (s *caseStore) wantTTL(what string, want time.Duration) {
	s.Helper()
	keys := s.conn.Strings(s, "KEYS", "*")
	if len(keys) == 0 && want < 5*time.Second {
		return // it took so long to ask
	}
	got := time.Duration(s.conn.Int(s, "PTTL", s.key())) * time.Millisecond
	if got > want+time.Millisecond || got < want-5*time.Second {
		s.Errorf("%s: the key lives for %v, want %v", what, got, want)
	}
}

// TestCaseEachHitRenewsTheWindow: a fixed window lives from its first call on, a sliding one until its last grant has left it.
func TestCaseEachHitRenewsTheWindow(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		algorithm sluice.Algorithm
		want      time.Duration
	}{{sluice.FixedWindow, 12 * time.Second}, {sluice.AlignedWindow, 12 * time.Second}, {sluice.SlidingWindow, time.Minute}, {sluice.TokenBucket, time.Second}} {
		now := time.Unix(1_800_000_000, 0)
		s := newCaseStore(t, func() time.Time { return now })
		l := sluice.Limit{Rate: sluice.Per(60, time.Minute), Algorithm: c.algorithm}
		s.take(l.Charge("k"))
		now = now.Add(48 * time.Second)
		s.take(l.Charge("k"))
		s.wantTTL(l.String(), c.want)
	}
}

// TestCaseTTLIsLostOrZero: the window is in the state and not in the TTL. A key that has lost its TTL counts as before and gets one again; one whose
// TTL has run out is a new window, even if the window was not over.
func TestCaseTTLIsLostOrZero(t *testing.T) {
	t.Parallel()
	for _, a := range algorithms {
		now := time.Unix(1_800_000_000, 0)
		s := newCaseStore(t, func() time.Time { return now })
		l := sluice.Limit{Rate: sluice.Per(10, time.Minute), Algorithm: a}
		s.take(l.ChargeN("k", 8))
		s.conn.Int(s, "PERSIST", s.key())
		if o := s.take(l.ChargeN("k", 1)); !o.Allowed || o.Remaining != 1 {
			t.Errorf("%v: after the TTL was lost: %+v, want one left", l, o)
		}
		if ttl := s.conn.Int(s, "PTTL", s.key()); ttl <= 0 {
			t.Errorf("%v: the TTL is %d, want one", l, ttl)
		}
		s.conn.Int(s, "PERSIST", s.key())
		now = now.Add(time.Minute)
		if o := s.take(l.ChargeN("k", 9)); !o.Allowed {
			t.Errorf("%v: in the next window: %+v, want allowed", l, o)
		}
		s.conn.Int(s, "PEXPIRE", s.key(), 0)
		if o := s.take(l.ChargeN("k", 10)); !o.Allowed || o.Remaining != 0 {
			t.Errorf("%v: when the key is gone: %+v, want allowed", l, o)
		}
	}
}
