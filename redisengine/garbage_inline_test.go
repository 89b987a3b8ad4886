package redisengine_test

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/sluice-rate/sluice"
	"github.com/sluice-rate/sluice/internal/redistest"
	"github.com/sluice-rate/sluice/redisengine"
)

// TestGarbageUnderInlineLimits puts what no script wrote into the keys of inline limits: keys of other types, random bytes, states that were cut or
// changed (but for the dates of reservations, which can be anything). No call fails, no reservation is far off, and within an interval there is full service again.
func TestGarbageUnderInlineLimits(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	rnd := rand.New(rand.NewPCG(seed, 0))
	server := redistest.Start(t)
	conn := redistest.Dial(t, server.Addr())
	now := time.UnixMicro(1_790_000_000_000_000)
	c := sluice.New(redisengine.New(conn, &redisengine.Options{Now: func() time.Time { return now }}))
	do := func(args ...any) any {
		t.Helper()
		r, err := conn.Do(t.Context(), args...)
		if err != nil {
			t.Fatalf("%v: %v", args, err)
		}
		return r
	}
	count := 2000
	if testing.Short() {
		count = 400
	}
	for i := range count {
		a := sluice.Algorithm(i % 4)
		limit := sluice.Limit{Rate: sluice.Per(5, 10*time.Second), Algorithm: a}
		if a == sluice.SlidingWindow && i%8 == 0 {
			limit.Rate.Permits = 200 // states with more entries are counted in their header
		}
		key := fmt.Sprintf("sl:{g}:%c10000", "sbfa"[a])
		do("DEL", key)
		what := spoil(t, rnd, c, limit, key, do)
		for _, call := range []func() error{
			func() error { _, err := c.Take(t.Context(), limit.Charge("g")); return err },
			func() error { _, err := c.Peek(t.Context(), limit.Charge("g")); return err },
			func() error { _, err := c.Book(t.Context(), time.Minute, limit.Charge("g")); return err },
			func() error { _, err := c.TakeUpTo(t.Context(), 3, limit.Charge("g")); return err },
			func() error {
				o, err := c.Book(t.Context(), time.Minute, limit.Charge("g"))
				if err == nil && o.Allowed {
					_, err = c.Refund(t.Context(), o.Receipt, limit.Charge("g"))
				}
				return err
			},
		} {
			if err := call(); err != nil {
				t.Fatalf("garbage %d, %s under %v: %v", i, what, limit, err)
			}
		}
		now = now.Add(21 * time.Second) // of the callers above two may have waited for an interval each
		o, err := c.Take(t.Context(), limit.ChargeN("g", limit.Rate.Permits))
		if err == nil && !o.Allowed && limit.Rate.Permits == 200 { // what is wrong in the middle of a long state is found when it comes to its head
			now = now.Add(10*time.Second + time.Millisecond)
			o, err = c.Take(t.Context(), limit.ChargeN("g", limit.Rate.Permits))
		}
		if err != nil || !o.Allowed {
			t.Fatalf("garbage %d, %s: %v is not free an interval later: %+v, %v", i, what, limit, o, err)
		}
		if ttl := do("PTTL", key).(int64); ttl < 0 || ttl > 20_001 {
			t.Fatalf("garbage %d, %s: the key lives for %d ms", i, what, ttl)
		}
	}
}

// spoil spoils the key and says how.
func spoil(t *testing.T, rnd *rand.Rand, c *sluice.Client, limit sluice.Limit, key string, do func(args ...any) any) string {
	random := func(n int) string {
		b := make([]byte, n)
		for i := range b {
			b[i] = byte(rnd.Uint32())
		}
		return string(b)
	}
	switch rnd.IntN(8) {
	case 0:
		do("HSET", key, "rate", 5)
		return "a hash"
	case 1:
		do("RPUSH", key, "x")
		return "a list"
	case 2:
		text := random(rnd.IntN(200))
		do("SET", key, text)
		return fmt.Sprintf("%q", text)
	case 3:
		do("SET", key, "12345")
		return "a number"
	}
	for range 1 + rnd.IntN(int(limit.Rate.Permits)) {
		if _, err := c.Take(t.Context(), limit.Charge("g")); err != nil {
			t.Fatal(err)
		}
	}
	text := do("GET", key).(string)
	switch rnd.IntN(3) {
	case 0:
		text = text[:rnd.IntN(len(text))]
	case 1:
		text += random(1 + rnd.IntN(20))
	default:
		b := []byte(text)
		for range 1 + rnd.IntN(3) {
			b[rnd.IntN(len(b))] = byte(rnd.Uint32())
		}
		text = string(b)
	}
	do("SET", key, text)
	return fmt.Sprintf("%q", text)
}
