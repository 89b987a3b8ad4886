package redistest

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"sync"
	"testing"
	"time"
)

// maxConns is how many connections a [Conn] opens at most. Calls beyond it wait.
const maxConns = 16

// Conn is a small Redis client (RESP2) for tests. It may be used by many goroutines:
// each call takes a connection of its own from a pool that grows on demand, so a
// command that binds a connection (SELECT, MULTI, SUBSCRIBE) is of no use here.
//
// It resends nothing and follows no redirection of a cluster: what a test sees is
// what the server said. A connection that the server closed while it was idle is
// noticed and replaced before it is used, so a Conn survives [Server.Restart].
type Conn struct {
	addr  string
	slots chan struct{} // holds one token for each connection in use

	mu     sync.Mutex
	idle   []*link // latest used last
	closed bool
}

// link is one connection to the server.
type link struct {
	net.Conn
	r *bufio.Reader
}

// Dial returns a client for the server at addr. It fails the test if the server does
// not answer, and is closed when tb ends.
func Dial(tb testing.TB, addr string) *Conn {
	tb.Helper()
	c := Connect(addr)
	tb.Cleanup(c.Close)
	c.do(tb, "PING")
	return c
}

// Connect returns a client for the server at addr without a test to belong to: for
// child processes and benchmarks. It does not connect before the first call.
func Connect(addr string) *Conn {
	return &Conn{addr: addr, slots: make(chan struct{}, maxConns)}
}

// Close closes the client. Calls under way finish, later ones fail with
// [net.ErrClosed].
func (c *Conn) Close() {
	c.mu.Lock()
	idle := c.idle
	c.idle, c.closed = nil, true
	c.mu.Unlock()
	for _, l := range idle {
		l.Close()
	}
}

// Do sends one command and returns its reply: an int64, a string (simple or bulk), a
// []any of replies, or nil. A reply that is an error comes back as the error, of type
// [Error]; any other error means that no reply came, and the command may have run or
// not. Arguments are strings, byte slices, integers of any size and floats.
//
// The ctx bounds the wait for a connection and for the reply; without a deadline there
// is no limit.
func (c *Conn) Do(ctx context.Context, args ...any) (any, error) {
	replies, err := c.Pipeline(ctx, [][]any{args})
	if err != nil {
		return nil, err
	}
	if e, ok := replies[0].(Error); ok {
		return nil, e
	}
	return replies[0], nil
}

// Pipeline sends several commands in one write on one connection and returns a reply
// for each. An error reply is an [Error] among the replies; the error returned
// means that not all replies came.
func (c *Conn) Pipeline(ctx context.Context, cmds [][]any) ([]any, error) {
	replies, err := c.roundTrip(ctx, cmds)
	if err != nil {
		return nil, fmt.Errorf("redistest: %w", err)
	}
	return replies, nil
}

func (c *Conn) roundTrip(ctx context.Context, cmds [][]any) ([]any, error) {
	request, err := encode(cmds)
	if err != nil {
		return nil, err
	}
	l, err := c.acquire(ctx)
	if err != nil {
		return nil, err
	}
	interrupt := context.AfterFunc(ctx, func() { l.SetDeadline(time.Unix(1, 0)) })
	replies, err := l.exchange(request, len(cmds))

	// A connection is good for the next call only if all of its replies were read
	// and no deadline from this ctx can hit it later.
	c.release(l, interrupt() && err == nil)
	if err != nil && ctx.Err() != nil {
		return nil, ctx.Err()
	}
	return replies, err
}

func (l *link) exchange(request []byte, n int) ([]any, error) {
	if _, err := l.Write(request); err != nil {
		return nil, err
	}
	replies := make([]any, n)
	for i := range replies {
		var err error
		if replies[i], err = decode(l.r); err != nil {
			return nil, err
		}
	}
	return replies, nil
}

// acquire returns an idle connection or a new one, and holds a slot for it.
func (c *Conn) acquire(ctx context.Context) (*link, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	select {
	case c.slots <- struct{}{}:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	l, err := c.connection(ctx)
	if err != nil {
		<-c.slots
	}
	return l, err
}

func (c *Conn) connection(ctx context.Context) (*link, error) {
	for {
		l, err := c.popIdle()
		if err != nil {
			return nil, err
		}
		if l == nil {
			break
		}
		if !isDead(l.Conn) {
			return l, nil
		}
		l.Close()
	}
	var d net.Dialer
	conn, err := d.DialContext(ctx, "tcp", c.addr)
	if err != nil {
		return nil, err
	}
	return &link{Conn: conn, r: bufio.NewReader(conn)}, nil
}

// popIdle takes the idle connection that was used last; it is nil if there is none.
func (c *Conn) popIdle() (*link, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return nil, net.ErrClosed
	}
	n := len(c.idle)
	if n == 0 {
		return nil, nil
	}
	l := c.idle[n-1]
	c.idle = c.idle[:n-1]
	return l, nil
}

func (c *Conn) release(l *link, good bool) {
	c.mu.Lock()
	keep := good && !c.closed
	if keep {
		c.idle = append(c.idle, l)
	}
	c.mu.Unlock()
	if !keep {
		l.Close()
	}
	<-c.slots
}
