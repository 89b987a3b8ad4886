package sluice

import (
	"context"
	"slices"
	"sync"
	"time"
)

const (
	// doubtPause is when a take that was not found is looked for again: it may have been under way still.
	doubtPause = time.Second
	// doubtsAtMost bounds the memory while the store does not answer. What is not given back returns after the interval.
	doubtsAtMost = 100_000
)

// doubts is the takes of a limiter whose callers left before the answer came, so that it is not known whether they ran.
// They are given back, behind the callers' backs: the store may well be hung.
type doubts struct {
	mu      sync.Mutex
	busy    bool // a goroutine sees to them
	pending []doubt
}

type doubt struct {
	receipt Receipt
	due     time.Time
	again   bool // it was not found once
}

// giveBackLater gives back what may or may not have been taken. The goroutine ends when nothing is in doubt any
// more, two seconds after the last at most when the store answers; there is one a limiter.
func (c *Client) giveBackLater(ctx context.Context, b budget, receipt Receipt) {
	ln := c.hold(b)
	d := &ln.doubts
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(d.pending) < doubtsAtMost {
		d.pending = append(d.pending, doubt{receipt: receipt, due: c.now()})
	}
	if d.busy {
		ln.drop()
		return
	}
	d.busy = true
	go func() {
		defer ln.drop()
		ln.settleDoubts(context.WithoutCancel(ctx))
	}()
}

func (ln *line) settleDoubts(ctx context.Context) {
	d := &ln.doubts
	for {
		some := d.next()
		if len(some) == 0 {
			return
		}
		time.Sleep(some[0].due.Sub(ln.c.now()))

		returns := make([]Return, len(some))
		for i, s := range some {
			returns[i] = Return{Receipt: s.receipt, Permits: s.receipt.Permits()}
		}
		trip, cancel := context.WithTimeout(ctx, giveBackTimeout)
		freed, err := ln.budget.giveBack(trip, ln.c.engine, returns)
		cancel()

		d.mu.Lock()
		for i, s := range some {
			if !s.again && (err != nil || freed[i] == 0) {
				d.pending = append(d.pending, doubt{s.receipt, ln.c.now().Add(doubtPause), true})
			}
		}
		d.mu.Unlock()
	}
}

// next takes those that are due next, about together, out of the queue.
func (d *doubts) next() []doubt {
	d.mu.Lock()
	defer d.mu.Unlock()
	n := 0
	for n < len(d.pending) && n < giveBackAtOnce && d.pending[n].due.Sub(d.pending[0].due) < doubtPause/10 {
		n++
	}
	some := slices.Clone(d.pending[:n])
	d.pending = d.pending[n:]
	d.busy = n > 0
	return some
}
