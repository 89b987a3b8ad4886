package replay

import (
	"context"
	"time"

	"github.com/sluice-rate/sluice"
	"github.com/sluice-rate/sluice/memengine"
)

// limiter is the library's limiter in this process, by a clock that the log drives.
type limiter struct {
	client *sluice.Client
	limit  sluice.Limit
	now    time.Time
}

var _ decider = (*limiter)(nil)

// newLimiter makes a limiter, or says what is wrong with the limit.
func newLimiter(ctx context.Context, limit sluice.Limit) (*limiter, error) {
	l := &limiter{limit: limit, now: time.Unix(0, 0)}
	l.client = sluice.New(memengine.New(&memengine.Options{Now: func() time.Time { return l.now }}))
	_, err := l.client.Peek(ctx, limit.Charge("any"))
	return l, err
}

func (l *limiter) decide(ctx context.Context, key string, at time.Time) (allowed bool, retryAfter time.Duration, err error) {
	l.now = at
	out, err := l.client.Take(ctx, l.limit.Charge(key))
	return out.Allowed, out.RetryAfter, err
}
