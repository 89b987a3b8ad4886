package enginetest

import (
	"context"
	"testing"
	"time"

	"github.com/sluice-rate/sluice"
)

// Harness makes the engine that is tested.
type Harness struct {
	// New makes an engine with nothing in its store, for the length of one test; a test has one at a time. now
	// is the store's clock, nil the engine's own. Keys is nil for an engine that has none.
	New func(t testing.TB, now func() time.Time) (sluice.Engine, Keys)
	// InProcess says that the engine does no I/O, so that it can be tested in a bubble of testing/synctest, where waits
	// have their exact length. Else they are short and real.
	InProcess bool
	// Lasting is New for an engine whose keys would expire by the store's own clock while the driven one stands: they do not expire
	// at all. The cases run on it. Nil for an engine that is InProcess.
	Lasting func(t testing.TB, now func() time.Time) (sluice.Engine, Keys)
}

// Keys is raw access to the Redis in which an engine keeps its state: *redistest.Conn. Nobody else uses it meanwhile.
type Keys interface {
	// Do runs a command.
	Do(ctx context.Context, args ...any) (any, error)
	// ReplOffset is how much has been written so far; see redistest.
	ReplOffset(tb testing.TB) int64
	// ScriptStats is how many scripts have run so far, and the microseconds they took.
	ScriptStats(tb testing.TB) (calls int64, usec float64)
}

// Run runs the suite.
func Run(t *testing.T, h Harness) {
	t.Run("scenario", h.scenarios)
	t.Run("law", h.laws)
	t.Run("waiting", h.waiting)
	t.Run("bad input", h.badInput)
	t.Run("cases", h.cases)
}
