package redisengine

import (
	"context"
	"errors"
	"time"

	"github.com/sluice-rate/sluice"
	"github.com/sluice-rate/sluice/internal/ledger"
)

var changes = map[sluice.Change]string{sluice.TrySet: "try", sluice.Set: "set", sluice.Update: "update"}

// Configure implements sluice.Engine.
func (e *Engine) Configure(ctx context.Context, key sluice.Key, how sluice.Change, c sluice.Config) (bool, error) {
	keys := allKeys(key, c.Mode)
	r, err := e.run(ctx, scriptConfigure, keys, []any{
		e.clock(), changes[how],
		c.Rate.Permits, c.Rate.Interval.Milliseconds(), int(c.Mode), c.KeepAlive.Milliseconds(),
	})
	if err != nil {
		return false, err
	}
	if r.int(atCode) != codeDone {
		return false, r.refusal(scriptConfigure.name, keys)
	}
	e.beliefs.doubt(key.Limiter)
	return r.int(headFields) == 1, nil
}

// Inspect implements sluice.Engine.
func (e *Engine) Inspect(ctx context.Context, key sluice.Key, page sluice.Page) (sluice.Snapshot, error) {
	cursor, err := ledger.ParseCursor(page.Cursor)
	if err != nil {
		return sluice.Snapshot{}, err
	}
	r, err := e.on(ctx, scriptInspect, key, cursor.Score, cursor.Skip, page.Limit)
	if errors.Is(err, sluice.ErrNotInitialized) {
		return sluice.Snapshot{}, nil
	}
	if err != nil {
		return sluice.Snapshot{}, err
	}
	s := sluice.Snapshot{
		Exists: true,
		Config: sluice.Config{
			Rate:      r.limit(),
			Mode:      sluice.Mode(r.int(headFields)),
			KeepAlive: time.Duration(r.int(headFields+1)) * time.Millisecond,
		},
		TTL:       time.Duration(max(0, r.int(headFields+2))) * time.Millisecond,
		Available: r.int(headFields + 3),
		At:        r.at(),
	}
	for i := headFields + 4; i+1 < len(r); i += 2 {
		score := r.int(i)
		s.Entries = append(s.Entries, entry(score, r.text(i+1), s.At))
		cursor = cursor.After([]ledger.Entry{{Score: score}})
	}
	if page.Limit > 0 && len(s.Entries) == page.Limit {
		s.Next = cursor.String()
	}
	return s, nil
}

// entry reads a member of any format.
func entry(score int64, member string, now time.Time) sluice.Entry {
	if m, ok := ledger.ParseMember([]byte(member)); ok {
		return sluice.LedgerEntry(score, m.ID, m.Permits, now)
	}
	return sluice.Entry{At: time.UnixMilli(ledger.Entry{Score: score}.Date()), Permits: ledger.ForeignPermits(member), Kind: sluice.KindForeign}
}

// Alter implements sluice.Engine.
func (e *Engine) Alter(ctx context.Context, key sluice.Key, fate sluice.Fate) (existed bool, err error) {
	keys := allKeys(key, sluice.Overall)
	args := []any{e.clock()}
	switch {
	case fate.Delete:
		args = append(args, "delete", 0)
	case fate.Persist:
		args = append(args, "persist", 0)
	case fate.Rename != "":
		args = append(args, "rename", 0)
		keys = append(keys, allKeys(sluice.Key{Limiter: fate.Rename, Client: key.Client}, sluice.Overall)...)
	case !fate.ExpireAt.IsZero():
		args = append(args, "at", fate.ExpireAt.UnixMilli())
	default:
		args = append(args, "in", fate.ExpireIn.Milliseconds())
	}
	r, err := e.run(ctx, scriptAlter, keys, args)
	if err != nil {
		if fate.Rename != "" && twoSlots(err) {
			return false, otherSlot(fate.Rename)
		}
		return false, err
	}
	if r.int(atCode) != codeDone {
		return false, r.refusal(scriptAlter.name, keys)
	}
	e.beliefs.doubt(key.Limiter)
	e.beliefs.doubt(fate.Rename)
	return r.int(1) == 1, nil
}

func otherSlot(name string) error {
	return &sluice.InvalidError{Field: "new name", Value: name, Want: "in the same cluster slot as the old one: give both a hash tag, such as \"{user}:a\" and \"{user}:b\""}
}
