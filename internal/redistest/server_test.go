package redistest_test

import (
	"context"
	"errors"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/sluice-rate/sluice/internal/redistest"
)

func TestStart(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	c := redistest.Dial(t, s.Addr())

	if got := c.Str(t, "PING"); got != "PONG" {
		t.Errorf("PING = %q, want PONG", got)
	}
	if got, want := s.URL(), "redis://"+s.Addr()+"/0"; got != want {
		t.Errorf("URL() = %q, want %q", got, want)
	}
	if host, _, err := net.SplitHostPort(s.Addr()); host != "127.0.0.1" || err != nil {
		t.Errorf("Addr() = %q, want a port of 127.0.0.1", s.Addr())
	}
	for key, want := range map[string]string{"save": "", "appendonly": "no", "bind": "127.0.0.1"} {
		if got := c.Strings(t, "CONFIG", "GET", key); len(got) != 2 || got[1] != want {
			t.Errorf("CONFIG GET %s = %q, want %q", key, got, want)
		}
	}
}

func TestStartPassesArguments(t *testing.T) {
	t.Parallel()
	c := redistest.Dial(t, redistest.Start(t, "--maxmemory", "2mb", "--appendonly", "yes").Addr())
	if got := c.Strings(t, "CONFIG", "GET", "maxmemory"); got[1] != "2097152" {
		t.Errorf("maxmemory = %s, want 2097152", got[1])
	}
	if got := c.Strings(t, "CONFIG", "GET", "appendonly"); got[1] != "yes" {
		t.Errorf("appendonly = %s, want yes: a caller's argument wins", got[1])
	}
}

func TestServersAreApart(t *testing.T) {
	t.Parallel()
	a, b := redistest.Start(t), redistest.Start(t)
	if a.Addr() == b.Addr() {
		t.Fatalf("two servers at %s", a.Addr())
	}
	redistest.Dial(t, a.Addr()).Str(t, "SET", "k", "a")
	if got := redistest.Dial(t, b.Addr()).Int(t, "EXISTS", "k"); got != 0 {
		t.Errorf("EXISTS on the other server = %d, want 0", got)
	}
}

func TestServerEndsWithItsTest(t *testing.T) {
	t.Parallel()
	var addr string
	t.Run("inner", func(t *testing.T) { addr = redistest.Start(t).Addr() })
	wantDown(t, addr)
}

func TestPausedServerEndsWithItsTest(t *testing.T) {
	t.Parallel()
	var addr string
	t.Run("inner", func(t *testing.T) {
		s := redistest.Start(t)
		s.Pause()
		addr = s.Addr()
	})
	wantDown(t, addr)
}

func TestStop(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	c := redistest.Dial(t, s.Addr())
	s.Stop()
	s.Stop() // does nothing
	wantDown(t, s.Addr())
	if _, err := c.Do(t.Context(), "PING"); err == nil {
		t.Error("PING of a stopped server: no error")
	}
}

func TestRestart(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	c := redistest.Dial(t, s.Addr())
	addr, before := s.Addr(), c.Info(t, "server")["run_id"]
	c.Str(t, "SET", "k", "v")

	s.Restart(t) // while it runs
	if s.Addr() != addr {
		t.Errorf("Addr() after a restart = %s, want %s", s.Addr(), addr)
	}
	if after := c.Info(t, "server")["run_id"]; after == before {
		t.Errorf("run_id = %s before and after", after)
	}
	if got := c.Int(t, "EXISTS", "k"); got != 0 {
		t.Errorf("EXISTS after a restart = %d, want 0: nothing persists", got)
	}

	s.Stop()
	s.Restart(t)
	if got := c.Str(t, "PING"); got != "PONG" {
		t.Errorf("PING after Stop and Restart = %q, want PONG", got)
	}
}

func TestRestartKeepsWhatIsPersisted(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t, "--appendonly", "yes", "--appendfsync", "always")
	c := redistest.Dial(t, s.Addr())
	c.Str(t, "SET", "k", "v")
	s.Restart(t)
	if got := c.Str(t, "GET", "k"); got != "v" {
		t.Errorf("GET after a restart = %q, want v", got)
	}
}

func TestPause(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	c := redistest.Dial(t, s.Addr())
	for range 20 {
		s.Pause()
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Millisecond)
		v, err := c.Do(ctx, "PING")
		cancel()
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Fatalf("PING of a paused server = %v, %v, want %v", v, err, context.DeadlineExceeded)
		}
		s.Resume()
		c.Str(t, "PING")
	}

	// What is sent to a paused server is served when it goes on.
	s.Pause()
	served := make(chan error, 1)
	go func() {
		_, err := c.Do(t.Context(), "SET", "k", "v")
		served <- err
	}()
	select {
	case err := <-served:
		t.Errorf("SET of a paused server: %v, want no answer", err)
	case <-time.After(20 * time.Millisecond):
	}
	s.Resume()
	if err := <-served; err != nil {
		t.Errorf("SET after Resume: %v", err)
	}
}

// wantDown checks that nobody listens at addr.
func wantDown(t *testing.T, addr string) {
	t.Helper()
	conn, err := net.DialTimeout("tcp", addr, time.Second)
	if err == nil {
		conn.Close()
		t.Errorf("%s still listens", addr)
	} else if !strings.Contains(err.Error(), "refused") {
		t.Errorf("dial %s: %v, want a refusal", addr, err)
	}
}

// await polls until done, for ten seconds at most.
func await(t *testing.T, what string, done func() bool) {
	t.Helper()
	for deadline := time.Now().Add(10 * time.Second); !done(); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("no %s after 10 s", what)
		}
	}
}
