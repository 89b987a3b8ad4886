package sluice

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// What can go wrong, for errors.Is. Being refused by TryAcquire is not among them: that is a Decision.
var (
	// ErrLimited: a call that promised to wait did not get its permits. Always a *LimitedError.
	ErrLimited = errors.New("rate limited")
	// ErrNotInitialized: the limiter has no rate. TrySetRate gives it one.
	ErrNotInitialized = errors.New("limiter has no rate; give it one with TrySetRate")
	// ErrExceedsRate: more permits than the rate; no amount of waiting can help. Always an *ExceedsRateError.
	ErrExceedsRate = errors.New("more permits than the rate allows at once")
	// ErrInvalid: an argument that can never be right. Nothing was sent to the store. Always an *InvalidError.
	ErrInvalid = errors.New("invalid argument")
	// ErrCorrupt: a stored key holds something that no limiter wrote. Always a *CorruptError.
	ErrCorrupt = errors.New("stored state is not a limiter's")
	// ErrStoreUnavailable: the store did not answer, or not with sense. Whether a take ran is then unknown; a
	// repeat of the same receipt is charged once.
	ErrStoreUnavailable = errors.New("store unavailable")
)

// LimitedError is what Acquire returns when the wait cannot be afforded. It matches ErrLimited, and
// context.DeadlineExceeded when it was the context's deadline that could not be kept.
type LimitedError struct {
	Limiter    string
	Permits    int64
	RetryAfter time.Duration // how long the permits would have had to be waited for
	deadline   bool
}

func (e *LimitedError) Error() string {
	if e.deadline {
		return fmt.Sprintf("sluice: limiter %q: %d permits are %v away, later than the context's deadline", e.Limiter, e.Permits, e.RetryAfter)
	}
	return fmt.Sprintf("sluice: limiter %q: %d permits are %v away", e.Limiter, e.Permits, e.RetryAfter)
}

// Unwrap makes errors.Is work.
func (e *LimitedError) Unwrap() []error {
	if e.deadline {
		return []error{ErrLimited, context.DeadlineExceeded}
	}
	return []error{ErrLimited}
}

// ExceedsRateError says by how much a call asked too much. It matches ErrExceedsRate.
type ExceedsRateError struct {
	Limiter string // or the key, of an inline limit
	Permits int64
	Rate    Rate
	Most    int64 // how many can be had at once: the rate's, or a TokenBucket's burst
}

// ExceedsLimit is the error for a charge of more permits than its limit ever gives at once. It is meant for engines.
func ExceedsLimit(c Charge) error {
	return &ExceedsRateError{Limiter: c.key, Permits: c.permits, Rate: c.limit.Rate, Most: c.limit.Most()}
}

func (e *ExceedsRateError) Error() string {
	most := e.Rate.Permits
	if e.Most != 0 {
		most = e.Most
	}
	return fmt.Sprintf("%d permits at once can never be had under a rate of %v; ask for at most %d", e.Permits, e.Rate, most)
}

// Unwrap makes errors.Is work.
func (e *ExceedsRateError) Unwrap() error { return ErrExceedsRate }

// InvalidError names an argument that can never be right. It matches ErrInvalid. Several of them
// come as one error (errors.Join); errors.As finds the first.
type InvalidError struct {
	Field string // what: "permits", "rate.interval", "name", …
	Value any    // what it was
	Want  string // what it has to be
}

func (e *InvalidError) Error() string {
	if s, ok := e.Value.(string); ok {
		return fmt.Sprintf("sluice: %s is %q, but must be %s", e.Field, s, e.Want)
	}
	return fmt.Sprintf("sluice: %s is %v, but must be %s", e.Field, e.Value, e.Want)
}

// Unwrap makes errors.Is work.
func (e *InvalidError) Unwrap() error { return ErrInvalid }

// CorruptError names a key of the store and what is wrong with it. It matches ErrCorrupt. Nothing was
// changed. SetRate mends a configuration whose fields are wrong; a key of another type has to be looked at by hand.
type CorruptError struct {
	Key     string
	Problem string
}

func (e *CorruptError) Error() string {
	return fmt.Sprintf("key %q of the store %s", e.Key, e.Problem)
}

// Unwrap makes errors.Is work.
func (e *CorruptError) Unwrap() error { return ErrCorrupt }

// problems gathers what is wrong with an input, so that all of it is said at once.
type problems []error

func (p *problems) add(field string, value any, want string) {
	*p = append(*p, &InvalidError{field, value, want})
}

func (p *problems) join(err error) {
	if err != nil {
		*p = append(*p, err)
	}
}

func (p *problems) duration(field string, d, least time.Duration) {
	switch {
	case d < least:
		p.add(field, d, fmt.Sprintf("at least %v", least))
	case d > MaxInterval:
		p.add(field, d, fmt.Sprintf("at most %v (100 years)", MaxInterval))
	case d%time.Millisecond != 0:
		p.add(field, d, "a whole number of milliseconds")
	}
}

func (p problems) err() error {
	if len(p) == 1 {
		return p[0]
	}
	return errors.Join(p...)
}
