package redistest_test

import (
	"testing"
	"time"

	"github.com/sluice-rate/sluice/internal/redistest"
)

func TestInfo(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	info := redistest.Dial(t, s.Addr()).Info(t, "server")
	if got, want := "127.0.0.1:"+info["tcp_port"], s.Addr(); got != want {
		t.Errorf("tcp_port: %s, want %s", got, want)
	}
	if info["executable"] == "" || info["uptime_in_seconds"] == "" {
		t.Errorf("Info(server) = %q", info)
	}
}

func TestScriptStats(t *testing.T) {
	t.Parallel()
	c := redistest.Dial(t, redistest.Start(t).Addr())
	want := func(calls int64, atLeast float64) {
		t.Helper()
		if n, usec := c.ScriptStats(t); n != calls || usec < atLeast || (calls == 0) != (usec == 0) {
			t.Errorf("ScriptStats = %d, %v, want %d calls and %v µs or more", n, usec, calls, atLeast)
		}
	}
	want(0, 0)

	const script = "local sum = 0; for i = 1, 1e6 do sum = sum + i end; return 1"
	sha := c.Str(t, "SCRIPT", "LOAD", script)
	want(0, 0)
	c.Int(t, "EVAL", script, 0)
	c.Int(t, "EVALSHA", sha, 0)
	c.Int(t, "EVALSHA", sha, 0)
	want(3, 300) // a million steps take milliseconds

	c.ResetStats(t)
	want(0, 0)
}

func TestSlowlog(t *testing.T) {
	t.Parallel()
	c := redistest.Dial(t, redistest.Start(t,
		"--slowlog-log-slower-than", "1000", "--enable-debug-command", "yes").Addr())
	if got := c.Slowlog(t); len(got) != 0 {
		t.Errorf("Slowlog = %v, want none", got)
	}
	c.Str(t, "DEBUG", "SLEEP", 0.02)
	c.Str(t, "DEBUG", "SLEEP", 0.04)
	got := c.Slowlog(t)
	if len(got) < 2 || got[0] < 40*time.Millisecond || got[1] < 20*time.Millisecond || got[0] > 10*time.Second {
		t.Errorf("Slowlog = %v, want 40 ms and 20 ms and a bit", got)
	}
	c.ResetStats(t)
	if got := c.Slowlog(t); len(got) != 0 {
		t.Errorf("Slowlog after ResetStats = %v, want none", got)
	}
}

func TestReplOffset(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	c := redistest.Dial(t, s.Addr())
	c.Str(t, "SET", "k", 1)

	const noTrace = "redis.call('GET', KEYS[1]); redis.call('TIME'); return 1"
	last := c.ReplOffset(t)
	for _, test := range []struct {
		args  []any
		moves bool
	}{
		{[]any{"GET", "k"}, false},
		{[]any{"SET", "k", 2}, true},
		{[]any{"GET", "k"}, false},
		{[]any{"SET", "k", 2}, true}, // the same value again is a write
		{[]any{"PEXPIRE", "k", 100_000}, true},
		{[]any{"DEL", "missing"}, false},
		{[]any{"EVAL", noTrace, 1, "k"}, false},
		{[]any{"EVAL", "return redis.call('INCR', KEYS[1])", 1, "k"}, true},
		{[]any{"SCRIPT", "LOAD", noTrace}, false},
	} {
		if _, err := c.Do(t.Context(), test.args...); err != nil {
			t.Fatal(err)
		}
		offset := c.ReplOffset(t)
		if moved := offset > last; moved != test.moves || offset < last {
			t.Errorf("%v: offset %d -> %d, want moved = %v", test.args, last, offset, test.moves)
		}
		last = offset
	}
	for range 1000 {
		c.Int(t, "GET", "k")
	}
	if got := c.ReplOffset(t); got != last {
		t.Errorf("offset %d -> %d by a thousand reads", last, got)
	}

	info := c.Info(t, "replication")
	if info["role"] != "master" || info["connected_slaves"] != "0" {
		t.Errorf("role %s with %s replicas, want a master alone", info["role"], info["connected_slaves"])
	}
	if got := c.Info(t, "persistence")["rdb_saves"]; got != "" && got != "0" {
		t.Errorf("rdb_saves = %s, want none: counting forks nothing", got)
	}

	s.Restart(t)
	last = c.ReplOffset(t)
	c.Str(t, "SET", "k", 1)
	if got := c.ReplOffset(t); got <= last {
		t.Errorf("after a restart: offset %d -> %d by a SET", last, got)
	}
}
