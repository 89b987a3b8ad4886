package legacy_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"time"
)

// fake is a Redis client that plays the scripts on one limiter with a window of its own, on the clock of the bubble.
type fake struct {
	trip time.Duration // how long a call takes: half of it there, half of it back

	mu       sync.Mutex
	rate     int64 // 0: there is no configuration
	interval time.Duration
	left     int64
	ends     time.Time
	asked    []int64 // how many permits each take wanted
	err      error   // what takes get instead of an answer
}

type fakeReply struct {
	value any
	err   error
}

func (r fakeReply) Result() (any, error) { return r.value, r.err }

func newFake(rate int64, interval time.Duration) *fake { return &fake{rate: rate, interval: interval} }

// EvalSha knows no script.
func (f *fake) EvalSha(context.Context, string, []string, ...any) fakeReply {
	return fakeReply{err: errors.New("NOSCRIPT No matching script")}
}

func (f *fake) Eval(ctx context.Context, script string, _ []string, args ...any) fakeReply {
	if err := f.travel(ctx); err != nil {
		return fakeReply{err: err}
	}
	value, err := f.run(script, args)
	if err := f.travel(ctx); err != nil {
		return fakeReply{err: err}
	}
	return fakeReply{value, err}
}

// travel takes half of a trip, unless ctx ends before.
func (f *fake) travel(ctx context.Context) error {
	if f.trip == 0 {
		return nil
	}
	select {
	case <-time.After(f.trip / 2):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (f *fake) run(script string, args []any) (any, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	now := time.Now()
	switch {
	case strings.Contains(script, "-- Stores what there is not yet"):
		if f.rate != 0 {
			return []any{int64(0), int64(0)}, nil
		}
		f.rate, f.interval = args[0].(int64), time.Duration(args[1].(int64))*time.Millisecond
		return []any{int64(0), int64(1)}, nil
	case strings.Contains(script, "-- Reads the configuration and"):
		left := f.rate
		if now.Before(f.ends) {
			left = f.left
		}
		return []any{int64(0), f.rate, f.interval.Milliseconds(), int64(0), left}, nil
	case strings.Contains(script, "-- Takes permits"):
		return f.take(now, args[0].(int64))
	}
	return nil, errors.New("the fake does not know this script")
}

func (f *fake) take(now time.Time, n int64) (any, error) {
	f.asked = append(f.asked, n)
	switch {
	case f.err != nil:
		return nil, f.err
	case f.rate == 0:
		return []any{int64(1)}, nil
	case n > f.rate:
		return []any{int64(2), f.rate, f.interval.Milliseconds()}, nil
	}
	if !now.Before(f.ends) {
		f.left, f.ends = f.rate, now.Add(f.interval)
	}
	granted := int64(0)
	if f.left >= n {
		f.left -= n
		granted = 1
	}
	return []any{int64(0), f.rate, f.interval.Milliseconds(), now.UnixMicro(), granted, f.left, f.ends.Sub(now).Microseconds()}, nil
}

// set changes what is stored, as another process would.
func (f *fake) set(change func(f *fake)) {
	f.mu.Lock()
	defer f.mu.Unlock()
	change(f)
}

// calls is how many takes were asked for since it was called last.
func (f *fake) calls() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	n := len(f.asked)
	f.asked = nil
	return n
}
