package store_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"

	"github.com/sluice-rate/sluice"
	"github.com/sluice-rate/sluice/cmd/sluice/internal/store"
	"github.com/sluice-rate/sluice/internal/redistest"
)

// scanAll is all keys of a type on a server.
func scanAll(t *testing.T, n store.Node, match, kind string) (all []string) {
	t.Helper()
	for cursor, more := uint64(0), true; more; more = cursor != 0 {
		var keys []string
		var err error
		if keys, cursor, err = n.Scan(t.Context(), cursor, match, kind); err != nil {
			t.Fatal(err)
		}
		all = append(all, keys...)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

func TestNode_of_one_server(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t)
	conn := redistest.Dial(t, server.Addr())
	conn.Str(t, "SET", "text", "x")
	conn.Int(t, "HSET", "hash", "a", 1)
	nodes, err := open(t, server.URL()).Masters(t.Context())
	if err != nil || len(nodes) != 1 {
		t.Fatalf("Masters = %v, %v, want one", nodes, err)
	}
	if got := scanAll(t, nodes[0], "", "hash"); !slices.Equal(got, []string{"hash"}) {
		t.Errorf("Scan of hashes finds %q", got)
	}
	if got := scanAll(t, nodes[0], "t*", ""); !slices.Equal(got, []string{"text"}) {
		t.Errorf("Scan of t* finds %q", got)
	}
	for _, together := range []bool{true, false} {
		var text, wrong, none *redis.StringCmd
		err := nodes[0].Read(t.Context(), together, func(p redis.Pipeliner) {
			wrong, none, text = p.Get(t.Context(), "hash"), p.Get(t.Context(), "none"), p.Get(t.Context(), "text")
		})
		if err != nil || text.Val() != "x" || wrong.Err() == nil || !errors.Is(none.Err(), redis.Nil) {
			t.Errorf("Read together %t = %v, %v, %v, %v, want the text and errors of their own for the others", together, err, text, wrong, none)
		}
	}
}

func TestNode_of_a_cluster(t *testing.T) {
	t.Parallel()
	servers := redistest.StartCluster(t, 3)
	s := open(t, "redis://"+servers[0].Addr()+","+servers[1].Addr())
	var want []string
	for i := range 20 {
		name := fmt.Sprintf("limiter-%02d", i)
		want = append(want, name)
		if _, err := sluice.New(s).Limiter(name).TrySetRate(t.Context(), sluice.Config{Rate: sluice.Per(1, 1e9)}); err != nil {
			t.Fatal(err)
		}
		n, err := s.MasterOf(t.Context(), name)
		if err != nil {
			t.Fatal(err)
		}
		var rate *redis.StringCmd
		if err := n.Read(t.Context(), true, func(p redis.Pipeliner) { rate = p.HGet(t.Context(), name, "rate") }); err != nil || rate.Val() != "1" {
			t.Errorf("%s: the rate is %v, %v, want 1", name, rate, err)
		}
	}
	nodes, err := s.Masters(t.Context())
	if err != nil || len(nodes) != 3 {
		t.Fatalf("Masters = %v, %v, want three", nodes, err)
	}
	var got []string
	for _, n := range nodes {
		got = append(got, scanAll(t, n, "limiter-*", "hash")...)
	}
	if slices.Sort(got); !slices.Equal(got, want) {
		t.Errorf("the masters have %q, want %q", got, want)
	}
	if _, err := open(t, servers[0].URL()).Masters(t.Context()); err == nil || !strings.Contains(err.Error(), "name several of its nodes") {
		t.Errorf("Masters of one node = %v, want how to name more", err)
	}
}

func TestNode_that_is_not_there(t *testing.T) {
	t.Parallel()
	s := open(t, "redis://127.0.0.1:1")
	n, err := s.MasterOf(t.Context(), "x")
	if err != nil {
		t.Fatal(err)
	}
	_, masters := s.Masters(t.Context())
	_, _, scan := n.Scan(t.Context(), 0, "", "hash")
	read := n.Read(t.Context(), true, func(p redis.Pipeliner) { p.Get(t.Context(), "x") })
	for _, err := range []error{masters, scan, read} {
		if !errors.Is(err, sluice.ErrStoreUnavailable) || !strings.Contains(s.Explain(err).Error(), "127.0.0.1:1 does not answer") {
			t.Errorf("%v, want that the store does not answer", err)
		}
	}
}
