package interop

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/sluice-rate/sluice"
)

const workEnv = "SLUICE_INTEROP_LOAD" // the server's URL and how long to work

// startWorkers runs this test binary again, a few times, for TestLoad. What it gives waits for their end and says what they were granted.
func startWorkers(t *testing.T, url string, took time.Duration) func() []grant {
	t.Helper()
	var wg sync.WaitGroup
	all := make([][]grant, loadWorkers)
	for i := range loadWorkers {
		cmd := exec.Command(os.Args[0], "-test.run=^TestLoad$", "-test.timeout=10m")
		cmd.Env = append(os.Environ(), workEnv+"="+url+" "+took.String())
		cmd.Stderr = os.Stderr
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { cmd.Process.Kill() })
		wg.Go(func() {
			all[i] = readGrants(t, out)
			if err := cmd.Wait(); err != nil {
				t.Errorf("a process of Go: %v", err)
			}
		})
	}
	return func() (grants []grant) {
		wg.Wait()
		for _, some := range all {
			grants = append(grants, some...)
		}
		return grants
	}
}

func readGrants(t *testing.T, out io.Reader) (all []grant) {
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		var g grant
		if _, err := fmt.Sscanf(lines.Text(), "grant %d %d %d", &g.arrived, &g.at, &g.permits); err == nil {
			g.ledger = (g.at + 999) / 1000 * 1000 // at once is rounded up in the ledger
			all = append(all, g)
		} else if text := lines.Text(); text != "PASS" && !strings.HasPrefix(text, "ok") {
			t.Errorf("a process of Go says: %s", text)
		}
	}
	return all
}

// working does a worker's part, and says whether this process is one.
func working(t *testing.T) bool {
	task := os.Getenv(workEnv)
	if task == "" {
		return false
	}
	url, duration, _ := strings.Cut(task, " ")
	took, err := time.ParseDuration(duration)
	if err != nil {
		t.Fatal(err)
	}
	out := &recorder{w: bufio.NewWriter(os.Stdout)}
	defer out.w.Flush()
	ctx, cancel := context.WithTimeout(t.Context(), took)
	defer cancel()
	l := newGopher(t, url, "load").limiter
	var wg sync.WaitGroup
	for i := range 2 {
		wg.Go(func() {
			for n := i; ctx.Err() == nil; n++ {
				d, err := take(ctx, l, n)
				switch {
				case err != nil && ctx.Err() == nil && !errors.Is(err, sluice.ErrLimited):
					t.Errorf("worker: %v", err)
				case err == nil && d.Allowed:
					out.note(d)
				}
				time.Sleep(500 * time.Microsecond)
			}
		})
	}
	wg.Wait()
	return true
}

// take takes in one way or another.
func take(ctx context.Context, l *sluice.Limiter, n int) (sluice.Decision, error) {
	switch n % 3 {
	case 0:
		return l.TryAcquire(ctx, 1)
	case 1:
		return l.TryAcquireFor(ctx, int64(1+n%2), 200*time.Millisecond)
	}
	return l.TryAcquireFor(ctx, 1, sluice.MaxInterval) // what Acquire does, with the decision
}

type recorder struct {
	mu sync.Mutex
	w  *bufio.Writer
}

func (r *recorder) note(d sluice.Decision) {
	r.mu.Lock()
	defer r.mu.Unlock()
	fmt.Fprintf(r.w, "grant %d %d %d\n", d.At.UnixMicro(), d.Date.UnixMicro(), d.Permits)
}
