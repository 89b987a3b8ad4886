package redistest_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/sluice-rate/sluice/internal/redistest"
)

func TestStartSentinels(t *testing.T) {
	t.Parallel()
	w := redistest.StartSentinels(t, 2, 3)
	if len(w.Servers) != 3 || len(w.Sentinels) != 3 || len(w.Addrs()) != 3 {
		t.Fatalf("%d servers and %d sentinels at %v, want 3 of each", len(w.Servers), len(w.Sentinels), w.Addrs())
	}
	if got := w.Master(t); got != w.Servers[0] {
		t.Errorf("Master() = %v, want the first server", got)
	}
	for i, s := range w.Servers {
		want := "slave"
		if i == 0 {
			want = "master"
		}
		if got := redistest.Dial(t, s.Addr()).Info(t, "replication")["role"]; got != want {
			t.Errorf("server %d is a %s, want %s", i, got, want)
		}
	}

	// Without its master the set has another one, with the data, which takes writes.
	old := w.Servers[0]
	c := redistest.Dial(t, old.Addr())
	c.Str(t, "SET", "k", "v")
	if n := c.Int(t, "WAIT", 2, 10_000); n != 2 {
		t.Fatalf("%d replicas have the write, want 2", n)
	}
	old.Stop()
	next := w.AwaitMaster(t, old)
	c = redistest.Dial(t, next.Addr())
	if got := c.Str(t, "GET", "k"); got != "v" {
		t.Errorf("GET after the switch = %q, want v", got)
	}
	c.Str(t, "SET", "k", "w")

	// The old master comes back as a replica of the new one.
	old.Restart(t)
	c = redistest.Dial(t, old.Addr())
	await(t, "replica at "+old.Addr(), func() bool {
		reply, err := c.Do(t.Context(), "INFO", "replication") // sentinels close the connections of clients as they tell it
		info, _ := reply.(string)
		return err == nil && strings.Contains(info, "role:slave") && strings.Contains(info, "master_link_status:up")
	})
	if got := c.Str(t, "GET", "k"); got != "w" {
		t.Errorf("GET of the old master = %q, want w", got)
	}
	if _, err := c.Do(t.Context(), "SET", "k", "x"); !isReadOnly(err) {
		t.Errorf("SET of the old master: %v, want READONLY", err)
	}
}

func TestOneSentinelIsQuiet(t *testing.T) {
	t.Parallel()
	w := redistest.StartSentinels(t, 1, 1)
	c := redistest.Dial(t, w.Servers[0].Addr())
	c.Str(t, "SET", "k", "v")
	if n := c.Int(t, "WAIT", 1, 10_000); n != 1 {
		t.Fatalf("%d replicas have the write, want 1", n)
	}
	before, pinged := c.ReplOffset(t), calls(t, c, "cmdstat_ping")
	await(t, "second and third ping of the sentinel", func() bool { return calls(t, c, "cmdstat_ping") >= pinged+2 })
	if after := c.ReplOffset(t); after != before {
		t.Errorf("ReplOffset() = %d, want %d: nobody has written", after, before)
	}
}

func TestSentinelsNeedReplicas(t *testing.T) {
	t.Parallel()
	r := &recorder{TB: t}
	done := make(chan struct{})
	go func() {
		defer close(done)
		redistest.StartSentinels(r, 0, 1)
	}()
	<-done
	if !strings.Contains(r.fatal, "0 replicas") {
		t.Errorf("failed with %q, want 0 replicas in it", r.fatal)
	}
}

// calls is how often the server has run a command.
func calls(t *testing.T, c *redistest.Conn, command string) (n int64) {
	t.Helper()
	stat := c.Info(t, "commandstats")[command]
	_, rest, _ := strings.Cut(stat, "calls=")
	for _, digit := range rest {
		if digit < '0' || digit > '9' {
			break
		}
		n = 10*n + int64(digit-'0')
	}
	return n
}

func isReadOnly(err error) bool {
	e, ok := errors.AsType[redistest.Error](err)
	return ok && strings.HasPrefix(string(e), "READONLY")
}
