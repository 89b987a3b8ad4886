// Package redisengine decides in Redis. Each decision is one script call, atomic and dated by Redis' own clock.
//
// The keys, fields and bytes are those of Redisson's RRateLimiter (3.17 and later), so that Java and Go services can share
// a limiter. For the limiter "foo": the hash foo holds the configuration, the string {foo}:value the free permits, the sorted
// set {foo}:permits the ledger; a PerClient limiter has the last two once for each client, {foo}:value:ID and so on.
//
// It needs Redis 6.2 or newer, or Valkey, and works on a cluster.
package redisengine

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"time"

	"github.com/sluice-rate/sluice"
)

// Reply is what a client's Eval returns: go-redis' *redis.Cmd, rueidiscompat's *Cmd.
type Reply interface {
	Result() (any, error)
}

// Client is any Redis client that can run scripts: go-redis' *redis.Client, *redis.ClusterClient and
// redis.UniversalClient, and rueidis' rueidiscompat.Cmdable, as they are.
type Client[R Reply] interface {
	Eval(ctx context.Context, script string, keys []string, args ...any) R
	EvalSha(ctx context.Context, sha1 string, keys []string, args ...any) R
}

// Options are the defaults of New when nil.
type Options struct {
	// Now replaces the store clock, for tests. The default is Redis' TIME; do not set it in production, since
	// then the clocks of all callers would have to agree.
	Now func() time.Time
	// JavaPeers says that Redisson uses the same limiters. Then value and ledger live exactly as long as the configuration, as
	// Redisson's do. Else they outlive it until the last grant has left the window, so that a limiter that is made anew grants nothing twice; but if
	// it is Java that makes it anew, it takes the time to live off the value and not off the ledger, and fails when that has gone.
	// It matters to limiters that expire (Limiter.Expire, Config.KeepAlive). The default is false.
	JavaPeers bool
}

// Engine is a sluice.Engine.
type Engine struct {
	eval    func(ctx context.Context, script string, keys []string, args []any) (any, error)
	evalSha func(ctx context.Context, sha1 string, keys []string, args []any) (any, error)
	now     func() time.Time
	peers   bool // of Java
	beliefs beliefs
	spreads atomic.Bool // the server is a cluster: see spread.go
}

var _ sluice.Engine = (*Engine)(nil)

// New makes an engine on a client, which stays the caller's to close. It does not connect.
//
// The client may resend a call whose answer was lost: a take that runs twice is charged once. How long a call can take when the
// server hangs is the client's matter: go-redis heeds a context's deadline only with Options.ContextTimeoutEnabled, and else waits for
// its ReadTimeout.
func New[R Reply](c Client[R], o *Options) *Engine {
	e := &Engine{
		eval: func(ctx context.Context, script string, keys []string, args []any) (any, error) {
			return c.Eval(ctx, script, keys, args...).Result()
		},
		evalSha: func(ctx context.Context, sha1 string, keys []string, args []any) (any, error) {
			return c.EvalSha(ctx, sha1, keys, args...).Result()
		},
	}
	if o != nil {
		e.now, e.peers = o.Now, o.JavaPeers
	}
	return e
}

// run makes one round trip, two when the server does not know the script yet.
func (e *Engine) run(ctx context.Context, s *script, keys []string, args []any) (_ reply, err error) {
	defer caught(&err)
	if err := ctx.Err(); err != nil { // not every client looks
		return nil, err
	}
	if e.peers && s.peers != nil {
		s = s.peers
	}
	r, err := e.evalSha(ctx, s.sha1, keys, args)
	if err != nil && strings.HasPrefix(err.Error(), "NOSCRIPT") {
		r, err = e.eval(ctx, s.text, keys, args)
	}
	if err != nil {
		return nil, fmt.Errorf("redisengine: %s: %w: %w", s.name, sluice.ErrStoreUnavailable, err)
	}
	if packed, ok := r.(string); ok && len(packed) == packedSize {
		return unpack(packed), nil
	}
	list, ok := r.([]any)
	if !ok || len(list) == 0 {
		return nil, fmt.Errorf("redisengine: %s: %w: the reply is %v, not a list", s.name, sluice.ErrStoreUnavailable, r)
	}
	return list, nil
}

// clock is the first argument of each script: the moment in microseconds, 0 for the server's own.
func (e *Engine) clock() int64 {
	if e.now == nil {
		return 0
	}
	return e.now().UnixMicro()
}

// on runs a script on the state of the mode in which the caller believes the limiter to be, and again when the
// script says that it is in the other one.
func (e *Engine) on(ctx context.Context, s *script, key sluice.Key, args ...any) (reply, error) {
	for tries := 0; ; tries++ {
		b := e.beliefs.of(key)
		keys := stateKeys(key, b.mode)
		r, err := e.run(ctx, s, keys, append(b.args(e.clock()), args...))
		if err != nil {
			return nil, err
		}
		switch code := r.int(0); {
		case code == codeDone:
			if s != scriptInspect { // a read has seen the rate, but has not counted the value under it
				e.beliefs.set(key, r.belief(b.mode))
			}
			return r, nil
		case code == codeAsBelieved:
			if r.int(2) == statusChecked {
				b.checked = r.int(atNow)
				e.beliefs.set(key, b)
			}
			return r.complete(b), nil
		case code == codeMode && tries < 3:
			e.beliefs.set(key, belief{rate: unknownRate, mode: sluice.Mode(r.int(1))})
		case code == codeMode:
			return nil, fmt.Errorf("redisengine: %s: %w: the limiter's mode changes all the time", s.name, sluice.ErrStoreUnavailable)
		default:
			return nil, r.refusal(s.name, keys)
		}
	}
}
