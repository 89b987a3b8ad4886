package sluice

import "time"

// Option changes a default of New.
type Option interface{ apply(*Client) }

type optionFunc func(*Client)

func (f optionFunc) apply(c *Client) { f(c) }

// WithClientID sets the identity under which PerClient limiters count this client. The default is a
// random UUID, new in each process, as in Redisson; set one to keep a budget across restarts or to share it.
func WithClientID(id string) Option { return optionFunc(func(c *Client) { c.id = id }) }

// WithClock replaces the clock by which the client sleeps out its waits; for tests. Which permits are
// granted does not depend on it: that is the store's clock. The default is time.Now.
func WithClock(now func() time.Time) Option { return optionFunc(func(c *Client) { c.now = now }) }
