package sluice

import (
	"context"
	"fmt"
	"time"
)

// Limiter is one named limiter: a rate that is stored together with its ledger, so that every process that
// uses the name shares both. It is Redisson's RRateLimiter, on the same keys; where a method differs, it says so. A
// Limiter is a small handle, safe for concurrent use, and costs nothing to make.
//
// Every method makes one round trip unless it says otherwise. Besides what a method names, its error can be an
// *InvalidError (nothing was sent), a *CorruptError (a key holds what no limiter wrote), ErrStoreUnavailable, or the
// context's.
type Limiter struct {
	c   *Client
	key Key
	bad error // what is wrong with the name
}

// Name is the limiter's name.
func (l *Limiter) Name() string { return l.key.Limiter }

// TrySetRate gives the limiter its configuration if it has none, and reports whether it did. An existing
// configuration, or one that was stored in the same moment by another process, stays as it is.
//
// Unlike Redisson's, it refuses what cannot work (a rate or interval of zero), adds nothing to an existing
// configuration, and when only the configuration had been lost it counts what the ledger still holds.
func (l *Limiter) TrySetRate(ctx context.Context, config Config) (bool, error) {
	return l.configure(ctx, TrySet, config)
}

// SetRate stores a configuration over whatever there is, and begins anew: what has been used is forgotten. Callers who
// wait keep their places and move to the dates that the new rate gives them; see LookPeriod.
//
// Unlike Redisson's, setting the configuration that is stored already changes nothing and frees nothing; a
// keep-alive of zero ends the old one's countdown; and other clients of a PerClient limiter go over to
// the new rate with their next call.
func (l *Limiter) SetRate(ctx context.Context, config Config) error {
	_, err := l.configure(ctx, Set, config)
	return err
}

// UpdateRate replaces the configuration and keeps what has been used; it reports false, and does nothing, if there is none.
// When the rate is lowered, no window from now on holds more than the new rate, but for waiters whose turn comes within
// LookPeriod and for what Reserve has promised. A change of the mode begins anew, since the two modes count separately.
//
// Redisson's updateRate with keepState forgets how far the old use exceeds a lower rate; this one does not.
func (l *Limiter) UpdateRate(ctx context.Context, config Config) (bool, error) {
	return l.configure(ctx, Update, config)
}

func (l *Limiter) configure(ctx context.Context, how Change, config Config) (bool, error) {
	if err := l.check(config.validate()); err != nil {
		return false, err
	}
	done, err := l.c.engine.Configure(ctx, l.key, how, config)
	return done, l.wrap("configure", err)
}

// Config is the stored configuration, with the keep-alive, or ErrNotInitialized.
func (l *Limiter) Config(ctx context.Context) (Config, error) {
	s, err := l.inspect(ctx, "config", Page{})
	return s.Config, err
}

// Available is how many permits could be had now; 0 while callers wait in line. It is a true read: unlike
// Redisson's availablePermits it writes nothing, and it counts the ledger rather than trust the cached value.
// The error is ErrNotInitialized if there is no configuration.
func (l *Limiter) Available(ctx context.Context) (int64, error) {
	s, err := l.inspect(ctx, "available", Page{})
	return s.Available, err
}

// Exists reports whether the limiter has a configuration.
func (l *Limiter) Exists(ctx context.Context) (bool, error) {
	if l.bad != nil {
		return false, l.bad
	}
	s, err := l.c.engine.Inspect(ctx, l.key, Page{})
	return s.Exists, l.wrap("exists", err)
}

// TTL is how long the limiter lives if nobody uses it, to the millisecond; 0 means for ever. The error is
// ErrNotInitialized if there is no configuration.
func (l *Limiter) TTL(ctx context.Context) (time.Duration, error) {
	s, err := l.inspect(ctx, "ttl", Page{})
	return s.TTL, err
}

func (l *Limiter) inspect(ctx context.Context, verb string, page Page) (Snapshot, error) {
	if l.bad != nil {
		return Snapshot{}, l.bad
	}
	s, err := l.c.engine.Inspect(ctx, l.key, page)
	if err == nil && !s.Exists {
		err = ErrNotInitialized
	}
	return s, l.wrap(verb, err)
}

// Expire makes the limiter vanish after d, to the millisecond, and reports whether there was one. A limiter with a
// keep-alive goes back to it at its next use, as in Redisson. The ledger is kept until its last grant has left the window,
// so that a limiter that is made anew under this name does not grant twice what is still in use; Redisson forgets it, and does not stand
// this if it is the one that makes it anew: see redisengine.Options.JavaPeers.
func (l *Limiter) Expire(ctx context.Context, d time.Duration) (bool, error) {
	var problems problems
	if d < time.Millisecond || d > MaxInterval {
		problems.add("expiry", d, fmt.Sprintf("1ms to %v; to be rid of a limiter now, Delete it", MaxInterval))
	}
	return l.alter(ctx, "expire", Fate{ExpireIn: d}, problems.err())
}

// ExpireAt is Expire for a moment of the store's clock. A moment that has passed deletes the limiter.
func (l *Limiter) ExpireAt(ctx context.Context, t time.Time) (bool, error) {
	var problems problems
	if t.IsZero() || t.Before(time.Unix(1, 0)) {
		problems.add("expiry", t, "a moment after 1970")
	}
	return l.alter(ctx, "expire at", Fate{ExpireAt: t}, problems.err())
}

// Persist undoes Expire and reports whether there was a limiter. A keep-alive counts anew from the next use.
func (l *Limiter) Persist(ctx context.Context) (bool, error) {
	return l.alter(ctx, "persist", Fate{Persist: true}, nil)
}

// Delete forgets the limiter with its ledger, and reports whether there was anything to forget. Callers who wait get ErrNotInitialized
// within LookPeriod. The ledgers of other clients of a PerClient limiter go by themselves, two intervals after their
// last grant; Redisson leaves them.
func (l *Limiter) Delete(ctx context.Context) (bool, error) {
	return l.alter(ctx, "delete", Fate{Delete: true}, nil)
}

// Rename moves the limiter with its ledger to another name, over what is there; Redisson moves the configuration alone. The
// error is ErrNotInitialized if there is none. On a cluster both names must share a hash tag ("{user}:a", "{user}:b").
// The ledgers of other clients of a PerClient limiter stay behind and go by themselves.
func (l *Limiter) Rename(ctx context.Context, name string) error {
	bad := checkName(name)
	if bad == nil && name == l.key.Limiter {
		bad = &InvalidError{"new name", name, "another than the old one"}
	}
	existed, err := l.alter(ctx, "rename", Fate{Rename: name}, bad)
	if err == nil && !existed {
		err = l.wrap("rename", ErrNotInitialized)
	}
	return err
}

func (l *Limiter) alter(ctx context.Context, verb string, fate Fate, bad error) (bool, error) {
	if err := l.check(bad); err != nil {
		return false, err
	}
	existed, err := l.c.engine.Alter(ctx, l.key, fate)
	return existed, l.wrap(verb, err)
}

// check is what is wrong with the name, or else with an argument.
func (l *Limiter) check(argument error) error {
	if l.bad != nil {
		return l.bad
	}
	return argument
}

func (l *Limiter) wrap(verb string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("sluice: limiter %q: %s: %w", l.key.Limiter, verb, err)
}
