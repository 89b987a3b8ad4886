package redistest

import (
	"errors"
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

const (
	// startTimeout bounds the wait for a server to answer. It answers within some
	// 20 ms; the rest is for a machine that is busy with other tests.
	startTimeout = 30 * time.Second

	// pollInterval is the longest sleep between two looks at a server.
	pollInterval = 5 * time.Millisecond

	// launches is how often a server that exits at once is tried again.
	launches = 8
)

// Server is a redis-server process that belongs to a test. Its zero value is of no
// use: [Start] makes one. Its methods may be called from any goroutine, but Stop and
// Restart not at the same time.
type Server struct {
	tb   testing.TB // the test that started it
	bin  string
	dir  string // holds the log and whatever the server writes; survives Restart
	port int
	file string   // the configuration that a sentinel keeps; other servers have none
	args []string // the command line without the file and the port

	mu   sync.Mutex
	proc *process // the latest launch, running or not
}

// Start runs a redis-server on a free port of 127.0.0.1, in a directory of its own,
// without persistence, and returns when it answers. It is killed when tb ends.
//
// The args go on the server's command line behind our own and win over them:
//
//	redistest.Start(t, "--maxmemory", "2mb", "--maxmemory-policy", "allkeys-lru")
//
// Start ends the test if the server does not come up, and must therefore be called
// from the test's own goroutine. A server costs some 20 ms and 10 MB, so one for
// each test is fine.
func Start(tb testing.TB, args ...string) *Server {
	tb.Helper()
	return Release{}.Start(tb, args...)
}

// start is Start with the binary and the choice of ports as arguments.
func start(tb testing.TB, bin string, nextPort func() (int, error), args []string) *Server {
	tb.Helper()
	if len(args) > 0 && !strings.HasPrefix(args[0], "--") {
		tb.Fatalf("redistest: argument %q: want the server's own spelling, \"--key\", \"value\"", args[0])
	}
	s := &Server{
		tb:  tb,
		bin: bin,
		dir: tb.TempDir(),
		args: slices.Concat([]string{
			"--bind", "127.0.0.1",
			"--save", "",
			"--appendonly", "no",
			"--daemonize", "no",
		}, args),
	}
	s.start(nextPort)
	return s
}

// start launches the server for the first time. A port that was free when it was chosen can be gone when the server
// asks for it; the server then exits at once, and the next port gets its chance.
func (s *Server) start(nextPort func() (int, error)) {
	s.tb.Helper()
	s.tb.Cleanup(s.Stop)
	var err error
	for range launches {
		if s.port, err = nextPort(); err != nil {
			break
		}
		if err = s.launch(); !errors.Is(err, errExited) {
			break
		}
	}
	if err != nil {
		s.tb.Fatalf("redistest: start: %v", err)
	}
}

// Addr returns the server's address, "127.0.0.1:port". It stays the same over
// [Server.Restart].
func (s *Server) Addr() string { return net.JoinHostPort("127.0.0.1", strconv.Itoa(s.port)) }

// URL returns the server's address as client libraries read it,
// "redis://127.0.0.1:port/0".
func (s *Server) URL() string { return "redis://" + s.Addr() + "/0" }

// Binary returns the path of the server's program.
func (s *Server) Binary() string { return s.bin }

// Stop kills the server as a crash would, with SIGKILL, and returns when it is gone:
// its connections are reset and nothing is saved. Stopping a stopped server does
// nothing.
func (s *Server) Stop() {
	if p := s.process(); p != nil {
		p.kill()
	}
}

// Restart stops the server if it runs, starts it again on the same port, with the same
// arguments and in the same directory, and returns when it answers. Its data are
// lost unless it was started with "--appendonly", "yes"; a cluster node keeps its
// place in the cluster.
//
// Restart fails tb if the server does not come up. The server still ends with the
// test that called Start.
func (s *Server) Restart(tb testing.TB) {
	tb.Helper()
	s.Stop()
	var err error
	for range launches {
		if err = s.launch(); !errors.Is(err, errExited) {
			break
		}
		time.Sleep(pollInterval) // somebody has the port; it may be for a moment
	}
	if err != nil {
		tb.Fatalf("redistest: restart: %v", err)
	}
}

// Pause freezes the server with SIGSTOP: it keeps its port, its connections and its
// data, new connections are accepted by the kernel, and nothing is answered until
// [Server.Resume]. Its clock runs on. On Linux the server stands still when Pause
// returns; elsewhere it may finish what it was doing.
func (s *Server) Pause() {
	s.tb.Helper()
	if err := s.process().pause(); err != nil {
		s.tb.Errorf("redistest: pause: %v", err)
	}
}

// Resume lets a paused server go on. It answers then what was sent to it meanwhile,
// also to clients who no longer listen.
func (s *Server) Resume() {
	s.tb.Helper()
	if err := s.process().resume(); err != nil {
		s.tb.Errorf("redistest: resume: %v", err)
	}
}

// launch starts the process and waits until it answers. The error is errExited if
// the process ended by itself.
func (s *Server) launch() error {
	args := slices.Concat([]string{"--port", strconv.Itoa(s.port)}, s.args)
	if s.file != "" {
		args = slices.Insert(args, 0, s.file)
	}
	p, err := startProcess(s.bin, s.dir, args)
	if err != nil {
		return err
	}
	s.mu.Lock()
	s.proc = p
	s.mu.Unlock()

	if err := p.awaitAnswer(s.Addr()); err != nil {
		p.kill()
		return fmt.Errorf("%s: %w", s.Addr(), err)
	}
	return nil
}

func (s *Server) process() *process {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.proc
}
