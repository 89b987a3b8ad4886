package redistest_test

import (
	"errors"
	"strconv"
	"strings"
	"testing"

	"github.com/sluice-rate/sluice/internal/redistest"
)

func TestStartCluster(t *testing.T) {
	t.Parallel()
	servers := redistest.StartCluster(t, 3)
	conns := make([]*redistest.Conn, len(servers))
	for i, s := range servers {
		conns[i] = redistest.Dial(t, s.Addr())
	}

	// Every key is served by the node that has its slot; the others say who that is.
	served := make([]int, len(servers))
	for k := range 300 {
		key := "key:" + strconv.Itoa(k)
		home := int(conns[0].Int(t, "CLUSTER", "KEYSLOT", key)) * len(servers) / 16384
		for i, c := range conns {
			_, err := c.Do(t.Context(), "SET", key, k)
			e, refused := errors.AsType[redistest.Error](err)
			switch {
			case i == home && err != nil:
				t.Errorf("SET %s at node %d: %v", key, i, err)
			case i == home:
				served[i]++
			case !refused || !strings.HasPrefix(string(e), "MOVED ") || !strings.HasSuffix(string(e), " "+servers[home].Addr()):
				t.Errorf("SET %s at node %d: %v, want MOVED to %s", key, i, err, servers[home].Addr())
			}
		}
	}
	for i, n := range served {
		if n < 50 {
			t.Errorf("node %d of %d serves %d of 300 keys", i, len(served), n)
		}
	}

	// Each node knows the addresses of all, its own too.
	for i, c := range conns {
		nodes := c.Str(t, "CLUSTER", "NODES")
		for _, s := range servers {
			if !strings.Contains(nodes, s.Addr()+"@") {
				t.Errorf("node %d does not know %s:\n%s", i, s.Addr(), nodes)
			}
		}
	}
}

func TestClusterNodeComesBack(t *testing.T) {
	t.Parallel()
	servers := redistest.StartCluster(t, 2)
	c := redistest.Dial(t, servers[1].Addr())
	before := c.Str(t, "CLUSTER", "MYID")
	servers[1].Restart(t)
	if after := c.Str(t, "CLUSTER", "MYID"); after != before {
		t.Errorf("CLUSTER MYID = %s, want %s", after, before)
	}
	await(t, "cluster", func() bool { return strings.Contains(c.Str(t, "CLUSTER", "INFO"), "cluster_state:ok") })
}

func TestClusterOfOne(t *testing.T) {
	t.Parallel()
	c := redistest.Dial(t, redistest.StartCluster(t, 1)[0].Addr())
	for _, key := range []string{"a", "b", "c", "d"} {
		c.Str(t, "SET", key, 1)
	}
}
