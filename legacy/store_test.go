package legacy_test

import (
	"context"
	"encoding/hex"
	"maps"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/sluice-rate/sluice"
	"github.com/sluice-rate/sluice/internal/redistest"
	"github.com/sluice-rate/sluice/legacy"
)

const clientID = "0b7d6c4e-3a4f-4c8e-9d3b-5f0a1b2c3d4e"

// pool is a few servers that tests have in turn, each for itself.
type pool chan *redistest.Server

func startPool(t *testing.T, release redistest.Release) pool {
	p := make(pool, runtime.GOMAXPROCS(0))
	for range cap(p) {
		p <- release.Start(t)
	}
	return p
}

// store is an empty server with one client. Its clock is driven by making lives shorter.
type store struct {
	*testing.T
	conn   *redistest.Conn
	trips  atomic.Int64
	client *legacy.Client
}

func (p pool) store(t *testing.T) *store {
	t.Helper()
	server := <-p
	t.Cleanup(func() { p <- server })
	return newStore(t, server)
}

func newStore(t *testing.T, server *redistest.Server) *store {
	t.Helper()
	s := &store{T: t, conn: redistest.Dial(t, server.Addr())}
	s.clear()
	s.client = legacy.New(counted{s.conn, &s.trips}, &legacy.Options{ClientID: clientID})
	return s
}

// counted counts trips.
type counted struct {
	*redistest.Conn
	trips *atomic.Int64
}

func (c counted) Eval(ctx context.Context, script string, keys []string, args ...any) *redistest.Reply {
	c.trips.Add(1)
	return c.Conn.Eval(ctx, script, keys, args...)
}

func (c counted) EvalSha(ctx context.Context, sha1 string, keys []string, args ...any) *redistest.Reply {
	c.trips.Add(1)
	return c.Conn.EvalSha(ctx, sha1, keys, args...)
}

func (s *store) clear() {
	s.Helper()
	s.do("FLUSHALL")
}

func (s *store) do(args ...any) any {
	s.Helper()
	v, err := s.conn.Do(s.Context(), args...)
	if err != nil {
		s.Fatalf("%v: %v", args, err)
	}
	return v
}

func (s *store) must(err error) {
	s.Helper()
	if err != nil {
		s.Fatal(err)
	}
}

// limiter makes a limiter with a rate.
func (s *store) limiter(name string, rate sluice.Rate) *legacy.Limiter {
	s.Helper()
	l := s.client.Limiter(name)
	if done, err := l.TrySetRate(s.Context(), sluice.Config{Rate: rate}); err != nil || !done {
		s.Fatalf("TrySetRate(%v) = %v, %v, want true", rate, done, err)
	}
	return l
}

// pass lets time pass for the keys that do not live for ever.
func (s *store) pass(d time.Duration) {
	s.Helper()
	for _, key := range s.conn.Strings(s, "KEYS", "*") {
		if life := s.conn.Int(s, "PTTL", key); life > d.Milliseconds() {
			s.do("PEXPIRE", key, life-d.Milliseconds())
		} else if life >= 0 {
			s.do("DEL", key)
		}
	}
}

// keys is what is stored: type and content of each key, and whether it lives for ever.
func (s *store) keys() map[string]string {
	s.Helper()
	all := make(map[string]string)
	for _, key := range s.conn.Strings(s, "KEYS", "*") {
		kind := s.conn.Str(s, "TYPE", key)
		parts := []string{kind}
		switch kind {
		case "string":
			parts = append(parts, s.conn.Str(s, "GET", key))
		case "hash":
			fields := s.conn.Strings(s, "HGETALL", key)
			for i := 0; i < len(fields); i += 2 {
				parts = append(parts, fields[i]+"="+fields[i+1])
			}
		default:
			parts = append(parts, hex.EncodeToString([]byte(s.conn.Str(s, "DUMP", key))))
		}
		if s.conn.Int(s, "PTTL", key) >= 0 {
			parts = append(parts, "for a time")
		}
		all[key] = strings.Join(parts, " ")
	}
	return all
}

// want compares what is stored.
func (s *store) want(want map[string]string) {
	s.Helper()
	got := s.keys()
	if maps.Equal(got, want) {
		return
	}
	for _, key := range slices.Sorted(maps.Keys(want)) {
		if got[key] != want[key] {
			s.Errorf("%s is %q, want %q", key, got[key], want[key])
		}
	}
	for _, key := range slices.Sorted(maps.Keys(got)) {
		if _, found := want[key]; !found {
			s.Errorf("there is a key %s: %s", key, got[key])
		}
	}
}

// wantLife sees that a key lives for about so long: not longer, and not shorter by more than this machine may take.
func (s *store) wantLife(key string, want time.Duration) {
	s.Helper()
	if life := time.Duration(s.conn.Int(s, "PTTL", key)) * time.Millisecond; life > want || life < want-5*time.Second {
		s.Errorf("%s lives for %v, want %v", key, life, want)
	}
}
