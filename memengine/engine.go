// Package memengine decides in this process: for one process without Redis, for tests, and as a stand-in while
// Redis is away. It gives the same answers as package redisengine, from the same arithmetic.
//
// It has no goroutine and nothing to close. Its memory is that of the limiters in use: what has expired is dropped while
// others are used, and one limiter holds at most 2,000 grants and its waiters.
package memengine

import (
	"context"
	"hash/maphash"
	"sync"
	"time"

	"github.com/sluice-rate/sluice"
	"github.com/sluice-rate/sluice/internal/ledger"
)

// Options are the defaults of New when nil.
type Options struct {
	// Now is the store clock, for tests. The default is the process's monotonic clock, set by the wall clock once, so
	// that a step of the wall clock does not matter.
	Now func() time.Time
}

// Engine is a sluice.Engine.
type Engine struct {
	clock  func() time.Time
	seed   maphash.Seed
	shards [64]shard
}

var _ sluice.Engine = (*Engine)(nil)

type shard struct {
	mu       sync.Mutex
	limiters map[string]*limiter
	used     map[sluice.Slot]*used // by limits that travel with the call
}

// New makes an engine with nothing in it.
func New(o *Options) *Engine {
	e := &Engine{seed: maphash.MakeSeed()}
	if o != nil && o.Now != nil {
		e.clock = o.Now
	} else {
		start := time.Now()
		e.clock = func() time.Time { return start.Add(time.Since(start)) }
	}
	return e
}

// now is the store clock in microseconds.
func (e *Engine) now() int64 { return e.clock().UnixMicro() }

func (e *Engine) shard(name string) *shard {
	return &e.shards[maphash.String(e.seed, name)%uint64(len(e.shards))]
}

// with runs f on the limiter of a name as it is now, under its lock. A limiter that f leaves empty is dropped.
func (e *Engine) with(name string, f func(l *limiter, now int64)) {
	s := e.shard(name)
	s.mu.Lock()
	defer s.mu.Unlock()
	now := e.now()
	s.sweep(now)
	l := s.limiters[name]
	if l == nil {
		l = &limiter{}
	}
	l.expire(now)
	f(l, now)
	s.put(name, l)
}

func (s *shard) put(name string, l *limiter) {
	switch {
	case l.empty():
		delete(s.limiters, name)
	case s.limiters == nil:
		s.limiters = map[string]*limiter{name: l}
	default:
		s.limiters[name] = l
	}
}

// sweep drops what has expired among a few limiters, whichever the map gives, so that in the course of
// use all are visited.
func (s *shard) sweep(now int64) {
	visits := 2
	for name, l := range s.limiters {
		if visits--; visits < 0 {
			return
		}
		if l.expire(now); l.empty() {
			delete(s.limiters, name)
		}
	}
}

// Take implements sluice.Engine. It makes no round trip and fails only when ctx has ended.
func (e *Engine) Take(ctx context.Context, takes []sluice.Take) ([]sluice.Answer, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	answers := make([]sluice.Answer, 0, len(takes))
	for len(takes) > 0 {
		n := 1
		for n < len(takes) && takes[n].Key == takes[0].Key {
			n++
		}
		e.with(takes[0].Key.Limiter, func(l *limiter, now int64) {
			answers = append(answers, l.take(now, takes[:n])...)
		})
		takes = takes[n:]
	}
	return answers, nil
}

// GiveBack implements sluice.Engine.
func (e *Engine) GiveBack(ctx context.Context, key sluice.Key, returns []sluice.Return) (freed []int64, err error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	batch := make([]ledger.Return, len(returns))
	for i, r := range returns {
		batch[i] = ledger.Return{Member: member(r.Receipt), Back: r.Permits}
	}
	freed = make([]int64, len(returns))
	e.with(key.Limiter, func(l *limiter, now int64) {
		if !l.configured {
			return
		}
		freed, _ = l.state(key.Client).GiveBack(l.rate(), now, l.belief(), batch)
		l.used(key.Client, now)
	})
	return freed, nil
}

// Look implements sluice.Engine.
func (e *Engine) Look(ctx context.Context, key sluice.Key, receipts []sluice.Receipt) ([]sluice.Sight, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	members := make([]ledger.Member, len(receipts))
	for i, r := range receipts {
		members[i] = member(r)
	}
	sights := make([]sluice.Sight, len(receipts))
	err := sluice.ErrNotInitialized
	e.with(key.Limiter, func(l *limiter, now int64) {
		if !l.configured {
			return
		}
		err = nil
		seen, _ := l.state(key.Client).Look(l.rate(), now, l.belief(), members)
		for i, s := range seen {
			wait := time.Duration(s.Wait) * time.Microsecond
			sights[i] = sluice.Sight{At: time.UnixMicro(now + s.Wait), Wait: wait, Gone: s.Gone, Settled: s.Settled}
		}
		l.used(key.Client, now)
	})
	return sights, err
}

func member(r sluice.Receipt) ledger.Member {
	return ledger.Member{ID: r.ID(), Permits: uint32(r.Permits())}
}
