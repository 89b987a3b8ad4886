package clienttest

import (
	"context"
	"crypto/tls"
	"net"
	"testing"

	"github.com/redis/go-redis/v9"
	"github.com/redis/rueidis"
	"github.com/redis/rueidis/rueidiscompat"

	"github.com/sluice-rate/sluice"
	"github.com/sluice-rate/sluice/internal/redistest"
	"github.com/sluice-rate/sluice/redisengine"
)

// client is a way to reach Redis. Those of go-redis are told to heed the context, which they do not do by themselves.
type client struct {
	name       string
	cluster    bool
	everywhere bool // it runs the suite on every release, not only on the first
	resends    bool // a script call whose reply was lost is sent again by the library
	again      bool // it is of the same type as another of the list, and seen there
	open       func(tb testing.TB, to target) sluice.Engine
}

// target is what a client is opened on.
type target struct {
	addrs   []string
	dial    dialer               // nil: as the library does
	options *redisengine.Options // nil for the defaults
	lasting bool                 // keys of inline limits do not expire
}

type dialer func(ctx context.Context, network, addr string) (net.Conn, error)

var clients = []client{
	{name: "go-redis Client", everywhere: true, resends: true, open: func(tb testing.TB, to target) sluice.Engine {
		return engineOn(to, goRedis(tb, to, 3))
	}},
	{name: "go-redis Client by RESP2", resends: true, open: func(tb testing.TB, to target) sluice.Engine {
		return engineOn(to, goRedis(tb, to, 2))
	}},
	{name: "go-redis UniversalClient", again: true, resends: true, open: func(tb testing.TB, to target) sluice.Engine {
		return engineOn(to, goRedisUniversal(tb, to))
	}},
	{name: "go-redis AutoPipeline", resends: true, open: func(tb testing.TB, to target) sluice.Engine {
		pipeliner, err := goRedis(tb, to, 3).AutoPipeline()
		return engineOn(to, opened(tb, pipeliner, err))
	}},
	{name: "go-redis AsyncAutoPipeline", resends: true, open: func(tb testing.TB, to target) sluice.Engine {
		pipeliner, err := goRedis(tb, to, 3).AsyncAutoPipeline()
		return engineOn(to, opened(tb, pipeliner, err))
	}},
	{name: "go-redis AutoPipeline in full duplex", resends: true, open: func(tb testing.TB, to target) sluice.Engine {
		pipeliner, err := goRedis(tb, to, 3).AutoPipelineWithOptions(&redis.AutoPipelineOptions{FullDuplex: true})
		return engineOn(to, opened(tb, pipeliner, err))
	}},
	{name: "rueidis", everywhere: true, open: func(tb testing.TB, to target) sluice.Engine {
		return engineOn(to, rueidisCompat(tb, to, false))
	}},
	{name: "rueidis by RESP2", open: func(tb testing.TB, to target) sluice.Engine {
		return engineOn(to, rueidisCompat(tb, to, true))
	}},
	{name: "go-redis ClusterClient", cluster: true, everywhere: true, resends: true, open: func(tb testing.TB, to target) sluice.Engine {
		return engineOn(to, goRedisCluster(tb, to))
	}},
	{name: "go-redis UniversalClient of a cluster", again: true, cluster: true, resends: true, open: func(tb testing.TB, to target) sluice.Engine {
		return engineOn(to, goRedisUniversal(tb, to))
	}},
	{name: "go-redis AutoPipeline of a cluster", cluster: true, resends: true, open: func(tb testing.TB, to target) sluice.Engine {
		pipeliner, err := goRedisCluster(tb, to).AutoPipeline()
		return engineOn(to, opened(tb, pipeliner, err))
	}},
	{name: "rueidis on a cluster", cluster: true, everywhere: true, open: func(tb testing.TB, to target) sluice.Engine {
		return engineOn(to, rueidisCompat(tb, to, false))
	}},
}

// failoverClients ask sentinels for the master.
var failoverClients = []client{
	{name: "go-redis FailoverClient", everywhere: true, open: func(tb testing.TB, to target) sluice.Engine {
		return engineOn(to, closed(tb, redis.NewFailoverClient(&redis.FailoverOptions{
			MasterName: redistest.MasterName, SentinelAddrs: to.addrs, Dialer: to.dial, ContextTimeoutEnabled: true,
		})))
	}},
	{name: "rueidis by sentinels", open: func(tb testing.TB, to target) sluice.Engine {
		o := rueidisOptions(to)
		o.Sentinel.MasterSet = redistest.MasterName
		return engineOn(to, rueidisBy(tb, o))
	}},
}

func goRedis(tb testing.TB, to target, protocol int) *redis.Client {
	return closed(tb, redis.NewClient(&redis.Options{Addr: to.addrs[0], Dialer: to.dial, Protocol: protocol, ContextTimeoutEnabled: true}))
}

func goRedisCluster(tb testing.TB, to target) *redis.ClusterClient {
	return closed(tb, redis.NewClusterClient(&redis.ClusterOptions{Addrs: to.addrs, Dialer: to.dial, ContextTimeoutEnabled: true}))
}

// goRedisUniversal is a *redis.Client for one address and a *redis.ClusterClient for several.
func goRedisUniversal(tb testing.TB, to target) redis.UniversalClient {
	return closed(tb, redis.NewUniversalClient(&redis.UniversalOptions{Addrs: to.addrs, Dialer: to.dial}))
}

func rueidisCompat(tb testing.TB, to target, resp2 bool) rueidiscompat.Cmdable {
	tb.Helper()
	o := rueidisOptions(to)
	o.AlwaysRESP2, o.DisableCache = resp2, resp2 // its cache, which scripts have no use for, would need RESP3
	return rueidisBy(tb, o)
}

func rueidisOptions(to target) rueidis.ClientOption {
	o := rueidis.ClientOption{InitAddress: to.addrs}
	if to.dial != nil {
		o.DialCtxFn = func(ctx context.Context, addr string, _ *net.Dialer, _ *tls.Config) (net.Conn, error) {
			return to.dial(ctx, "tcp", addr)
		}
	}
	return o
}

func rueidisBy(tb testing.TB, o rueidis.ClientOption) rueidiscompat.Cmdable {
	tb.Helper()
	c, err := rueidis.NewClient(o)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(c.Close)
	return rueidiscompat.NewAdapter(c)
}

// opened is a client that was made without an error, to be closed when the test ends.
func opened[C interface{ Close() error }](tb testing.TB, c C, err error) C {
	tb.Helper()
	if err != nil {
		tb.Fatal(err)
	}
	return closed(tb, c)
}

func closed[C interface{ Close() error }](tb testing.TB, c C) C {
	tb.Cleanup(func() { c.Close() })
	return c
}
