package sluice

import (
	"context"
	"errors"
	"sync"
	"time"
)

// budget is what a line's callers wait for: a named limiter (a Key), or a set of charges (a bill).
type budget interface {
	line() lineID
	look(ctx context.Context, e Engine, receipts []Receipt) ([]Sight, error)
	giveBack(ctx context.Context, e Engine, returns []Return) ([]int64, error)
}

// lineID tells lines apart.
type lineID struct {
	limiter Key
	bill    string
}

func (k Key) line() lineID { return lineID{limiter: k} }

func (k Key) look(ctx context.Context, e Engine, receipts []Receipt) ([]Sight, error) {
	return e.Look(ctx, k, receipts)
}

func (k Key) giveBack(ctx context.Context, e Engine, returns []Return) ([]int64, error) {
	return e.GiveBack(ctx, k, returns)
}

// line is the callers in this process who wait for the dates of their reservations in one budget.
type line struct {
	c      *Client
	budget budget

	holders int // callers that use the line; guarded by Client.mu

	mu      sync.Mutex
	waiters map[*waiter]struct{}
	stop    context.CancelFunc // ends the goroutine that looks; nil when there is none
	looking sync.Mutex         // held for the length of a look: one at a time
	// lookedTo is the date up to which the last look has gone along the line; news says that those in front have moved
	// since it began there; following, that it began there again because of that. Guarded by looking.
	lookedTo        time.Time
	news, following bool
	returns         returns
	doubts          doubts
}

// waiter is one caller in the line. Its fields are guarded by line.mu.
type waiter struct {
	receipt Receipt
	date    time.Time // by the store's clock
	due     time.Time // the same moment by ours, never earlier
	seen    time.Time // when the store last confirmed the date, or before; zero: a look has failed, and may have moved it
	asked   bool      // a look is under way, which may move it: not to go before the answer
	held    bool      // its turn has come, and it waits for that answer
	gone    bool
	err     error
	moved   chan struct{} // holds a token when any of these has changed
}

// hold gives the line of a budget, made if there is none; whoever holds it has to drop it.
func (c *Client) hold(b budget) *line {
	id := b.line()
	c.mu.Lock()
	defer c.mu.Unlock()
	ln := c.lines[id]
	if ln == nil {
		ln = &line{c: c, budget: b, waiters: make(map[*waiter]struct{})}
		c.lines[id] = ln
	}
	ln.holders++
	return ln
}

func (ln *line) drop() {
	ln.c.mu.Lock()
	defer ln.c.mu.Unlock()
	if ln.holders--; ln.holders == 0 {
		delete(ln.c.lines, ln.budget.line())
	}
}

// wait sleeps until the date of a reservation that was asked for at a moment. It reports gone when that is no longer in the ledger, and gives a refusal
// when its date has moved to after the limit. Then, and when ctx ends first, the permits have been given back.
func (c *Client) wait(ctx context.Context, b budget, d Decision, asked, limit time.Time) (_ Decision, gone bool, err error) {
	ln := c.hold(b)
	defer ln.drop()
	w := &waiter{receipt: d.Receipt, date: d.Date, due: c.now().Add(d.Wait), seen: asked, moved: make(chan struct{}, 1)}
	ln.enter(w)
	defer ln.leave(w)

	timer := time.NewTimer(d.Wait)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return Decision{}, false, errors.Join(context.Cause(ctx), ln.giveBack(ctx, w.receipt))
		case <-timer.C:
		case <-w.moved:
		}
		now := c.now()
		is := ln.now(w, now)
		switch {
		case is.gone:
			return Decision{}, true, nil
		case is.err != nil:
			return Decision{}, false, is.err // there is no ledger to give anything back to
		case is.date.After(d.Date) && is.due.After(limit): // it could be afforded, but was moved back
			err := ln.giveBack(ctx, w.receipt)
			d.Allowed, d.Wait, d.Date, d.RetryAfter, d.Receipt = false, 0, time.Time{}, is.due.Sub(now), Receipt{}
			return d, false, err
		case is.due.After(now):
			timer.Reset(is.due.Sub(now))
		case is.held:
		case is.due.Sub(is.seen) > LookPeriod:
			// Looks have failed, and the date was last confirmed longer ago than it is a promise: it may have moved.
			if err := ln.look(ctx); err != nil {
				return Decision{}, false, errors.Join(err, ln.giveBack(ctx, w.receipt))
			}
			timer.Reset(0)
		default:
			d.Date = is.date
			return d, false, nil
		}
	}
}

// now is a copy of w as it is now. If its turn has come while a look is under way, it is held until that is over.
func (ln *line) now(w *waiter, now time.Time) waiter {
	ln.mu.Lock()
	defer ln.mu.Unlock()
	w.held = w.asked && !w.due.After(now)
	return *w
}

// enter puts w into the line and sees to it that somebody looks if it waits for longer than a moment.
func (ln *line) enter(w *waiter) {
	ln.mu.Lock()
	defer ln.mu.Unlock()
	ln.waiters[w] = struct{}{}
	if ln.stop == nil && w.due.Sub(w.seen) > lookEvery {
		ctx, stop := context.WithCancel(context.Background())
		ln.stop = stop
		go ln.keepLooking(ctx) // until the last waiter leaves
	}
}

// leave takes w out. The last one ends the goroutine that looks.
func (ln *line) leave(w *waiter) {
	ln.mu.Lock()
	defer ln.mu.Unlock()
	delete(ln.waiters, w)
	if len(ln.waiters) == 0 && ln.stop != nil {
		ln.stop()
		ln.stop = nil
	}
}
