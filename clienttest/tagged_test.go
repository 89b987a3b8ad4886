package clienttest

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/sluice-rate/sluice"
	"github.com/sluice-rate/sluice/internal/redistest"
)

// tag is what the names of the suite get before them on a cluster, where some of its tests rename limiters: so all of
// its keys lie in one slot.
const tag = "{suite}"

// tagged is an engine that calls a limiter by its name with the tag.
type tagged struct {
	sluice.Engine
}

func withTag(k sluice.Key) sluice.Key { return sluice.Key{Limiter: tag + k.Limiter, Client: k.Client} }

func (e tagged) Take(ctx context.Context, takes []sluice.Take) ([]sluice.Answer, error) {
	named := make([]sluice.Take, len(takes))
	for i, t := range takes {
		t.Key = withTag(t.Key)
		named[i] = t
	}
	answers, err := e.Engine.Take(ctx, named)
	for i, a := range answers {
		answers[i].Err = errWithoutTag(a.Err)
	}
	return answers, errWithoutTag(err)
}

func (e tagged) GiveBack(ctx context.Context, k sluice.Key, returns []sluice.Return) ([]int64, error) {
	freed, err := e.Engine.GiveBack(ctx, withTag(k), returns)
	return freed, errWithoutTag(err)
}

func (e tagged) Look(ctx context.Context, k sluice.Key, receipts []sluice.Receipt) ([]sluice.Sight, error) {
	sights, err := e.Engine.Look(ctx, withTag(k), receipts)
	return sights, errWithoutTag(err)
}

func (e tagged) Configure(ctx context.Context, k sluice.Key, how sluice.Change, c sluice.Config) (bool, error) {
	done, err := e.Engine.Configure(ctx, withTag(k), how, c)
	return done, errWithoutTag(err)
}

func (e tagged) Inspect(ctx context.Context, k sluice.Key, page sluice.Page) (sluice.Snapshot, error) {
	snapshot, err := e.Engine.Inspect(ctx, withTag(k), page)
	return snapshot, errWithoutTag(err)
}

func (e tagged) Alter(ctx context.Context, k sluice.Key, fate sluice.Fate) (bool, error) {
	if fate.Rename != "" {
		fate.Rename = tag + fate.Rename
	}
	existed, err := e.Engine.Alter(ctx, withTag(k), fate)
	return existed, errWithoutTag(err)
}

// errWithoutTag is an error by the names that the suite knows.
func errWithoutTag(err error) error {
	if e, ok := errors.AsType[*sluice.ExceedsRateError](err); ok {
		return &sluice.ExceedsRateError{Limiter: nameWithoutTag(e.Limiter), Permits: e.Permits, Rate: e.Rate}
	}
	if e, ok := errors.AsType[*sluice.CorruptError](err); ok {
		return &sluice.CorruptError{Key: nameWithoutTag(e.Key), Problem: e.Problem}
	}
	return err
}

// taggedKeys is the node that has the tag, where the suite finds its keys by the names that it knows. The keys of inline limits, which
// have hash tags of their own, are on all nodes; what is written there does not
// count, since a call in several slots is granted in the first and undone when the next refuses.
type taggedKeys struct {
	*redistest.Conn
	nodes []*redistest.Conn
}

const inlinePrefix = "sl:"

func (s *store) tagged(tb testing.TB) taggedKeys {
	tb.Helper()
	for _, node := range s.nodes {
		if _, err := node.Do(tb.Context(), "GET", tag); err == nil {
			return taggedKeys{node, s.nodes}
		}
	}
	tb.Fatalf("no node has the slot of %s", tag)
	return taggedKeys{}
}

// Do runs a command. Its key comes first among its arguments, but for KEYS, which has none and answers with names.
func (k taggedKeys) Do(ctx context.Context, args ...any) (any, error) {
	if args[0] == "KEYS" {
		var all []any
		for _, node := range k.nodes {
			reply, err := node.Do(ctx, args...)
			if err != nil {
				return nil, err
			}
			names, _ := reply.([]any)
			for _, name := range names {
				all = append(all, nameWithoutTag(name.(string)))
			}
		}
		return all, nil
	}
	if len(args) > 1 {
		name, ok := args[1].(string)
		if ok && strings.HasPrefix(name, inlinePrefix) {
			return k.wherever(ctx, args)
		}
		if ok {
			args = slices.Clone(args)
			args[1] = tag + strings.NewReplacer("{", "", "}", "").Replace(name) // {x}:value has them as x has no tag of its own
		}
	}
	return k.Conn.Do(ctx, args...)
}

// wherever runs a command on the node that has its key.
func (k taggedKeys) wherever(ctx context.Context, args []any) (reply any, err error) {
	for _, node := range k.nodes {
		if reply, err = node.Do(ctx, args...); err == nil || !strings.HasPrefix(err.Error(), "MOVED") {
			break
		}
	}
	return reply, err
}

// nameWithoutTag is what the key would be called if the name of its limiter had no tag.
func nameWithoutTag(key string) string {
	name, tagged := strings.CutPrefix(key, tag)
	if base, suffix, state := strings.Cut(name, ":"); tagged && state {
		return "{" + base + "}:" + suffix
	}
	return name
}
