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
	lookAtOnce = 250
	// lookFurther is how many more round trips of a look go along the line, from where the look before has ended.
	lookFurther = 8
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

// look asks where the waiters are now, and tells them: all that might have their turn before the next look but one, and of the
// others some, so that in the course of a few looks the whole line moves up. The line keeps its order, so those behind
// cannot come before those in front.
func (ln *line) look(ctx context.Context) error {
	ln.looking.Lock()
	defer ln.looking.Unlock()
	ctx, cancel := context.WithTimeout(ctx, LookPeriod)
	defer cancel()

	all := ln.byDate()
	for len(all) > 0 {
		some := all[:min(len(all), lookAtOnce)]
		all = all[len(some):]
		sights, moved, err := ln.lookAt(ctx, some)
		if err != nil {
			return err
		}
		ln.news = ln.news || moved
		if sights[len(sights)-1].Wait > 2*LookPeriod {
			break
		}
	}
	// Those behind can follow those in front who have moved. Every other look goes on all the same, so that it gets to the end
	// of a line whose front moves all the time.
	if ln.following = ln.news && !ln.following; ln.following {
		ln.lookedTo, ln.news = time.Time{}, false
	}
	return ln.lookOn(ctx, all)
}

// lookOn goes on along the line where the look before has ended, and from the front when that was the end.
func (ln *line) lookOn(ctx context.Context, far []*waiter) error {
	at, _ := slices.BinarySearchFunc(far, ln.lookedTo, func(w *waiter, date time.Time) int { return w.date.Compare(date) })
	if at == len(far) {
		at = 0
	}
	far = far[at:]
	for trips := 0; trips < lookFurther && len(far) > 0; trips++ {
		some := far[:min(len(far), lookAtOnce)]
		sights, _, err := ln.lookAt(ctx, some)
		if err != nil {
			return err
		}
		done := 0
		for done < len(sights) && sights[done].Settled {
			done++
		}
		far = far[max(1, done):] // at least one, so that the look comes round
	}
	if len(far) > 0 {
		ln.lookedTo = far[0].date
	} else {
		ln.lookedTo = time.Time{}
	}
	return nil
}

// lookAt is one round trip for some waiters, in the order of the line. It says whether any of them has moved.
func (ln *line) lookAt(ctx context.Context, some []*waiter) (sights []Sight, moved bool, err error) {
	receipts := ln.ask(some)
	asked := ln.c.now()
	sights, err = ln.budget.look(ctx, ln.c.engine, receipts)
	now := ln.c.now()

	ln.mu.Lock()
	defer ln.mu.Unlock()
	if errors.Is(err, ErrNotInitialized) || errors.Is(err, ErrCorrupt) {
		for w := range ln.waiters {
			w.err = err
			w.wake()
		}
	}
	for i, w := range some {
		if err != nil {
			w.lookFailed()
		} else {
			moved = w.see(sights[i], asked, now) || moved
		}
	}
	return sights, moved, err
}

// ask notes that a look for these waiters is under way.
func (ln *line) ask(some []*waiter) []Receipt {
	ln.mu.Lock()
	defer ln.mu.Unlock()
	receipts := make([]Receipt, len(some))
	for i, w := range some {
		receipts[i] = w.receipt
		w.asked = true
	}
	return receipts
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

// see takes note of what a look saw that was asked for at a moment, and says whether it was news. The caller holds line.mu.
func (w *waiter) see(s Sight, asked, now time.Time) bool {
	w.seen, w.asked = asked, false
	news := s.Gone != w.gone || !s.At.Equal(w.date)
	if news {
		w.gone, w.date, w.due = s.Gone, s.At, now.Add(s.Wait)
	}
	if news || w.held {
		w.wake()
	}
	return news
}

// lookFailed: it is not known whether the look has moved the date. The caller holds line.mu.
func (w *waiter) lookFailed() {
	w.seen, w.asked = time.Time{}, false
	if w.held {
		w.wake()
	}
}

func (w *waiter) wake() {
	select {
	case w.moved <- struct{}{}:
	default:
	}
}
