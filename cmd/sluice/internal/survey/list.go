package survey

import (
	"context"
	"hash/maphash"
	"strings"

	"github.com/redis/go-redis/v9"

	"github.com/sluice-rate/sluice/cmd/sluice/internal/store"
)

// Found is a limiter that a search has met.
type Found struct {
	Name   string
	Stored Stored // none where only a ledger is left
}

// Note says in a few words what is wrong with it at first sight; "" if nothing is.
func (f *Found) Note() string {
	switch {
	case f.Stored.Kind == kindNone:
		return "there is no configuration, but a ledger is left"
	case len(f.Stored.faults) > 0:
		return "the configuration " + strings.Join(f.Stored.faults, "; it ")
	}
	return ""
}

// List finds the limiters whose name matches a glob as Redis reads them ("" for all) and gives them to yield, some at a time, until
// that returns an error. A limiter is a hash with a rate, an interval and a type that make sense; where they do not, or are
// lost, it is one if it has a ledger.
//
// It goes through all names of keys of each master, a thousand at a time, and holds no more than that; only of the first quarter of a
// million limiters it remembers a number each, so that none of them comes twice.
func List(ctx context.Context, s Store, match string, yield func([]Found) error) error {
	nodes, err := s.Masters(ctx)
	if err != nil {
		return err
	}
	seen := newSeen()
	for _, node := range nodes {
		err := scan(ctx, node, match, kindHash, func(keys []string) error {
			found, err := configured(ctx, node, keys)
			if err != nil {
				return err
			}
			return seen.yield(found, yield)
		})
		if err != nil {
			return err
		}
		for i, pattern := range ledgerPatterns(match) {
			err := scan(ctx, node, pattern, kindZset, func(keys []string) error {
				found, err := bereft(ctx, node, keys, i > 0)
				if err != nil {
					return err
				}
				return seen.yield(found, yield)
			})
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// scan goes through the keys of a type on one server.
func scan(ctx context.Context, node store.Node, match, kind string, f func(keys []string) error) error {
	for cursor, more := uint64(0), true; more; more = cursor != 0 {
		keys, next, err := node.Scan(ctx, cursor, match, kind)
		if err != nil {
			return err
		}
		cursor = next
		if len(keys) > 0 {
			if err := f(keys); err != nil {
				return err
			}
		}
	}
	return nil
}

// configured are the limiters among hashes.
func configured(ctx context.Context, node store.Node, hashes []string) (found []Found, err error) {
	replies := make([]configReply, len(hashes))
	err = node.Read(ctx, false, func(p redis.Pipeliner) {
		for i, key := range hashes {
			replies[i] = configReply{kind: p.Type(ctx, key), fields: p.HMGet(ctx, key, fieldNames[:]...), ttl: p.PTTL(ctx, key)}
		}
	})
	if err != nil {
		return nil, err
	}
	var doubtful []Found
	for i, key := range hashes {
		f := Found{key, replies[i].read()}
		switch {
		case f.Stored.Complete():
			found = append(found, f)
		case f.Stored.Exists():
			doubtful = append(doubtful, f)
		}
	}
	if len(doubtful) == 0 {
		return found, nil
	}
	state := make([]*redis.IntCmd, len(doubtful))
	err = node.Read(ctx, false, func(p redis.Pipeliner) {
		for i, f := range doubtful {
			if TwoSlots(f.Name) == "" { // else its ledger may be on another server
				state[i] = p.Exists(ctx, base(f.Name)+":permits", base(f.Name)+":value")
			}
		}
	})
	for i, f := range doubtful {
		if state[i] != nil && state[i].Val() > 0 {
			found = append(found, f)
		}
	}
	return found, err
}

// bereft are the limiters of ledgers whose configuration is lost. tagged says that names which are all hash tag are found elsewhere.
func bereft(ctx context.Context, node store.Node, ledgers []string, tagged bool) (found []Found, err error) {
	type candidate struct {
		owners []string
		member *redis.StringSliceCmd
		kinds  []*redis.StatusCmd
	}
	candidates := make(map[string]*candidate) // by base: a limiter can have many ledgers
	err = node.Read(ctx, false, func(p redis.Pipeliner) {
		for _, key := range ledgers {
			base, _, ok := ledgerOf(key)
			names := owners(base)
			if !ok || len(names) == 0 || tagged && len(names) == 2 || candidates[base] != nil || TwoSlots(names[0]) != "" {
				continue
			}
			c := &candidate{owners: names, member: p.ZRange(ctx, key, 0, 0)}
			for _, name := range names {
				c.kinds = append(c.kinds, p.Type(ctx, name))
			}
			candidates[base] = c
		}
	})
	if err != nil {
		return nil, err
	}
	for _, c := range candidates {
		orphan := len(c.member.Val()) == 1 && formatOf(c.member.Val()[0]) != Unknown
		for _, kind := range c.kinds {
			orphan = orphan && kind.Val() == kindNone
		}
		if orphan {
			found = append(found, Found{c.owners[0], Stored{Kind: kindNone}})
		}
	}
	return found, nil
}

// ledgerPatterns are the globs that find the ledgers of limiters whose name matches one; the second finds only those whose name has a brace.
func ledgerPatterns(match string) []string {
	if match == "" || match == "*" {
		return []string{"*:permits*"}
	}
	return []string{"{" + match + "}:permits*", match + ":permits*"}
}

// seen remembers which limiters have been found.
type seen struct {
	seed maphash.Seed
	of   map[uint64]struct{}
}

// mostSeen is how many limiters are remembered.
const mostSeen = 1 << 18

func newSeen() *seen { return &seen{maphash.MakeSeed(), make(map[uint64]struct{})} }

// yield passes on what has not been found before.
func (s *seen) yield(found []Found, yield func([]Found) error) error {
	fresh := found[:0]
	for _, f := range found {
		h := maphash.String(s.seed, f.Name)
		if _, known := s.of[h]; known {
			continue
		}
		if len(s.of) < mostSeen {
			s.of[h] = struct{}{}
		}
		fresh = append(fresh, f)
	}
	if len(fresh) == 0 {
		return nil
	}
	return yield(fresh)
}
