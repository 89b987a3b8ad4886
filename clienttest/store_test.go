package clienttest

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/sluice-rate/sluice/internal/redistest"
)

// store is the servers behind a client: one, or the masters of a cluster.
type store struct {
	servers []*redistest.Server
	nodes   []*redistest.Conn
}

func startStore(tb testing.TB, cluster bool) *store {
	tb.Helper()
	s := &store{}
	if cluster {
		s.servers = redistest.StartCluster(tb, 3)
	} else {
		s.servers = []*redistest.Server{redistest.Start(tb)}
	}
	for _, server := range s.servers {
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
