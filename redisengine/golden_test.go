package redisengine_test

import (
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/sluice-rate/sluice"
	"github.com/sluice-rate/sluice/internal/redistest"
	"github.com/sluice-rate/sluice/redisengine"
)

// The bytes in Redis are those of Redisson. What is expected here was written down from its source and from what it stored, not from
// what this library stores.

// goldenTime is 2026-10-01 12:34:56.789012 UTC; a grant of that moment is dated goldenScore.
const (
	goldenTime  = 1_790_858_096_789_012
	goldenScore = "1790858096790"
	goldenID    = "0b7d6c4e-3a4f-4c8e-9d3b-5f0a1b2c3d4e"
)

// golden is a store with one client.
type golden struct {
	*testing.T
	conn   *redistest.Conn
	engine *redisengine.Engine
	client *sluice.Client
	now    time.Time
}

func newGolden(t *testing.T, conn *redistest.Conn) *golden {
	g := &golden{T: t, conn: conn, now: time.UnixMicro(goldenTime)}
	if _, err := conn.Do(t.Context(), "FLUSHALL"); err != nil {
		t.Fatal(err)
	}
	g.engine = redisengine.New(conn, &redisengine.Options{Now: func() time.Time { return g.now }})
	g.client = sluice.New(g.engine, sluice.WithClientID(goldenID))
	return g
}

func (g *golden) must(err error) {
	g.Helper()
	if err != nil {
		g.Fatal(err)
	}
}

// take takes with a receipt of the ID a0 a1 … af.
func (g *golden) take(name string, permits uint32) {
	g.Helper()
	var id [16]byte
	for i := range id {
		id[i] = 0xa0 + byte(i)
	}
	t := sluice.Take{Key: sluice.Key{Limiter: name, Client: goldenID}, Receipt: sluice.ReceiptFrom(id, permits)}
	answers, err := g.engine.Take(g.Context(), []sluice.Take{t})
	g.must(err)
	if a := answers[0]; a.Err != nil || !a.Decision.Allowed {
		g.Fatalf("Take(%d) = %+v, want a grant", permits, a)
	}
}

// keys is what is stored: type and content of each key.
func (g *golden) keys() map[string]string {
	g.Helper()
	all := make(map[string]string)
	for _, key := range g.conn.Strings(g, "KEYS", "*") {
		switch kind := g.conn.Str(g, "TYPE", key); kind {
		case "string":
			all[key] = "string " + g.conn.Str(g, "GET", key)
		case "hash":
			fields := g.conn.Strings(g, "HGETALL", key)
			var pairs []string
			for i := 0; i < len(fields); i += 2 {
				pairs = append(pairs, fields[i]+"="+fields[i+1])
			}
			slices.Sort(pairs)
			all[key] = fmt.Sprint("hash ", pairs)
		case "zset":
			list := g.conn.Strings(g, "ZRANGE", key, 0, -1, "WITHSCORES")
			all[key] = "zset"
			for i := 0; i < len(list); i += 2 {
				all[key] += " " + hex.EncodeToString([]byte(list[i])) + "@" + list[i+1]
			}
		default:
			all[key] = kind
		}
	}
	return all
}

func (g *golden) want(want map[string]string) {
	g.Helper()
	got := g.keys()
	if maps.Equal(got, want) {
		return
	}
	for key := range want {
		if got[key] != want[key] {
			g.Errorf("%s is %q, want %q", key, got[key], want[key])
		}
	}
	for key := range got {
		if _, found := want[key]; !found {
			g.Errorf("there is a key %s", key)
		}
	}
}

func TestGoldenKeys(t *testing.T) {
	conn := startPool(t).dial(t)
	entry := "zset 10a0a1a2a3a4a5a6a7a8a9aaabacadaeaf01000000@" + goldenScore
	for _, c := range []struct {
		name           string
		mode           sluice.Mode
		value, permits string
	}{
		{"foo", sluice.Overall, "{foo}:value", "{foo}:permits"},
		{"foo", sluice.PerClient, "{foo}:value:" + goldenID, "{foo}:permits:" + goldenID},
		{"user:{42}:api", sluice.Overall, "user:{42}:api:value", "user:{42}:api:permits"},
		{"user:{42}:api", sluice.PerClient, "user:{42}:api:value:" + goldenID, "user:{42}:api:permits:" + goldenID},
		{"{a}", sluice.Overall, "{a}:value", "{a}:permits"},
		{"a{b}{}", sluice.Overall, "a{b}{}:value", "a{b}{}:permits"},
		{"order:submit", sluice.Overall, "{order:submit}:value", "{order:submit}:permits"},
	} {
		g := newGolden(t, conn)
		_, err := g.client.Limiter(c.name).TrySetRate(t.Context(), sluice.Config{Rate: sluice.Per(3, 5*time.Second), Mode: c.mode})
		g.must(err)
		config := fmt.Sprintf("hash [interval=5000 keepAliveTime=0 rate=3 type=%d]", c.mode)
		g.want(map[string]string{c.name: config})
		g.take(c.name, 1)
		g.want(map[string]string{c.name: config, c.value: "string 2", c.permits: entry})
	}
}

