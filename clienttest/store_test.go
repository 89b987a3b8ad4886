package clienttest

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/sluice-rate/sluice/internal/redistest"
)

// store is the servers behind a client: one, the masters of a cluster, or one that sentinels watch.
type store struct {
	servers []*redistest.Server // the sentinels, if there are any: they tell a client where to go
	nodes   []*redistest.Conn   // to those that have the keys
}

// startStore starts one server.
func startStore(tb testing.TB, release redistest.Release) *store {
	tb.Helper()
	return storeOf(tb, release.Start(tb))
}

// startCluster starts a cluster of three masters.
func startCluster(tb testing.TB, release redistest.Release) *store {
	tb.Helper()
	return storeOf(tb, release.StartCluster(tb, 3)...)
}

// startWatched starts a master with a replica, and a sentinel that bears with a master that is busy with a long script.
func startWatched(tb testing.TB, release redistest.Release) *store {
	tb.Helper()
	w := release.StartSentinels(tb, 1, 1)
	redistest.Dial(tb, w.Addrs()[0]).Str(tb, "SENTINEL", "SET", redistest.MasterName, "down-after-milliseconds", 60_000)
	s := storeOf(tb, w.Servers[0])
	s.servers = w.Sentinels
	return s
}

func storeOf(tb testing.TB, servers ...*redistest.Server) *store {
	tb.Helper()
	s := &store{servers: servers}
	for _, server := range servers {
		s.nodes = append(s.nodes, redistest.Dial(tb, server.Addr()))
	}
	return s
}

func (s *store) addrs() []string {
	addrs := make([]string, len(s.servers))
	for i, server := range s.servers {
		addrs[i] = server.Addr()
	}
	return addrs
}

// do runs a command on the node that has its key.
func (s *store) do(tb testing.TB, args ...any) any {
	tb.Helper()
	for _, node := range s.nodes {
		reply, err := node.Do(context.WithoutCancel(tb.Context()), args...)
		if e, ok := errors.AsType[redistest.Error](err); ok && strings.HasPrefix(string(e), "MOVED") {
			continue
		}
		if err != nil {
			tb.Fatalf("%v: %v", args, err)
		}
		return reply
	}
	tb.Fatalf("%v: no node has the key", args)
	return nil
}

// everywhere runs a command on every node.
func (s *store) everywhere(tb testing.TB, args ...any) {
	tb.Helper()
	for _, node := range s.nodes {
		if _, err := node.Do(context.WithoutCancel(tb.Context()), args...); err != nil {
			tb.Fatalf("%v: %v", args, err)
		}
	}
}

// scriptCalls is how many scripts have run, those that were not known included.
func (s *store) scriptCalls(tb testing.TB) (calls int64) {
	tb.Helper()
	for _, node := range s.nodes {
		n, _ := node.ScriptStats(tb)
		calls += n
	}
	return calls
}
