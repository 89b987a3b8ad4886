package sluice

import (
	"context"
	"errors"
	"slices"
	"time"
)

const (
	// lookEvery is how often a process looks after its waiters: often enough that each look is over
	// within LookPeriod of the one before.
	lookEvery = LookPeriod * 3 / 4
	// lookAtOnce is how many waiters one round trip asks for.
	lookAtOnce = 1000
)

// keepLooking looks until ctx ends. A look that fails is made up for by the next one, or by the waiter itself when
// its turn comes.
func (ln *line) keepLooking(ctx context.Context) {
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			_ = ln.look(ctx)
		}
	}
}

// look asks where the waiters are now, and tells them: those whose turn comes first, and as many more as might have their turn
// before the next look but one. The line keeps its order, so those behind them cannot come before them.
func (ln *line) look(ctx context.Context) error {
	ln.looking.Lock()
	defer ln.looking.Unlock()
	ctx, cancel := context.WithTimeout(ctx, LookPeriod)
	defer cancel()

	for some := range slices.Chunk(ln.byDate(), lookAtOnce) {
		last, err := ln.lookAt(ctx, some)
		if err != nil || last > 2*LookPeriod {
			return err
		}
	}
	return nil
}

// lookAt is one round trip. It says how long the last of these waiters has to wait.
func (ln *line) lookAt(ctx context.Context, some []*waiter) (last time.Duration, err error) {
	receipts := make([]Receipt, len(some))
	for i, w := range some {
		receipts[i] = w.receipt
	}
	sights, err := ln.c.engine.Look(ctx, ln.key, receipts)
	now := ln.c.now()

	ln.mu.Lock()
	defer ln.mu.Unlock()
	if errors.Is(err, ErrNotInitialized) || errors.Is(err, ErrCorrupt) {
		for w := range ln.waiters {
			w.err = err
			w.wake()
		}
	}
	if err != nil {
		return 0, err
	}
	for i, w := range some {
		w.see(sights[i], now)
	}
	return sights[len(sights)-1].Wait, nil
}

// byDate is the waiters in the order of their turns.
func (ln *line) byDate() []*waiter {
	ln.mu.Lock()
	defer ln.mu.Unlock()
	all := make([]*waiter, 0, len(ln.waiters))
	for w := range ln.waiters {
		all = append(all, w)
	}
	slices.SortFunc(all, func(a, b *waiter) int { return a.date.Compare(b.date) })
	return all
}

// see takes note of what a look saw. The caller holds line.mu.
func (w *waiter) see(s Sight, now time.Time) {
	w.seen = now
	if s.Gone == w.gone && s.At.Equal(w.date) {
		return
	}
	w.gone, w.date, w.due = s.Gone, s.At, now.Add(s.Wait)
	w.wake()
}

func (w *waiter) wake() {
	select {
	case w.moved <- struct{}{}:
	default:
	}
}
