// Package store opens the Redis that a limiter lives in, from a URL as people write it, and says in plain words what is
// wrong when it does not answer. No password gets into what it says.
package store

import (
	"context"
	"io"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"

	"github.com/sluice-rate/sluice"
	"github.com/sluice-rate/sluice/redisengine"
)

// DefaultURL is the Redis that is meant where none is named.
const DefaultURL = "redis://127.0.0.1:6379"

// Patience is how long one call may take, connecting included, unless the URL sets dial_timeout or read_timeout. Somebody sits
// in front of the terminal: an answer after three seconds is no better than none.
const Patience = 2 * time.Second

// Store is an engine in a Redis.
type Store struct {
	sluice.Engine
	addr   string // where it is, for people; without a password
	limit  time.Duration
	client client
}

// Open makes the store of a URL: redis://, rediss:// with TLS, or unix://, with the query parameters of go-redis; several hosts with commas
// between them are nodes of one cluster. It does not connect.
func Open(url string) (*Store, error) {
	t, err := parse(url)
	if err != nil {
		return nil, err
	}
	s := &Store{addr: strings.Join(t.addrs, ","), limit: t.patience()}
	client := t.connect()
	s.client = client
	s.Engine = redisengine.New(bounded{client, s.limit}, nil)
	return s, nil
}

// Close ends the connections.
func (s *Store) Close() error { return s.client.Close() }

// client is what go-redis' clients of one server and of a cluster have in common, as far as it is used here.
type client interface {
	redis.Cmdable
	io.Closer
}

// connect makes the client. It tries once: whoever typed the command can type it again, and a second attempt
// would only double the time until he knows what is wrong.
func (t target) connect() client {
	o := t.options
	o.MaxRetries = -1
	o.DialerRetries = 1
	o.ContextTimeoutEnabled = true
	o.DisableIdentity = true // one trip less, and servers behind a proxy may not know the command
	o.MaintNotificationsConfig = &maintnotifications.Config{Mode: maintnotifications.ModeDisabled}
	if len(t.addrs) == 1 {
		return redis.NewClient(o)
	}
	cluster := &redis.ClusterOptions{
		Addrs:                    t.addrs,
		ClientName:               o.ClientName,
		Protocol:                 o.Protocol,
		Username:                 o.Username,
		Password:                 o.Password,
		MaxRetries:               o.MaxRetries,
		DialTimeout:              o.DialTimeout,
		DialerRetries:            o.DialerRetries,
		ReadTimeout:              o.ReadTimeout,
		WriteTimeout:             o.WriteTimeout,
		ContextTimeoutEnabled:    true,
		DisableIdentity:          true,
		MaintNotificationsConfig: o.MaintNotificationsConfig,
	}
	if o.TLSConfig != nil {
		cluster.TLSConfig = o.TLSConfig.Clone()
		cluster.TLSConfig.ServerName = "" // each node's own
	}
	return redis.NewClusterClient(cluster)
}

// bounded gives each call a deadline.
type bounded struct {
	client
	limit time.Duration
}

// Eval runs a script, but not for longer than the limit.
func (b bounded) Eval(ctx context.Context, script string, keys []string, args ...any) *redis.Cmd {
	ctx, cancel := context.WithTimeout(ctx, b.limit)
	defer cancel()
	return b.client.Eval(ctx, script, keys, args...)
}

// EvalSha runs a script by its digest, but not for longer than the limit.
func (b bounded) EvalSha(ctx context.Context, sha1 string, keys []string, args ...any) *redis.Cmd {
	ctx, cancel := context.WithTimeout(ctx, b.limit)
	defer cancel()
	return b.client.EvalSha(ctx, sha1, keys, args...)
}
