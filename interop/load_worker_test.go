package interop

import (
	"bufio"
	"context"
	"encoding/hex"
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

const partEnv = "SLUICE_INTEROP_PART" // the server's URL and how long to work

// part is what a process of Go says of its work.
type part struct {
	takes    []taken
	acquired int // by Acquire, which tells no more than that
}

// taken is a grant as its caller knows it.
type taken struct {
	id      string // of the receipt
	at      int64  // the moment of the decision
	date    int64  // from when on the permits may be used
	permits int64
}

// startParts runs this test binary a few times, which then runs only this test. What it gives waits for their end.
func startParts(t *testing.T, url string, took time.Duration) func() []part {
	t.Helper()
	name, _, _ := strings.Cut(t.Name(), "/")
	var wg sync.WaitGroup
	parts := make([]part, loadWorkers)
	for i := range parts {
		cmd := exec.Command(os.Args[0], "-test.run=^"+name+"$", "-test.timeout=10m")
		cmd.Env = append(os.Environ(), partEnv+"="+url+" "+took.String())
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
			parts[i] = readPart(t, out)
			if err := cmd.Wait(); err != nil {
				t.Errorf("process %d of Go: %v", i, err)
			}
		})
	}
	return func() []part {
		wg.Wait()
		return parts
	}
}

func readPart(t *testing.T, out io.Reader) (p part) {
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		var g taken
		var id []byte
		switch text := lines.Text(); {
		case text == "acquired":
			p.acquired++
		case strings.HasPrefix(text, "took "):
			if _, err := fmt.Sscanf(text, "took %x %d %d %d", &id, &g.at, &g.date, &g.permits); err != nil {
				t.Errorf("a process of Go says %q: %v", text, err)
			}
			g.id = string(id)
			p.takes = append(p.takes, g)
		case text != "PASS" && !strings.HasPrefix(text, "ok"):
			t.Errorf("a process of Go says: %s", text)
		}
	}
	return p
}

// playsPart does the work of such a process, and says whether this one is.
func playsPart(t *testing.T) bool {
	task := os.Getenv(partEnv)
	if task == "" {
		return false
	}
	url, duration, _ := strings.Cut(task, " ")
	took, err := time.ParseDuration(duration)
	if err != nil {
		t.Fatal(err)
	}
	var mu sync.Mutex
	out := bufio.NewWriter(os.Stdout)
	say := func(format string, args ...any) {
		mu.Lock()
		defer mu.Unlock()
		fmt.Fprintf(out, format+"\n", args...)
	}
	ctx, cancel := context.WithTimeout(t.Context(), took)
	defer cancel()
	l := newGopher(t, url, "load").limiter
	var wg sync.WaitGroup
	for i := range 2 {
		wg.Go(func() {
			for n := i; time.Now().Before(deadline(ctx)); n++ {
				if err := takeOnce(ctx, l, n, say); err != nil && ctx.Err() == nil {
					t.Errorf("worker: %v", err)
				}
				time.Sleep(500 * time.Microsecond)
			}
		})
	}
	wg.Wait()
	out.Flush()
	return true
}

func deadline(ctx context.Context) time.Time {
	d, _ := ctx.Deadline()
	return d
}

// takeOnce takes in one way or another. A wait that the rest of the time is too short for is refused, and takes nothing.
func takeOnce(ctx context.Context, l *sluice.Limiter, n int, say func(string, ...any)) error {
	var d sluice.Decision
	var err error
	switch n % 4 {
	case 0:
		d, err = l.TryAcquire(ctx, 1)
	case 1:
		d, err = l.TryAcquireFor(ctx, int64(1+n/4%2), 200*time.Millisecond)
	case 2:
		d, err = l.TryAcquireFor(ctx, 1, sluice.MaxInterval)
	case 3:
		if err = l.Acquire(ctx, 1); err == nil {
			say("acquired")
		}
		if _, late := err.(*sluice.LimitedError); late {
			return nil // the time is over
		}
		return err
	}
	if err == nil && d.Allowed {
		id := d.Receipt.ID()
		say("took %s %d %d %d", hex.EncodeToString(id[:]), d.At.UnixMicro(), d.Date.UnixMicro(), d.Permits)
	}
	return err
}
