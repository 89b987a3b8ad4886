package demo

import (
	"context"
	"errors"
	"time"

	"github.com/sluice-rate/sluice"
)

// worker is one of those who compete: a process of its own, as far as the limiter can tell.
type worker struct {
	name   string
	habit  string
	colour string // as in an escape sequence
	work   func(ctx context.Context, l *sluice.Limiter) error
}

var workers = []worker{
	{"ann", "always waits", "36", patient},
	{"ben", "never waits", "33", hasty},
	{"cas", "wants two", "35", greedy},
}

// run works until ctx ends, or until it is clear that the next turn would come too late for that.
func (w worker) run(ctx context.Context, l *sluice.Limiter) error {
	err := w.work(ctx, l)
	if errors.Is(err, sluice.ErrLimited) || errors.Is(err, context.DeadlineExceeded) {
		return nil
	}
	return err
}

// patient waits for its turn, however long that takes.
func patient(ctx context.Context, l *sluice.Limiter) error {
	for pause(ctx, 400*time.Millisecond); ; pause(ctx, 2630*time.Millisecond) {
		if err := l.Acquire(ctx, 1); err != nil {
			return err
		}
	}
}

// hasty never waits in line: refused, it does other things, and tries again when it was told to, or sooner.
func hasty(ctx context.Context, l *sluice.Limiter) error {
	for rest := 1710 * time.Millisecond; ; {
		pause(ctx, rest)
		d, err := l.TryAcquire(ctx, 1)
		if err != nil {
			return err
		}
		if rest = 1370 * time.Millisecond; !d.Allowed {
			rest = min(d.RetryAfter, 1700*time.Millisecond) + 130*time.Millisecond
		}
	}
}

// greedy asks for two at a time, is ready to wait four seconds for them, and finds that it needed only one.
func greedy(ctx context.Context, l *sluice.Limiter) error {
	for pause(ctx, 2350*time.Millisecond); ; pause(ctx, 2930*time.Millisecond) {
		d, err := l.TryAcquireFor(ctx, 2, 4*time.Second)
		if err != nil {
			return err
		}
		pause(ctx, 450*time.Millisecond)
		if !d.Allowed {
			continue
		}
		if _, _, err := l.RefundN(ctx, d.Receipt, 1); err != nil {
			return err
		}
	}
}

// pause works, or does other things, for d.
func pause(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}
