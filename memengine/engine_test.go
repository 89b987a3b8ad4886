package memengine_test

import (
	"testing"
	"time"

	"github.com/sluice-rate/sluice"
	"github.com/sluice-rate/sluice/enginetest"
	"github.com/sluice-rate/sluice/memengine"
)

func TestEngine(t *testing.T) {
	enginetest.Run(t, enginetest.Harness{
		New: func(t testing.TB, now func() time.Time) (sluice.Engine, enginetest.Keys) {
			return memengine.New(&memengine.Options{Now: now}), nil
		},
		InProcess: true,
	})
}
