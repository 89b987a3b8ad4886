package redistest

import (
	"bufio"
	"net"
	"strconv"
	"testing"
	"time"
)

// ReplOffset returns how many bytes of writes the server has made so far for
// replicas. Two equal values mean that nothing was written in between, not even a
// changed expiry: this is how a test sees that a call left no trace. The server counts
// the removal of an expired key as a write, whoever stumbles on it, a reader or the
// server itself; and before 7.0 also that a script was loaded.
//
// The first call on a server makes it count (see startCounting), which lasts until the
// server ends; what was written before is not in the number.
func (c *Conn) ReplOffset(tb testing.TB) int64 {
	tb.Helper()
	if c.Info(tb, "replication")["repl_backlog_active"] != "1" {
		c.startCounting(tb)
	}
	offset, err := strconv.ParseInt(c.Info(tb, "replication")["master_repl_offset"], 10, 64)
	if err != nil {
		tb.Fatalf("redistest: master_repl_offset: %v", err)
	}
	return offset
}

// startCounting gives the server a replication backlog. Only with one does it count,
// it makes one when the first replica comes, and keeps it afterwards. So a replica
// comes, and leaves before the server sends anything: while one is connected the
// server writes a PING for it every 10 s, which would count too.
func (c *Conn) startCounting(tb testing.TB) {
	tb.Helper()
	c.do(tb, "CONFIG", "SET", "repl-backlog-ttl", 0)       // keep it for ever
	c.do(tb, "CONFIG", "SET", "repl-diskless-sync", "yes") // it starts after 5 s; no fork till then

	conn, err := net.DialTimeout("tcp", c.addr, askTimeout)
	if err != nil {
		tb.Fatalf("redistest: replica: %v", err)
	}
	defer conn.Close()
	conn.SetDeadline(time.Now().Add(askTimeout))
	// In two steps: a PSYNC with a reply still to be read before it is refused.
	replica := &link{Conn: conn, r: bufio.NewReader(conn)}
	request, _ := encode([][]any{{"REPLCONF", "capa", "eof"}})
	if replies, err := replica.exchange(request, 1); err != nil || replies[0] != "OK" {
		tb.Fatalf("redistest: replica: REPLCONF = %v, %v, want OK", replies, err)
	}
	request, _ = encode([][]any{{"PSYNC", "?", -1}})
	if _, err := conn.Write(request); err != nil {
		tb.Fatalf("redistest: replica: PSYNC: %v", err)
	}
	c.awaitReplication(tb, "repl_backlog_active", "1")
	conn.Close()
	c.awaitReplication(tb, "connected_slaves", "0")
}

func (c *Conn) awaitReplication(tb testing.TB, field, want string) {
	tb.Helper()
	deadline := time.Now().Add(askTimeout)
	for c.Info(tb, "replication")[field] != want {
		if time.Now().After(deadline) {
			tb.Fatalf("redistest: replica: %s is not %s after %v", field, want, askTimeout)
		}
		time.Sleep(pollInterval)
	}
}
