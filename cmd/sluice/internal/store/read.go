package store

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/sluice-rate/sluice"
)

// Node is one server that holds keys: the only one, or a master of a cluster. It is for what the library does not offer: reading
// keys as they are, and finding them. Each call is one round trip within the store's limit; an error matches sluice.ErrStoreUnavailable.
type Node struct {
	client redis.Cmdable
	limit  time.Duration
}

// Masters are the servers that hold the store's keys.
func (s *Store) Masters(ctx context.Context) ([]Node, error) {
	ctx, cancel := context.WithTimeout(ctx, s.limit)
	defer cancel()
	cluster, ok := s.client.(*redis.ClusterClient)
	if !ok {
		return []Node{{s.client, s.limit}}, s.whole(ctx)
	}
	var mu sync.Mutex
	var all []Node
	err := cluster.ForEachMaster(ctx, func(_ context.Context, c *redis.Client) error {
		mu.Lock()
		defer mu.Unlock()
		all = append(all, Node{c, s.limit})
		return nil
	})
	return all, unavailable(err)
}

// MasterOf is the server that holds a key.
func (s *Store) MasterOf(ctx context.Context, key string) (Node, error) {
	cluster, ok := s.client.(*redis.ClusterClient)
	if !ok {
		return Node{s.client, s.limit}, nil
	}
	ctx, cancel := context.WithTimeout(ctx, s.limit)
	defer cancel()
	c, err := cluster.MasterForKey(ctx, key)
	return Node{c, s.limit}, unavailable(err)
}

// whole is an error if the server is only one of a cluster's: what is found there would be a part, and look like all. A server that does
// not say is taken for a whole.
func (s *Store) whole(ctx context.Context) error {
	info, err := s.client.Info(ctx, "cluster").Result()
	if _, reply := errors.AsType[redis.Error](err); err != nil && !reply {
		return unavailable(err)
	}
	if strings.Contains(info, "cluster_enabled:1") {
		return fmt.Errorf("the Redis at %s is one node of a cluster%s", s.addr, severalNodes)
	}
	return nil
}

// Read sends the commands that fill makes, which only read; in one atomic step if together, where all keys have to lie in one slot. A key of
// another type than a command wants, or that is not there, is an error of that command alone.
func (n Node) Read(ctx context.Context, together bool, fill func(redis.Pipeliner)) error {
	ctx, cancel := context.WithTimeout(ctx, n.limit)
	defer cancel()
	pipe := n.client.Pipeline()
	if together {
		pipe = n.client.TxPipeline()
	}
	fill(pipe)
	cmds, err := pipe.Exec(ctx)
	if together && err != nil && strings.HasPrefix(err.Error(), "EXECABORT") { // which says that there is a reason, but not which
		if reason := n.Read(ctx, false, fill); reason != nil {
			return reason
		}
	}
	for _, c := range cmds {
		if bad := c.Err(); bad != nil && !errors.Is(bad, redis.Nil) && !strings.HasPrefix(bad.Error(), "WRONGTYPE") {
			return unavailable(bad)
		}
	}
	if _, reply := errors.AsType[redis.Error](err); reply {
		return nil // of one command
	}
	return unavailable(err)
}

// scanCount is how many keys the server looks at in one step of a scan: it is busy for less than a millisecond.
const scanCount = 1000

// Scan makes one step through the keys of a type whose name matches a glob ("" for all); it begins at cursor 0 and has ended when
// next is 0. A key may come twice, and one that is made or deleted meanwhile may come or not.
func (n Node) Scan(ctx context.Context, cursor uint64, match, kind string) (keys []string, next uint64, err error) {
	ctx, cancel := context.WithTimeout(ctx, n.limit)
	defer cancel()
	keys, next, err = n.client.ScanType(ctx, cursor, match, scanCount, kind).Result()
	return keys, next, unavailable(err)
}

func unavailable(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%w: %w", sluice.ErrStoreUnavailable, err)
}
