package sluice

import (
	"context"
	"crypto/rand"
	"fmt"
	"sync"
	"time"
)

// Client hands out limiters that live in one engine. It is safe for concurrent use and there is
// nothing to close: its only goroutines are those of callers who wait, and of a limiter with callers
// who wait longer than a moment, one that looks after their dates and ends with the last of them.
type Client struct {
	engine Engine
	id     string
	now    func() time.Time

	mu    sync.Mutex
	lines map[lineID]*line // of budgets with waiters in this process
}

// New makes a client on an engine, such as redisengine.New(rdb, nil) or memengine.New(nil).
func New(engine Engine, options ...Option) *Client {
	c := &Client{engine: engine, id: newUUID(), now: time.Now, lines: make(map[lineID]*line)}
	for _, o := range options {
		o.apply(c)
	}
	return c
}

// ID is the identity under which PerClient limiters count this client.
func (c *Client) ID() string { return c.id }

// Limiter is the limiter of a name. It asks the store nothing: a limiter with a bad name (empty, or one whose keys would
// lie in two cluster slots, such as "a}b" or "a{}b") answers each call with an *InvalidError.
func (c *Client) Limiter(name string) *Limiter {
	l := &Limiter{c: c, key: Key{Limiter: name, Client: c.id}, bad: checkName(name)}
	if l.bad == nil && c.id == "" {
		l.bad = &InvalidError{"client id", c.id, "not empty"}
	}
	return l
}

// take asks the engine for one take. When ctx ends before the answer comes, the take may have run, or may yet; it is
// given back.
func (c *Client) take(ctx context.Context, t Take) (Decision, error) {
	answers, err := c.engine.Take(ctx, []Take{t})
	if err == nil {
		err = answers[0].Err
	}
	if err != nil {
		if ctx.Err() != nil {
			c.giveBackLater(ctx, t.Key, t.Receipt)
		}
		return Decision{}, fmt.Errorf("sluice: limiter %q: take: %w", t.Key.Limiter, err)
	}
	return answers[0].Decision, nil
}

// newUUID is a random UUID, version 4, in lower case with dashes: the form of a Redisson client's id.
func newUUID() string {
	var b [16]byte
	rand.Read(b[:]) // never fails
	b[6] = b[6]&0x0f | 0x40
	b[8] = b[8]&0x3f | 0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}
