package memengine

import (
	"context"
	"time"

	"github.com/sluice-rate/sluice"
	"github.com/sluice-rate/sluice/internal/ledger"
)

// Configure implements sluice.Engine.
func (e *Engine) Configure(ctx context.Context, key sluice.Key, how sluice.Change, config sluice.Config) (done bool, err error) {
	if err := ctx.Err(); err != nil {
		return false, err
	}
	e.with(key.Limiter, func(l *limiter, now int64) { done = l.configure(now, key.Client, how, config) })
	return done, nil
}

func (l *limiter) configure(now int64, client string, how sluice.Change, config sluice.Config) bool {
	was, old := l.configured, l.config
	switch {
	case how == sluice.TrySet && was, how == sluice.Update && !was:
		return false
	case was && old == config:
		if config.KeepAlive > 0 {
			l.used(client, now)
		}
		return true
	}
	l.configured, l.config, l.expires = true, config, 0
	if config.KeepAlive > 0 {
		l.expires = now + config.KeepAlive.Microseconds()
	}
	mine, other := slot(config.Mode, client), slot(sluice.Overall+sluice.PerClient-config.Mode, client)
	if !was || old.Mode != config.Mode {
		delete(l.states, other)
	}
	if was && old.Mode != config.Mode {
		delete(l.states, mine)
	}
	for c, s := range l.states {
		keep := how != sluice.Set || c != mine
		if s.Reconfigure(l.rate(), now, keep); len(s.Entries) == 0 {
			delete(l.states, c)
		}
	}
	if l.states[mine] != nil {
		l.used(client, now)
	}
	return true
}

// Inspect implements sluice.Engine.
func (e *Engine) Inspect(ctx context.Context, key sluice.Key, page sluice.Page) (snap sluice.Snapshot, err error) {
	if err := ctx.Err(); err != nil {
		return snap, err
	}
	cursor, err := ledger.ParseCursor(page.Cursor)
	if err != nil {
		return snap, err
	}
	e.with(key.Limiter, func(l *limiter, now int64) {
		snap.At = time.UnixMicro(now)
		if !l.configured {
			return
		}
		snap.Exists, snap.Config = true, l.config
		if l.expires != 0 {
			snap.TTL = time.Duration(l.expires-now) * time.Microsecond
		}
		s := l.states[slot(l.config.Mode, key.Client)]
		if s == nil {
			snap.Available = l.config.Rate.Permits
			return
		}
		snap.Available = s.Available(l.rate(), now)
		entries := s.Page(l.rate(), now, cursor, page.Limit)
		for _, entry := range entries {
			snap.Entries = append(snap.Entries, sluice.LedgerEntry(entry.Score, entry.ID, entry.Member.Permits, snap.At))
		}
		if page.Limit > 0 && len(entries) == page.Limit {
			snap.Next = cursor.After(entries).String()
		}
	})
	return snap, nil
}

// Alter implements sluice.Engine.
func (e *Engine) Alter(ctx context.Context, key sluice.Key, fate sluice.Fate) (existed bool, err error) {
	if err := ctx.Err(); err != nil {
		return false, err
	}
	if fate.Rename != "" {
		return e.rename(key, fate.Rename), nil
	}
	e.with(key.Limiter, func(l *limiter, now int64) {
		switch {
		case !fate.ExpireAt.IsZero() && fate.ExpireAt.UnixMicro() <= now, fate.Delete:
			existed = l.configured || l.states[""] != nil || l.states[key.Client] != nil
			l.configured, l.expires = false, 0
			delete(l.states, "")
			delete(l.states, key.Client)
		case !l.configured:
		case fate.Persist:
			existed = true
			l.live(key.Client, now, 0)
		case !fate.ExpireAt.IsZero():
			existed = true
			l.live(key.Client, now, fate.ExpireAt.UnixMicro())
		default:
			existed = true
			l.live(key.Client, now, now+fate.ExpireIn.Microseconds())
		}
	})
	return existed, nil
}

// live sets the limiter's end. The state outlives it by an interval: until then a grant can be made, which counts so long.
func (l *limiter) live(client string, now, expires int64) {
	l.expires = expires
	s := l.states[slot(l.config.Mode, client)]
	switch {
	case s == nil:
	case expires != 0:
		s.expires = max(s.expires, expires+l.config.Rate.Interval.Microseconds())
	case l.config.Mode == sluice.Overall:
		s.expires = 0
	}
}

func (e *Engine) rename(key sluice.Key, name string) (existed bool) {
	var moved limiter
	e.with(key.Limiter, func(l *limiter, _ int64) {
		if existed = l.configured; !existed {
			return
		}
		moved = limiter{configured: true, config: l.config, expires: l.expires}
		mine := slot(l.config.Mode, key.Client)
		if s := l.states[mine]; s != nil {
			moved.states = map[string]*state{mine: s}
		}
		l.configured, l.expires = false, 0
		delete(l.states, "")
		delete(l.states, key.Client)
	})
	if existed {
		e.with(name, func(l *limiter, _ int64) { *l = moved })
	}
	return existed
}
