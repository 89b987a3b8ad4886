package redisengine_test

import (
	"bufio"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// assignment is what a process is told, in the environment.
type assignment struct {
	Part      int
	Seed      uint64
	Addr, Dir string
	Faultless bool // no call may fail
	Victim    bool // it will be killed: it gives nothing back, since what it did last may not be on record
}

const (
	assignmentEnv = "SLUICE_TORTURE"
	progress      = "granted "
)

// isPart reports whether this process is one of those that take.
func isPart() bool { return os.Getenv(assignmentEnv) != "" }

// part is one process, seen by its parent.
type part struct {
	cmd    *exec.Cmd
	stdin  io.Closer // it works until this is closed
	grants atomic.Int64
	ended  chan struct{}
	err    error // of the process; to be read when it has ended

	mu    sync.Mutex
	lines []string // the last that it printed, but for the progress
}

// startPart runs this test binary again, for the one test that is running. The process ends with the test, and by
// itself when its parent is gone.
func startPart(t *testing.T, a assignment) *part {
	t.Helper()
	task, err := json.Marshal(a)
	if err != nil {
		t.Fatal(err)
	}
	p := &part{cmd: exec.Command(os.Args[0], "-test.run=^TestTorture$", "-test.timeout=1h"), ended: make(chan struct{})}
	p.cmd.Env = append(os.Environ(), assignmentEnv+"="+string(task))
	stdin, err := p.cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	p.stdin = stdin
	stdout, err := p.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	p.cmd.Stderr = p.cmd.Stdout
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() { // until the process closes its output
		defer close(p.ended)
		p.read(stdout)
		p.err = p.cmd.Wait()
	}()
	t.Cleanup(func() {
		_ = p.cmd.Process.Kill() // it has ended, if all went well
		<-p.ended
	})
	return p
}

func (p *part) read(stdout io.Reader) {
	lines := bufio.NewScanner(stdout)
	for lines.Scan() {
		if n, ok := strings.CutPrefix(lines.Text(), progress); ok {
			if n, err := strconv.ParseInt(n, 10, 64); err == nil {
				p.grants.Store(n)
			}
			continue
		}
		p.mu.Lock()
		if p.lines = append(p.lines, lines.Text()); len(p.lines) > 60 {
			p.lines = p.lines[1:]
		}
		p.mu.Unlock()
	}
}

// stop asks the process to end.
func (p *part) stop() { _ = p.stdin.Close() }

// wait waits for its end, a minute at most.
func (p *part) wait() error {
	select {
	case <-p.ended:
	case <-time.After(time.Minute):
		_ = p.cmd.Process.Kill()
		<-p.ended
	}
	return p.err
}

func (p *part) gone() bool {
	select {
	case <-p.ended:
		return true
	default:
		return false
	}
}

func (p *part) output() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return strings.Join(p.lines, "\n")
}
