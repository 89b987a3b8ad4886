package redistest

import (
	"net"
	"testing"
)

// A race for a port cannot be had on demand from outside, so this test chooses.
func TestStartGoesOnToAnotherPortWhenOneIsTaken(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	redis := Start(t)

	taken := []int{
		l.Addr().(*net.TCPAddr).Port, // accepts, and never answers
		redis.port,                   // answers a PING, and is not ours
	}
	var tried int
	s := start(t, redis.bin, func() (int, error) {
		tried++
		if tried <= len(taken) {
			return taken[tried-1], nil
		}
		return freePort()
	}, nil)

	if tried != len(taken)+1 {
		t.Errorf("start tried %d ports, want %d", tried, len(taken)+1)
	}
	Dial(t, redis.Addr()).Str(t, "SET", "k", "v")
	if got := Dial(t, s.Addr()).Int(t, "DBSIZE"); got != 0 {
		t.Errorf("DBSIZE = %d, want 0: the server is somebody else's", got)
	}
}

func TestRestartWaitsForItsPort(t *testing.T) {
	t.Parallel()
	s := Start(t)
	s.Stop()
	l, err := net.Listen("tcp", s.Addr())
	if err != nil {
		t.Fatal(err)
	}
	conns := make(chan net.Conn, 1)
	go func() {
		// The first thing the new server's owner does is to dial. It reached the
		// wrong process; free the port then.
		conn, err := l.Accept()
		l.Close()
		if err == nil {
			conns <- conn
		}
		close(conns)
	}()
	s.Restart(t)
	for conn := range conns {
		conn.Close()
	}
	if got := Dial(t, s.Addr()).Str(t, "PING"); got != "PONG" {
		t.Errorf("PING = %q, want PONG", got)
	}
}

func TestFreePort(t *testing.T) {
	t.Parallel()
	for range 100 {
		port, err := freePort()
		if err != nil {
			t.Fatal(err)
		}
		if port < firstPort || port >= firstPort+portCount {
			t.Errorf("freePort() = %d, want %d ≤ port < %d", port, firstPort, firstPort+portCount)
		}
	}
}
