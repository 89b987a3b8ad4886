package legacy

import (
	"context"

	"github.com/sluice-rate/sluice"
)

// Limiter is one named limiter with a fixed window: a rate that is stored together with what is left of it, so that every process that
// uses the name shares both, in Go and in Java. A Limiter is a small handle, safe for concurrent use, and costs nothing to make.
//
// Every method makes one round trip unless it says otherwise. Besides what a method names, its error can be an
// *sluice.InvalidError (nothing was sent), a *sluice.CorruptError (a key holds what no Redisson up to 3.13.2 wrote; the package's comment
// says more), sluice.ErrStoreUnavailable (whether a take ran is then unknown), or the context's.
type Limiter struct {
	c      *Client
	window *sluice.Limiter
	config *sluice.Limiter // the same, but its reads see the configuration alone
}

// Name is the limiter's name.
func (l *Limiter) Name() string { return l.window.Name() }

// TrySetRate gives the limiter its configuration if it has none, and reports whether it did. Fields that are there already stay as they
// are; it counts as configured when it has a type, as in Redisson. A keep-alive is an *sluice.InvalidError, since the format has none.
//
// Unlike Redisson's, it refuses what cannot work (a rate or interval of zero). A window that is under way goes on under a new configuration.
func (l *Limiter) TrySetRate(ctx context.Context, config sluice.Config) (bool, error) {
	return l.window.TrySetRate(ctx, config)
}

// Config is the stored configuration, or sluice.ErrNotInitialized. It does not look at the window, and so
// answers also when that is corrupt.
func (l *Limiter) Config(ctx context.Context) (sluice.Config, error) { return l.config.Config(ctx) }

// Exists reports whether the limiter has a configuration. Like Config, it does not look at the window.
func (l *Limiter) Exists(ctx context.Context) (bool, error) { return l.config.Exists(ctx) }

// Available is how many permits could be had now: what is left of the window, or the rate if there is none. It is a true read: unlike
// Redisson's availablePermits it writes nothing, and begins no window. The error is sluice.ErrNotInitialized if there is no configuration.
func (l *Limiter) Available(ctx context.Context) (int64, error) { return l.window.Available(ctx) }

// Delete forgets the limiter with its window, whatever its keys hold, and reports whether there was anything to forget. Callers who wait get
// sluice.ErrNotInitialized when the window that they wait for would have ended. The windows of other clients of a PerClient limiter end by
// themselves. It does not delete half of a newer limiter: where there is a ledger the error is a *sluice.CorruptError.
func (l *Limiter) Delete(ctx context.Context) (bool, error) { return l.window.Delete(ctx) }