func TestGoldenConfiguration(t *testing.T) {
	conn := startPool(t).dial(t)
	for _, c := range []struct {
		config sluice.Config
		want   string
	}{
		{sluice.Config{Rate: sluice.Per(3, 5*time.Second)}, "hash [interval=5000 keepAliveTime=0 rate=3 type=0]"},
		{sluice.Config{Rate: sluice.Per(1, time.Millisecond), Mode: sluice.PerClient}, "hash [interval=1 keepAliveTime=0 rate=1 type=1]"},
		{sluice.Config{Rate: sluice.Per(100, time.Minute), KeepAlive: time.Hour}, "hash [interval=60000 keepAliveTime=3600000 rate=100 type=0]"},
		{sluice.Config{Rate: sluice.Per(sluice.MaxRate, sluice.MaxInterval)}, "hash [interval=3153600000000 keepAliveTime=0 rate=9007199254740991 type=0]"},
	} {
		for _, how := range []string{"TrySetRate", "SetRate", "UpdateRate"} {
			g := newGolden(t, conn)
			l := g.client.Limiter("foo")
			var err error
			switch how {
			case "TrySetRate":
				_, err = l.TrySetRate(t.Context(), c.config)
			case "SetRate":
				err = l.SetRate(t.Context(), c.config)
			case "UpdateRate":
				_, err = l.TrySetRate(t.Context(), sluice.Config{Rate: sluice.Per(7, 7*time.Second)})
				g.must(err)
				_, err = l.UpdateRate(t.Context(), c.config)
			}
			g.must(err)
			g.want(map[string]string{"foo": c.want})
			if got, err := l.Config(t.Context()); err != nil || got != c.config {
				t.Errorf("Config = %v, %v, want %v", got, err, c.config)
			}
		}
	}
}

func TestGoldenMembers(t *testing.T) {
	conn := startPool(t).dial(t)
	for _, c := range []struct {
		permits uint32
		member  string
		value   string
	}{
		{1, "10a0a1a2a3a4a5a6a7a8a9aaabacadaeaf01000000", "9999999999"},
		{258, "10a0a1a2a3a4a5a6a7a8a9aaabacadaeaf02010000", "9999999742"},
		{70000, "10a0a1a2a3a4a5a6a7a8a9aaabacadaeaf70110100", "9999930000"},
		{4294967295, "10a0a1a2a3a4a5a6a7a8a9aaabacadaeafffffffff", "5705032705"},
	} {
		g := newGolden(t, conn)
		_, err := g.client.Limiter("foo").TrySetRate(t.Context(), sluice.Config{Rate: sluice.Per(10_000_000_000, time.Second)})
		g.must(err)
		g.take("foo", c.permits)
		g.want(map[string]string{
			"foo":           "hash [interval=1000 keepAliveTime=0 rate=10000000000 type=0]",
			"{foo}:value":   "string " + c.value,
			"{foo}:permits": "zset " + c.member + "@" + goldenScore,
		})
	}
}

// Those who wait have scores with a fraction, by steps of 2^-10 ms, and value is negative meanwhile: Redisson bears both.
func TestGoldenReservations(t *testing.T) {
	g := newGolden(t, startPool(t).dial(t))
	l := g.client.Limiter("foo")
	_, err := l.TrySetRate(t.Context(), sluice.Config{Rate: sluice.Per(2, time.Second)})
	g.must(err)
	g.take("foo", 2)
	var receipts []sluice.Receipt
	for range 2 {
		r, err := l.Reserve(t.Context(), 1, time.Minute)
		g.must(err)
		receipts = append(receipts, r.Receipt)
	}
	first, second := receipts[0].String(), receipts[1].String()
	g.want(map[string]string{
		"foo":         "hash [interval=1000 keepAliveTime=0 rate=2 type=0]",
		"{foo}:value": "string -2",
		"{foo}:permits": "zset 10a0a1a2a3a4a5a6a7a8a9aaabacadaeaf02000000@1790858096790" +
			" 10" + first + "@1790858097790 10" + second + "@1790858097790.001",
	})
}

