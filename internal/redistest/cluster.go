package redistest

import (
	"maps"
	"strconv"
	"testing"
	"time"
)

// slots is the number of hash slots of every cluster.
const slots = 16384

// StartCluster runs a Redis Cluster of that many masters without replicas, and returns
// when every node says that the cluster is complete. Each node has an equal share
// of the slots, in the order of the result. It takes some three seconds, since a
// new node rests for two before it says so.
//
// A [Conn] talks to one node. For a key that lives elsewhere it gets the node's
// answer, an [Error] that begins with MOVED.
func StartCluster(tb testing.TB, masters int) []*Server {
	tb.Helper()
	return Release{}.StartCluster(tb, masters)
}

// StartCluster is [StartCluster] for servers of this release.
func (r Release) StartCluster(tb testing.TB, masters int) []*Server {
	tb.Helper()
	if masters < 1 {
		tb.Fatalf("redistest: a cluster of %d masters", masters)
	}
	servers := make([]*Server, masters)
	conns := make([]*Conn, masters)
	for i := range servers {
		servers[i] = r.Start(tb, "--cluster-enabled", "yes", "--cluster-announce-ip", "127.0.0.1")
		conns[i] = Connect(servers[i].Addr())
		defer conns[i].Close()

		// Epochs that differ from the start: else the nodes would have to agree on them.
		conns[i].do(tb, "CLUSTER", "SET-CONFIG-EPOCH", i+1)
		conns[i].do(tb, "CLUSTER", "ADDSLOTSRANGE", slots*i/masters, slots*(i+1)/masters-1)
	}
	// Each pair is introduced, one of it to the other: gossip alone would take longer.
	for i, c := range conns {
		for _, other := range servers[:i] {
			c.do(tb, "CLUSTER", "MEET", "127.0.0.1", other.port)
		}
	}
	for _, c := range conns {
		c.awaitCluster(tb, masters)
	}
	return servers
}

func (c *Conn) awaitCluster(tb testing.TB, masters int) {
	tb.Helper()
	want := map[string]string{
		"cluster_state":       "ok",
		"cluster_slots_ok":    strconv.Itoa(slots),
		"cluster_known_nodes": strconv.Itoa(masters),
		"cluster_size":        strconv.Itoa(masters),
	}
	deadline := time.Now().Add(startTimeout)
	for {
		got := parseInfo(c.do(tb, "CLUSTER", "INFO"))
		maps.DeleteFunc(got, func(field, _ string) bool { return want[field] == "" })
		if maps.Equal(got, want) {
			return
		}
		if time.Now().After(deadline) {
			tb.Fatalf("redistest: cluster: node %s after %v: %v, want %v", c.addr, startTimeout, got, want)
		}
		time.Sleep(pollInterval)
	}
}
