package redistest

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"
	"time"
)

// MasterName is what sentinels call the master that they watch.
const MasterName = "sluice"

// Watched is a master with replicas, watched by sentinels that put a replica in its place when it is gone.
type Watched struct {
	Servers   []*Server // the first one was the master at the start
	Sentinels []*Server
}

// StartSentinels runs a master with that many replicas and that many sentinels, and returns when the replicas have the
// master's data and each sentinel knows of all the others. It takes a second or two.
//
// The sentinels are in a hurry: a master that is silent for half a second is down, and some two seconds after its end
// a replica has its place. More than half of the sentinels have to agree. A server that was master before and comes back
// becomes a replica.
//
// Where there is one sentinel nothing is written behind the test's back, so that [Conn.ReplOffset] is of use. More of them
// publish on the master what they know, which counts as writing.
func StartSentinels(tb testing.TB, replicas, sentinels int) *Watched {
	tb.Helper()
	return Release{}.StartSentinels(tb, replicas, sentinels)
}

// StartSentinels is [StartSentinels] for servers of this release.
func (r Release) StartSentinels(tb testing.TB, replicas, sentinels int) *Watched {
	tb.Helper()
	if replicas < 1 || sentinels < 1 {
		tb.Fatalf("redistest: a master with %d replicas and %d sentinels", replicas, sentinels)
	}
	w := &Watched{}
	for i := range 1 + replicas {
		args := []string{
			"--repl-diskless-sync", "yes", "--repl-diskless-sync-delay", "0",
			"--repl-ping-replica-period", "3600", // it would count as writing
		}
		if i > 0 {
			args = append(args, "--replicaof", fmt.Sprint("127.0.0.1 ", w.Servers[0].port))
		}
		w.Servers = append(w.Servers, r.Start(tb, args...))
	}
	for _, s := range w.Servers[1:] {
		s.awaitLink(tb)
	}
	for range sentinels {
		w.Sentinels = append(w.Sentinels, startSentinel(tb, w.Servers[0], 1+sentinels/2))
	}
	// A replica that has become a master is made a replica again by the sentinels that do not hear why within four periods.
	period := time.Second / 2
	if sentinels == 1 {
		period = time.Hour
	}
	for _, s := range w.Sentinels {
		s.awaitKnowledge(tb, replicas, sentinels-1)
	}
	for _, s := range w.Sentinels {
		c := Connect(s.Addr())
		c.do(tb, "SENTINEL", "DEBUG", "PUBLISH-PERIOD", period.Milliseconds())
		c.Close()
	}
	return w
}

// startSentinel runs a sentinel: the program of the master, told by a file of its own what to watch.
func startSentinel(tb testing.TB, master *Server, quorum int) *Server {
	tb.Helper()
	s := &Server{tb: tb, bin: master.bin, dir: tb.TempDir(), args: []string{"--sentinel"}}
	s.file = filepath.Join(s.dir, "sentinel.conf")
	conf := fmt.Sprintf(`bind 127.0.0.1
sentinel monitor %[1]s 127.0.0.1 %[2]d %[3]d
sentinel down-after-milliseconds %[1]s 500
sentinel failover-timeout %[1]s 3000
sentinel parallel-syncs %[1]s 8
`, MasterName, master.port, quorum)
	if err := os.WriteFile(s.file, []byte(conf), 0o600); err != nil {
		tb.Fatal(err)
	}
	s.start(freePort)
	c := Connect(s.Addr())
	defer c.Close()
	// A replica that has been silent for five ping periods is no candidate, and a sentinel that was late itself does nothing for
	// a while: a busy machine is no reason for either.
	c.do(tb, "SENTINEL", "DEBUG", "INFO-PERIOD", 200, "PING-PERIOD", 400, "ASK-PERIOD", 200, "PUBLISH-PERIOD", 100,
		"TILT-TRIGGER", startTimeout.Milliseconds())
	return s
}

// Addrs returns the addresses of the sentinels.
func (w *Watched) Addrs() []string {
	addrs := make([]string, len(w.Sentinels))
	for i, s := range w.Sentinels {
		addrs[i] = s.Addr()
	}
	return addrs
}

// Master returns the server that is the master by the word of all sentinels. While they differ, it is nil.
func (w *Watched) Master(tb testing.TB) *Server {
	tb.Helper()
	var port string
	for i, s := range w.Sentinels {
		c := Connect(s.Addr())
		at := c.Strings(tb, "SENTINEL", "GET-MASTER-ADDR-BY-NAME", MasterName)
		c.Close()
		if i > 0 && at[1] != port {
			return nil
		}
		port = at[1]
	}
	for _, s := range w.Servers {
		if strconv.Itoa(s.port) == port {
			return s
		}
	}
	tb.Fatalf("redistest: the master is at port %s, where we have no server", port)
	return nil
}

// AwaitMaster waits until all sentinels say that another server than this one is the master, and returns it. It takes
// writes by then; other replicas may still be on their way to it.
func (w *Watched) AwaitMaster(tb testing.TB, other *Server) (master *Server) {
	tb.Helper()
	poll(tb, "other master than "+other.Addr(), func() bool {
		master = w.Master(tb)
		return master != nil && master != other
	})
	return master
}

// awaitLink waits until a replica has got all of its master's data.
func (s *Server) awaitLink(tb testing.TB) {
	tb.Helper()
	c := Connect(s.Addr())
	defer c.Close()
	poll(tb, "link of the replica at "+s.Addr(), func() bool {
		return c.Info(tb, "replication")["master_link_status"] == "up"
	})
}

// awaitKnowledge waits until a sentinel knows that many others, and that many replicas which could take over.
func (s *Server) awaitKnowledge(tb testing.TB, replicas, others int) {
	tb.Helper()
	c := Connect(s.Addr())
	defer c.Close()
	poll(tb, "knowledge of the sentinel at "+s.Addr(), func() bool {
		known := 0
		for _, replica := range c.do(tb, "SENTINEL", "REPLICAS", MasterName).([]any) {
			if f := fields(replica); f["flags"] == "slave" && f["master-link-status"] == "ok" {
				known++
			}
		}
		return known == replicas && len(c.do(tb, "SENTINEL", "SENTINELS", MasterName).([]any)) == others
	})
}

// fields reads a reply that is a list of names, each with a value behind it.
func fields(reply any) map[string]string {
	list, _ := reply.([]any)
	m := make(map[string]string)
	for pair := range slices.Chunk(list, 2) {
		name, _ := pair[0].(string)
		m[name], _ = pair[len(pair)-1].(string)
	}
	return m
}

// poll looks until there is what is waited for, for startTimeout at most.
func poll(tb testing.TB, what string, there func() bool) {
	tb.Helper()
	for deadline := time.Now().Add(startTimeout); !there(); time.Sleep(pollInterval) {
		if time.Now().After(deadline) {
			tb.Fatalf("redistest: no %s after %v", what, startTimeout)
		}
	}
}
