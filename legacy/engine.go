package legacy

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/sluice-rate/sluice"
)

// Reply is what a client's Eval returns: go-redis' *redis.Cmd, rueidiscompat's *Cmd.
type Reply interface {
	Result() (any, error)
}

// Redis is any Redis client that can run scripts: go-redis' *redis.Client, *redis.ClusterClient and
// redis.UniversalClient, and rueidis' rueidiscompat.Cmdable, as they are.
type Redis[R Reply] interface {
	Eval(ctx context.Context, script string, keys []string, args ...any) R
	EvalSha(ctx context.Context, sha1 string, keys []string, args ...any) R
}

// engine decides in the old format, behind a sluice.Client that checks names and arguments and words the errors.
type engine struct {
	sluice.Engine // nil: what this format does not have, nothing in this package calls
	eval          func(ctx context.Context, script string, keys []string, args []any) (any, error)
	evalSha       func(ctx context.Context, sha1 string, keys []string, args []any) (any, error)
}

func newEngine[R Reply](c Redis[R]) *engine {
	return &engine{
		eval: func(ctx context.Context, script string, keys []string, args []any) (any, error) {
			return c.Eval(ctx, script, keys, args...).Result()
		},
		evalSha: func(ctx context.Context, sha1 string, keys []string, args []any) (any, error) {
			return c.EvalSha(ctx, sha1, keys, args...).Result()
		},
	}
}

// run makes one round trip, two when the server does not know the script yet. The error is the refusal, if the reply is one, but for
// codeExceeds.
func (e *engine) run(ctx context.Context, s *script, key sluice.Key, args ...any) (reply, error) {
	if err := ctx.Err(); err != nil { // not every client looks
		return nil, err
	}
	keys := keys(key)
	r, err := e.evalSha(ctx, s.sha1, keys, args)
	if err != nil && strings.HasPrefix(err.Error(), "NOSCRIPT") {
		r, err = e.eval(ctx, s.text, keys, args)
	}
	if err != nil {
		return nil, fmt.Errorf("legacy: %s: %w: %w", s.name, sluice.ErrStoreUnavailable, err)
	}
	list, ok := r.([]any)
	if !ok || len(list) == 0 {
		return nil, fmt.Errorf("legacy: %s: %w: the reply is %v, not a list", s.name, sluice.ErrStoreUnavailable, r)
	}
	return list, reply(list).refusal(keys)
}

// Take decides takes. None of them waits: callers who do ask again, see line.go.
func (e *engine) Take(ctx context.Context, takes []sluice.Take) ([]sluice.Answer, error) {
	answers := make([]sluice.Answer, len(takes))
	for i, t := range takes {
		n := t.Receipt.Permits()
		r, err := e.run(ctx, scriptAcquire, t.Key, n)
		switch {
		case err != nil:
			return nil, err
		case r.int(atCode) == codeExceeds:
			answers[i].Err = &sluice.ExceedsRateError{Limiter: t.Key.Limiter, Permits: n, Rate: r.limit()}
		default:
			answers[i].Decision = r.decision(n)
		}
	}
	return answers, nil
}

// GiveBack is called for a take whose caller left before the answer came. This format cannot tell whether it ran; to say that it is
// done with ends the matter.
func (e *engine) GiveBack(_ context.Context, _ sluice.Key, returns []sluice.Return) ([]int64, error) {
	freed := make([]int64, len(returns))
	for i, r := range returns {
		freed[i] = r.Permits
	}
	return freed, nil
}

// Configure is called for TrySetRate only.
func (e *engine) Configure(ctx context.Context, key sluice.Key, _ sluice.Change, c sluice.Config) (bool, error) {
	if c.KeepAlive != 0 {
		return false, &sluice.InvalidError{Field: "keep-alive", Value: c.KeepAlive, Want: "0: Redisson up to 3.13.2 has none"}
	}
	r, err := e.run(ctx, scriptConfigure, key, c.Rate.Permits, c.Rate.Interval.Milliseconds(), int(c.Mode))
	if err != nil {
		return false, err
	}
	return r.int(1) == 1, nil
}

// Inspect reads configuration and window.
func (e *engine) Inspect(ctx context.Context, key sluice.Key, _ sluice.Page) (sluice.Snapshot, error) {
	return e.inspect(ctx, key, "window")
}

// Alter is called for Delete only.
func (e *engine) Alter(ctx context.Context, key sluice.Key, _ sluice.Fate) (existed bool, err error) {
	r, err := e.run(ctx, scriptDelete, key)
	if err != nil {
		return false, err
	}
	return r.int(1) > 0, nil
}

// configReader is an engine whose reads see the configuration alone, so that it can be told whatever else is wrong.
type configReader struct{ *engine }

// Inspect reads the configuration.
func (e configReader) Inspect(ctx context.Context, key sluice.Key, _ sluice.Page) (sluice.Snapshot, error) {
	return e.inspect(ctx, key, "config")
}

func (e *engine) inspect(ctx context.Context, key sluice.Key, what string) (sluice.Snapshot, error) {
	r, err := e.run(ctx, scriptInspect, key, what)
	if errors.Is(err, sluice.ErrNotInitialized) {
		return sluice.Snapshot{}, nil
	}
	if err != nil {
		return sluice.Snapshot{}, err
	}
	return sluice.Snapshot{
		Exists:    true,
		Config:    sluice.Config{Rate: r.limit(), Mode: sluice.Mode(r.int(headFields))},
		Available: r.int(headFields + 1),
	}, nil
}

// decision is what scriptAcquire says of a take of n permits.
func (r reply) decision(n int64) sluice.Decision {
	d := sluice.Decision{
		Allowed:    r.int(headFields+1) == 1,
		Permits:    n,
		Remaining:  r.int(headFields + 2),
		ResetAfter: time.Duration(r.int(headFields+3)) * time.Microsecond,
		Limit:      r.limit(),
		At:         time.UnixMicro(r.int(headFields)),
	}
	if d.Allowed {
		d.Date = d.At
	} else {
		d.RetryAfter = d.ResetAfter
	}
	return d
}
