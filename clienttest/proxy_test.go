package clienttest

import (
	"bytes"
	"context"
	"io"
	"net"
	"sync"
	"sync/atomic"
	"testing"
)

// proxies stand between a client and its servers, and lose replies: the client's dialer leads to them.
type proxies struct {
	tb    testing.TB
	armed atomic.Bool  // the reply to the next script call is to be lost
	lost  atomic.Int32 // replies so far

	mu    sync.Mutex
	ports map[string]net.Listener // by the address behind
	conns []net.Conn
}

func newProxies(tb testing.TB) *proxies {
	p := &proxies{tb: tb, ports: make(map[string]net.Listener)}
	tb.Cleanup(p.close)
	return p
}

// dial connects to the proxy of a server, which is made if there is none.
func (p *proxies) dial(ctx context.Context, network, addr string) (net.Conn, error) {
	p.mu.Lock()
	port := p.ports[addr]
	if port == nil {
		var err error
		if port, err = net.Listen("tcp", "127.0.0.1:0"); err != nil {
			p.mu.Unlock()
			return nil, err
		}
		p.ports[addr] = port
		go p.serve(port, addr) // until close
	}
	p.mu.Unlock()
	var d net.Dialer
	return d.DialContext(ctx, network, port.Addr().String())
}

func (p *proxies) serve(port net.Listener, addr string) {
	for {
		client, err := port.Accept()
		if err != nil {
			return
		}
		server, err := net.Dial("tcp", addr)
		if err != nil {
			client.Close()
			continue
		}
		p.mu.Lock()
		p.conns = append(p.conns, client, server)
		p.mu.Unlock()
		c := &cut{p: p}
		go c.pass(server, client, c.request) // until either side closes
		go c.pass(client, server, c.reply)
	}
}

func (p *proxies) close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, port := range p.ports {
		port.Close()
	}
	for _, conn := range p.conns {
		conn.Close()
	}
}

// cut is a connection that may lose a reply.
type cut struct {
	p    *proxies
	lose atomic.Bool // the next reply: the server has the request
}

// request sees what goes to the server.
func (c *cut) request(b []byte) (pass bool) {
	if bytes.Contains(bytes.ToLower(b), []byte("evalsha")) && c.p.armed.CompareAndSwap(true, false) {
		c.lose.Store(true)
	}
	return true
}

// reply sees what comes back. The script has run by then.
func (c *cut) reply([]byte) (pass bool) {
	if c.lose.Load() {
		c.p.lost.Add(1)
		return false
	}
	return true
}

// pass copies what the look lets through, and closes both sides when it does not or when one is closed.
func (c *cut) pass(to io.WriteCloser, from io.ReadCloser, look func([]byte) bool) {
	defer to.Close()
	defer from.Close()
	buffer := make([]byte, 64<<10)
	for {
		n, err := from.Read(buffer)
		if n > 0 && !look(buffer[:n]) {
			return
		}
		if _, werr := to.Write(buffer[:n]); err != nil || werr != nil {
			return
		}
	}
}
