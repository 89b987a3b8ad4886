package interop

import (
	"bufio"
	"cmp"
	"encoding/binary"
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// An entry is one member of the ledger, with what became of it. Times are Redis' microseconds, dates the ledger's milliseconds.
type entry struct {
	member  string
	permits int64
	java    bool    // Java added it
	added   int64   // when
	first   float64 // the date that it was given
	date    float64 // the last that it had
	removed int64   // when it was taken out; 0: it is there
	byJava  bool    // Java took it out
	clock   int64   // and what its clock said then, in milliseconds
}

func (e *entry) id() string { return e.member[1:17] }

// replay does to a ledger what Redis' monitor says is done, and keeps every entry that ever was.
type replay struct {
	name   string
	ledger []*entry // in Redis' order
	at     map[string]*entry
	all    []*entry
	odd    []string // what cannot be understood

	java  bool  // whose script it is that runs
	clock int64 // what Java's clock said when it sent it

	again     int           // entries of Java's that were added twice: a request that ran twice
	pulled    int           // entries of Java's to which we gave an earlier date
	lead, lag time.Duration // of Java's clock when a script ran, at most: ahead of Redis', and behind
}

func newReplay(name string) *replay {
	return &replay{name: name, at: make(map[string]*entry)}
}

// line takes a line of the monitor.
func (r *replay) line(line string) {
	if !strings.Contains(line, r.name) {
		return
	}
	at, words := monitored(line)
	if len(words) < 2 {
		return
	}
	switch command := strings.ToUpper(words[0]); {
	case strings.HasPrefix(command, "EVAL"): // Redisson's take names five keys, and says its clock as the second argument
		r.java = len(words) > 9 && words[2] == "5"
		if r.java {
			var err error
			if r.clock, err = strconv.ParseInt(words[9], 10, 64); err != nil {
				r.odd = append(r.odd, line)
			}
			ahead := time.Duration(r.clock*1000-at) * time.Microsecond
			r.lead, r.lag = max(r.lead, ahead), max(r.lag, -ahead)
		}
	case words[1] == "{"+r.name+"}:permits":
		if !r.do(at, command, words[2:]) {
			r.odd = append(r.odd, line)
		}
	}
}

// do is one command on the ledger.
func (r *replay) do(at int64, command string, args []string) bool {
	switch command {
	case "ZADD":
		fresh := len(args) > 0 && args[0] == "NX"
		if fresh {
			args = args[1:]
		}
		for ; len(args) >= 2; args = args[2:] {
			date, err := strconv.ParseFloat(args[0], 64)
			if err != nil || len(args[1]) != 21 {
				return false
			}
			r.put(at, date, args[1], fresh)
		}
		return len(args) == 0
	case "ZREM":
		for _, member := range args {
			if e := r.at[member]; e != nil {
				r.cut(at, e)
			}
		}
	case "ZREMRANGEBYSCORE": // Java's only: from zero
		last, err := strconv.ParseFloat(args[1], 64)
		if err != nil || args[0] != "0" {
			return false
		}
		for len(r.ledger) > 0 && r.ledger[0].date <= last {
			r.cut(at, r.ledger[0])
		}
	case "ZREMRANGEBYRANK":
		from, err1 := strconv.Atoi(args[0])
		to, err2 := strconv.Atoi(args[1])
		if err1 != nil || err2 != nil || from < 0 || to < 0 {
			return false
		}
		for range min(to+1, len(r.ledger)) - from {
			r.cut(at, r.ledger[from])
		}
	case "DEL":
		for len(r.ledger) > 0 {
			r.cut(at, r.ledger[0])
		}
	default:
		return strings.HasPrefix(command, "ZRANGE") || slices.Contains([]string{"ZCOUNT", "ZCARD", "ZSCORE", "ZMSCORE", "ZRANK", "ZREVRANGE",
			"PEXPIRE", "PTTL", "PERSIST", "TYPE", "EXISTS"}, command)
	}
	return true
}

func (r *replay) put(at int64, date float64, member string, fresh bool) {
	e := r.at[member]
	switch {
	case e != nil && fresh:
		return
	case e != nil:
		if r.java {
			r.again++
		} else if e.java && date < e.date {
			r.pulled++
		}
		i, _ := r.find(e)
		r.ledger = slices.Delete(r.ledger, i, i+1)
	default:
		e = &entry{member: member, permits: int64(binary.LittleEndian.Uint32([]byte(member[17:]))), java: r.java, added: at, first: date}
		r.at[member] = e
		r.all = append(r.all, e)
	}
	e.date = date
	i, _ := r.find(e)
	r.ledger = slices.Insert(r.ledger, i, e)
}

func (r *replay) find(e *entry) (int, bool) {
	return slices.BinarySearchFunc(r.ledger, e, func(a, b *entry) int {
		return cmp.Or(cmp.Compare(a.date, b.date), strings.Compare(a.member, b.member))
	})
}

func (r *replay) cut(at int64, e *entry) {
	i, _ := r.find(e)
	r.ledger = slices.Delete(r.ledger, i, i+1)
	delete(r.at, e.member)
	e.removed, e.byJava, e.clock = at, r.java, r.clock
}

// follow replays what Redis does with a limiter from now on. What it gives ends that.
func follow(t *testing.T, addr, name string) func() *replay {
	t.Helper()
	conn, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	lines := bufio.NewReaderSize(conn, 1<<20)
	if _, err := fmt.Fprint(conn, "MONITOR\r\n"); err != nil {
		t.Fatal(err)
	}
	if line, err := lines.ReadString('\n'); err != nil || line != "+OK\r\n" {
		t.Fatalf("MONITOR: %q, %v", line, err)
	}
	r := newReplay(name)
	var done sync.WaitGroup
	done.Go(func() {
		for {
			line, err := lines.ReadString('\n')
			if err != nil {
				return // it was closed
			}
			r.line(line)
		}
	})
	return func() *replay {
		time.Sleep(200 * time.Millisecond) // what is on the way
		conn.Close()
		done.Wait()
		return r
	}
}
