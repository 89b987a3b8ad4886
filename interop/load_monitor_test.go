package interop

import (
	"bufio"
	"fmt"
	"net"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// A grant is so many permits, by Redis' clock in microseconds.
type grant struct {
	arrived int64 // when Redis saw the request
	at      int64 // from when on the permits were used
	ledger  int64 // the date in the ledger
	permits int64
}

// monitor listens to what Redis does with a limiter, and when. So it knows the moment of each grant of Java's by Redis' clock, whatever Java's says.
type monitor struct {
	t    *testing.T
	conn net.Conn
	name string
	done chan struct{}

	mu     sync.Mutex
	seen   map[string]bool // what was there before, has only been given another date
	grants []grant
	lead   time.Duration // by how much Java's clock was ahead of Redis' at most, in any call
	lag    time.Duration // by how much later than Java read its clock a call ran at most
}

func watch(t *testing.T, addr, name string) *monitor {
	t.Helper()
	conn, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := fmt.Fprint(conn, "MONITOR\r\n"); err != nil {
		t.Fatal(err)
	}
	m := &monitor{t: t, conn: conn, name: name, done: make(chan struct{}), seen: make(map[string]bool)}
	lines := bufio.NewReaderSize(conn, 1<<20)
	if line, err := lines.ReadString('\n'); err != nil || line != "+OK\r\n" {
		t.Fatalf("MONITOR: %q, %v", line, err)
	}
	go m.listen(lines)
	return m
}

func (m *monitor) listen(lines *bufio.Reader) {
	defer close(m.done)
	for {
		line, err := lines.ReadString('\n')
		if err != nil {
			return // it was closed
		}
		at, words := monitored(line)
		switch {
		case len(words) == 4 && strings.EqualFold(words[0], "ZADD") && words[1] == "{"+m.name+"}:permits": // Java's; a grant of ours is with NX
			m.granted(at, words[2], words[3])
		case len(words) > 9 && strings.HasPrefix(strings.ToUpper(words[0]), "EVAL") && words[2] == "5" && words[3] == m.name:
			if now, err := strconv.ParseInt(words[9], 10, 64); err == nil {
				m.called(time.Duration(now*1000-at) * time.Microsecond)
			}
		}
	}
}

// monitored reads a line such as: +1339518083.107412 [0 lua] "ZADD" "{x}:permits" …
func monitored(line string) (at int64, words []string) {
	clock, rest, ok := strings.Cut(strings.TrimPrefix(line, "+"), " ")
	seconds, micros, _ := strings.Cut(clock, ".")
	s, err1 := strconv.ParseInt(seconds, 10, 64)
	us, err2 := strconv.ParseInt(micros, 10, 64)
	_, rest, ok2 := strings.Cut(rest, "] ")
	if !ok || !ok2 || err1 != nil || err2 != nil {
		return 0, nil
	}
	for rest = strings.TrimSpace(rest); rest != ""; rest = strings.TrimSpace(rest) {
		quoted, err := strconv.QuotedPrefix(rest)
		if err != nil {
			return 0, nil
		}
		word, err := strconv.Unquote(quoted)
		if err != nil {
			return 0, nil
		}
		words, rest = append(words, word), rest[len(quoted):]
	}
	return s*1_000_000 + us, words
}

func (m *monitor) granted(at int64, score, member string) {
	ms, err := strconv.ParseInt(score, 10, 64)
	if err != nil || len(member) != 21 {
		m.t.Errorf("an entry with the date %q and the member %q", score, member)
		return
	}
	permits := int64(member[17]) | int64(member[18])<<8
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.seen[member] {
		return
	}
	m.seen[member] = true
	m.grants = append(m.grants, grant{arrived: at, at: at, ledger: ms * 1000, permits: permits})
}

func (m *monitor) called(lead time.Duration) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.lead = max(m.lead, lead)
	m.lag = max(m.lag, -lead)
}

func (m *monitor) stop() []grant {
	time.Sleep(100 * time.Millisecond) // what is on the way
	m.conn.Close()
	<-m.done
	return m.grants
}
