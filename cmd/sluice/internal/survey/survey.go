// Package survey reads limiters as they lie in Redis, whoever wrote them, and says what is wrong with their keys. It sees what the
// library puts right or does not ask for: a key that is lost, a value that disagrees with its ledger, the ledgers of other clients, the
// formats of old versions of Redisson. It writes nothing, and it decides nothing about permits.
package survey

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/sluice-rate/sluice"
	"github.com/sluice-rate/sluice/cmd/sluice/internal/store"
)

// Store is where the keys are; *store.Store is one.
type Store interface {
	Masters(ctx context.Context) ([]store.Node, error)
	MasterOf(ctx context.Context, key string) (store.Node, error)
}

// Limiter is all that is stored under a limiter's name.
type Limiter struct {
	Name    string
	At      time.Time // the moment by the store's clock
	Stored  Stored
	Pairs   []Pair // of an overall limiter one, else one for each client, by ID; without a configuration, all that is left
	Sibling bool   // the limiter whose name differs by the braces only, and which has the same keys, has a configuration too

	shallow bool // the ledgers have not been read
}

// Left reports whether anything of a limiter is there, with a configuration or without.
func (l *Limiter) Left() bool {
	return l.Stored.Exists() || slices.ContainsFunc(l.Pairs, func(p Pair) bool { return p.ValueKind != kindNone || p.LedgerKind != kindNone })
}

// Stranger says what kind of key has the limiter's name if that is not a limiter's, such as "a list"; "" otherwise.
func (l *Limiter) Stranger() string {
	switch s := &l.Stored; {
	case s.Kind == kindNone || s.Complete():
	case s.Kind != kindHash:
		return "a " + s.Kind
	case !s.Exists():
		return "a hash without a rate"
	case len(l.Pairs) == 0 && len(s.faults) > 1: // somebody else's fields, unless a ledger says otherwise
		return "a hash that " + strings.Join(s.faults, " and ")
	}
	return ""
}

// Read reads what is stored under a name. Configuration, value and ledger are of one moment, unless the ledger is longer than this
// library's ever are: then it is read in pages, and what has changed meanwhile is not held against it. For the clients of a
// limiter that has them, or has lost its configuration, it goes through all names of keys on the server, a thousand at a time.
func Read(ctx context.Context, s Store, name string) (*Limiter, error) {
	return (&Limiter{Name: name}).all(ctx, s)
}

// Find is Read without what is in the ledgers.
func Find(ctx context.Context, s Store, name string) (*Limiter, error) {
	return (&Limiter{Name: name, shallow: true}).all(ctx, s)
}

func (l *Limiter) all(ctx context.Context, s Store) (*Limiter, error) {
	name := l.Name
	node, err := s.MasterOf(ctx, name)
	if err != nil {
		return nil, err
	}
	overall := newPair(name, "")
	if err := l.read(ctx, s, node, []*Pair{&overall}); err != nil {
		return nil, err
	}
	if l.Stored.valid() && l.Stored.Config.Mode == sluice.Overall {
		l.Pairs = []Pair{overall}
		return l, nil
	}
	if !l.Stored.valid() && overall.there() {
		l.Pairs = []Pair{overall}
	}
	ids, err := Clients(ctx, s, name)
	if err != nil {
		return nil, err
	}
	for some := range slices.Chunk(ids, clientBatch) {
		batch := make([]*Pair, len(some))
		for i, id := range some {
			p := newPair(name, id)
			batch[i] = &p
		}
		if err := l.read(ctx, s, node, batch); err != nil {
			return nil, err
		}
		for _, p := range batch {
			if p.there() {
				l.Pairs = append(l.Pairs, *p)
			}
		}
	}
	return l, nil
}

// clientBatch is how many clients' ledgers are read in one trip.
const clientBatch = 16

// read reads the configuration and these pairs, in one step where they are on one server.
func (l *Limiter) read(ctx context.Context, s Store, node store.Node, pairs []*Pair) error {
	split := TwoSlots(l.Name) != ""
	var clock *redis.TimeCmd
	var config configReply
	var replies []pairReply
	readPairs := func(p redis.Pipeliner) {
		for _, pair := range pairs {
			replies = append(replies, pair.ask(p, l.shallow))
		}
	}
	err := node.Read(ctx, !split, func(p redis.Pipeliner) {
		clock = p.Time(ctx)
		config = askConfig(ctx, p, l.Name)
		if !split {
			readPairs(p)
		}
	})
	if err == nil && split {
		if node, err = s.MasterOf(ctx, pairs[0].LedgerKey); err == nil {
			err = node.Read(ctx, true, readPairs)
		}
	}
	if err != nil {
		return err
	}
	l.At, l.Stored, l.Sibling = clock.Val(), config.read(), config.sibling != nil && config.sibling.Val()
	for i, pair := range pairs {
		if err := pair.read(ctx, node, l, replies[i]); err != nil {
			return fmt.Errorf("ledger %s: %w", pair.LedgerKey, err)
		}
	}
	return nil
}
