package cli_test

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9/logging"

	"github.com/sluice-rate/sluice"
	"github.com/sluice-rate/sluice/cmd/sluice/internal/cli"
	"github.com/sluice-rate/sluice/internal/redistest"
	"github.com/sluice-rate/sluice/redisengine"
)

func TestMain(m *testing.M) {
	logging.Disable() // as in main
	os.Exit(m.Run())
}

// result is what a run of the program came to.
type result struct {
	status         int
	stdout, stderr string
}

// run runs the program where SLUICE_REDIS_URL is url, with no terminal.
func run(ctx context.Context, url string, args ...string) result {
	var stdout, stderr bytes.Buffer
	status := cli.Run(ctx, cli.Env{
		Args:   args,
		Stdin:  strings.NewReader(""),
		Stdout: &stdout,
		Stderr: &stderr,
		LookupEnv: func(name string) (string, bool) {
			return url, name == "SLUICE_REDIS_URL" && url != ""
		},
	})
	return result{status, stdout.String(), stderr.String()}
}

// nowhere is a Redis that is not there, for runs that must not need one.
const nowhere = "redis://127.0.0.1:1"

// world is a Redis, and the program run against it.
type world struct {
	t      *testing.T
	server *redistest.Server
	conn   *redistest.Conn
	client *sluice.Client
}

func newWorld(t *testing.T) *world {
	t.Helper()
	server := redistest.Start(t)
	conn := redistest.Dial(t, server.Addr())
	return &world{t, server, conn, sluice.New(redisengine.New(conn, nil))}
}

func (w *world) run(args ...string) result {
	w.t.Helper()
	return run(w.t.Context(), w.server.URL(), args...)
}

// want runs the program and ends the test unless it has this exit status.
func (w *world) want(status int, args ...string) result {
	w.t.Helper()
	r := w.run(args...)
	if r.status != status {
		w.t.Fatalf("sluice %s: exit status %d, want %d\nstdout: %sstderr: %s", strings.Join(args, " "), r.status, status, r.stdout, r.stderr)
	}
	return r
}

// config is the stored configuration of a limiter.
func (w *world) config(name string) sluice.Config {
	w.t.Helper()
	c, err := w.client.Limiter(name).Config(w.t.Context())
	if err != nil {
		w.t.Fatal(err)
	}
	return c
}

func (w *world) available(name string) int64 {
	w.t.Helper()
	n, err := w.client.Limiter(name).Available(w.t.Context())
	if err != nil {
		w.t.Fatal(err)
	}
	return n
}

// object reads what is to be one JSON object in one line.
func object(t *testing.T, text string) map[string]any {
	t.Helper()
	if strings.Count(text, "\n") != 1 || !strings.HasSuffix(text, "\n") {
		t.Fatalf("%q is not one line", text)
	}
	var m map[string]any
	if err := json.Unmarshal([]byte(text), &m); err != nil {
		t.Fatalf("%q: %v", text, err)
	}
	return m
}

// complaint checks that a run failed with one line on stderr, and nothing on stdout, and gives the line.
func complaint(t *testing.T, r result) string {
	t.Helper()
	if r.status != 1 {
		t.Errorf("exit status %d, want 1", r.status)
	}
	if r.stdout != "" {
		t.Errorf("stdout has %q, want nothing", r.stdout)
	}
	if !strings.HasPrefix(r.stderr, "sluice: ") || strings.Count(r.stderr, "\n") != 1 || !strings.HasSuffix(r.stderr, "\n") {
		t.Errorf("stderr is %q, want one line that begins with the program's name", r.stderr)
	}
	return r.stderr
}

// eventually polls until ok, and ends the test when that takes too long.
func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for deadline := time.Now().Add(5 * time.Second); !ok(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("still not so: %s", what)
		}
	}
}
