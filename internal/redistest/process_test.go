package redistest_test

import (
	"errors"
	"net"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/sluice-rate/sluice/internal/redistest"
)

// TestChild is not a test: the tests below run it in a process of its own.
func TestChild(t *testing.T) {
	switch os.Getenv("REDISTEST_CHILD") {
	case "start":
		redistest.Start(t)
	case "start Redis 7.0":
		redistest.Redis7.Start(t)
	case "start Redis 8.0":
		redistest.Redis8.Start(t)
	case "bad argument":
		redistest.Start(t, "--no-such-option", "1")
	case "unprefixed argument":
		redistest.Start(t, "maxmemory", "1mb")
	case "exit":
		os.Stdout.WriteString("addr=" + redistest.Start(t).Addr() + "\n")
		os.Exit(3)
	}
}

// child runs TestChild in a new process and returns what it printed, and whether
// it passed.
func child(t *testing.T, mode string, env ...string) (string, bool) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestChild$", "-test.v")
	cmd.Env = append(os.Environ(), "REDISTEST_CHILD="+mode)
	cmd.Env = append(cmd.Env, env...)
	out, err := cmd.CombinedOutput()
	if _, failed := errors.AsType[*exec.ExitError](err); err != nil && !failed {
		t.Fatal(err)
	}
	return string(out), err == nil
}

func TestNoServerInstalled(t *testing.T) {
	t.Parallel()
	const missing = "SLUICE_REDIS_SERVER=no-such-redis-server"
	for _, test := range []struct {
		name, ci, want string
		passes         bool
	}{
		{"skips at a desk", "CI=", "--- SKIP", true},
		{"fails in CI", "CI=true", "--- FAIL", false},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			out, passed := child(t, "start", missing, test.ci)
			if passed != test.passes || !strings.Contains(out, test.want) {
				t.Errorf("passed = %v, want %v and %q in:\n%s", passed, test.passes, test.want, out)
			}
			for _, want := range []string{"no-such-redis-server", "apt-get install redis-server", "SLUICE_REDIS_SERVER"} {
				if !strings.Contains(out, want) {
					t.Errorf("no %q in:\n%s", want, out)
				}
			}
		})
	}
}

func TestBinaryByEnvironment(t *testing.T) {
	t.Parallel()
	redistest.Start(t) // skips if there is none
	path := os.Getenv("SLUICE_REDIS_SERVER")
	if path == "" {
		path = "redis-server"
	}
	path, err := exec.LookPath(path)
	if err != nil {
		t.Fatal(err)
	}
	if out, passed := child(t, "start", "SLUICE_REDIS_SERVER="+path, "PATH=", "CI=true"); !passed {
		t.Errorf("with SLUICE_REDIS_SERVER and an empty PATH:\n%s", out)
	}
}

func TestStartSaysWhyItFailed(t *testing.T) {
	t.Parallel()
	redistest.Start(t) // skips if there is none
	for mode, want := range map[string]string{
		"bad argument":        "no-such-option",
		"unprefixed argument": `argument "maxmemory": want the server's own spelling`,
	} {
		if out, passed := child(t, mode); passed || !strings.Contains(out, want) {
			t.Errorf("%s: passed = %v, want a failure with %q in:\n%s", mode, passed, want, out)
		}
	}
}

func TestServerEndsWhenItsTestProcessDies(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("only Linux kills the children of a dead process")
	}
	redistest.Start(t) // skips if there is none
	out, _ := child(t, "exit")
	_, rest, ok := strings.Cut(out, "addr=")
	addr, _, _ := strings.Cut(rest, "\n")
	if !ok {
		t.Fatalf("no address in:\n%s", out)
	}
	await(t, "death of "+addr, func() bool {
		conn, err := net.DialTimeout("tcp", addr, time.Second)
		if err == nil {
			conn.Close()
		}
		return err != nil
	})
}

// To the kernel the parent is the thread that forked, and threads do end: each with a
// goroutine that was locked to it.
func TestServerOutlivesThreadsOfTheTest(t *testing.T) {
	t.Parallel()
	c := redistest.Dial(t, redistest.Start(t).Addr())
	for range 100 {
		var wg sync.WaitGroup
		for range 8 {
			wg.Go(func() { runtime.LockOSThread() })
		}
		wg.Wait()
	}
	for range 200 { // the last threads end a moment later
		c.Str(t, "PING")
	}
}
