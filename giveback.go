package sluice

import (
	"context"
	"sync"
	"time"
)

const (
	giveBackTimeout = 2 * time.Second // a clean-up has a deadline of its own: the caller's has passed
	giveBackAtOnce  = 50              // returns in one round trip
)

// returns gathers what callers who leave give back: while one trip is under way, those who come meanwhile wait for it
// and share the next. So ten thousand callers who are cancelled at once make forty trips.
type returns struct {
	mu      sync.Mutex
	busy    bool
	pending []pendingReturn
}

type pendingReturn struct {
	receipt Receipt
	done    chan error // with room for one
}

// giveBack gives a grant back on behalf of a caller whose context may have ended, and waits until that is done.
func (c *Client) giveBack(ctx context.Context, b budget, receipt Receipt) error {
	ln := c.hold(b)
	defer ln.drop()
	return ln.giveBack(ctx, receipt)
}

func (ln *line) giveBack(ctx context.Context, receipt Receipt) error {
	mine := pendingReturn{receipt, make(chan error, 1)}
	if ln.returns.add(mine) {
		ln.giveBackAll(context.WithoutCancel(ctx))
	}
	return <-mine.done
}

// add puts a return into the queue and reports whether the caller has to make the trips.
func (r *returns) add(p pendingReturn) (lead bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.pending = append(r.pending, p)
	lead = !r.busy
	r.busy = true
	return lead
}

// giveBackAll makes trips until nothing is left to give back.
func (ln *line) giveBackAll(ctx context.Context) {
	r := &ln.returns
	for {
		r.mu.Lock()
		some := r.pending[:min(len(r.pending), giveBackAtOnce)]
		r.pending = r.pending[len(some):]
		r.busy = len(some) > 0
		r.mu.Unlock()
		if len(some) == 0 {
			return
		}
		batch := make([]Return, len(some))
		for i, p := range some {
			batch[i] = Return{Receipt: p.receipt, Permits: p.receipt.Permits()}
		}
		trip, cancel := context.WithTimeout(ctx, giveBackTimeout)
		_, err := ln.budget.giveBack(trip, ln.c.engine, batch)
		cancel()
		for _, p := range some {
			p.done <- err
		}
	}
}