// Entries in the formats of older versions, and of another writer, count for what they hold.
func TestGoldenOldMembers(t *testing.T) {
	conn := startPool(t).dial(t)
	for _, c := range []struct {
		version string
		member  string
		permits int64
	}{
		{"3.13.3, a float for the random part", "81f3dd5e" + "01000000", 1},
		{"3.13.3, many permits", "81f3dd5e" + "02010000", 258},
		{"3.16.4, a length of eight bytes", "0800000000000000" + "a0a1a2a3a4a5a6a7" + "01000000", 1},
		{"3.16.4, many permits", "0800000000000000" + "a0a1a2a3a4a5a6a7" + "70110100", 70000},
		{"3.17.0, eight random bytes", "08" + "a0a1a2a3a4a5a6a7" + "01000000", 1},
		{"3.17.0, many permits", "08" + "a0a1a2a3a4a5a6a7" + "70110100", 70000},
		{"3.21.0, sixteen random bytes", "10" + "b0b1b2b3b4b5b6b7b8b9babbbcbdbebf" + "02010000", 258},
		{"a writer with four random bytes", "04" + "a0a1a2a3" + "05000000", 5},
	} {
		t.Run(c.version, func(t *testing.T) {
			g := newGolden(t, conn)
			ctx, l := t.Context(), g.client.Limiter("foo")
			_, err := l.TrySetRate(ctx, sluice.Config{Rate: sluice.Per(100_000, time.Second)})
			g.must(err)
			member, err := hex.DecodeString(c.member)
			g.must(err)
			g.conn.Int(t, "ZADD", "{foo}:permits", goldenScore, member)
			for _, value := range []string{strconv.FormatInt(100_000-c.permits, 10), ""} {
				if value == "" {
					g.conn.Int(t, "DEL", "{foo}:value")
				} else {
					g.conn.Str(t, "SET", "{foo}:value", value)
				}
				if n, err := l.Available(ctx); err != nil || n != 100_000-c.permits {
					t.Errorf("Available with the value %q = %d, %v, want %d", value, n, err, 100_000-c.permits)
				}
				if d, err := l.TryAcquire(ctx, 100_000-c.permits+1); err != nil || d.Allowed || d.Remaining != 100_000-c.permits {
					t.Errorf("TryAcquire of one more than is free with the value %q = %+v, %v, want a refusal", value, d, err)
				}
			}
			for e, err := range l.Ledger(ctx) {
				if err != nil || e.Permits != c.permits || e.Kind != sluice.KindForeign || e.At.UnixMilli() != 1790858096790 {
					t.Errorf("Ledger has %+v, %v, want %d permits of another's", e, err, c.permits)
				}
			}
			if freed, err := l.Release(ctx, 1); err != nil || freed != 1 {
				t.Errorf("Release(1) = %d, %v, want 1", freed, err)
			}
			if n, err := l.Available(ctx); err != nil || n != 100_000-c.permits+1 {
				t.Errorf("Available after a release = %d, %v, want %d", n, err, 100_000-c.permits+1)
			}
			g.now = g.now.Add(time.Second + time.Millisecond)
			if d, err := l.TryAcquire(ctx, 100_000); err != nil || !d.Allowed {
				t.Errorf("after the interval: %+v, %v, want all", d, err)
			}
		})
	}
}

// A configuration of 3.37 or older has no keepAliveTime, and one that a tool wrote has more fields.
func TestGoldenOldConfiguration(t *testing.T) {
	conn := startPool(t).dial(t)
	for _, fields := range [][]any{
		{"rate", 3, "interval", 5000, "type", 0},
		{"rate", 3, "interval", 5000, "type", 0, "keepAliveTime", 0, "owner", "us"},
	} {
		g := newGolden(t, conn)
		g.conn.Int(t, slices.Concat([]any{"HSET", "foo"}, fields)...)
		before := g.keys()
		l := g.client.Limiter("foo")
		want := sluice.Config{Rate: sluice.Per(3, 5*time.Second)}
		if got, err := l.Config(t.Context()); err != nil || got != want {
			t.Errorf("Config of %v = %v, %v, want %v", fields, got, err, want)
		}
		if ttl, err := l.TTL(t.Context()); err != nil || ttl != 0 {
			t.Errorf("TTL of %v = %v, %v, want 0", fields, ttl, err)
		}
		g.want(before)
		g.take("foo", 3)
		before["{foo}:value"] = "string 0"
		before["{foo}:permits"] = "zset 10a0a1a2a3a4a5a6a7a8a9aaabacadaeaf03000000@" + goldenScore
		g.want(before)
	}
}
