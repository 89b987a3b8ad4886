package redisengine_test

import (
	"runtime"
	"testing"
	"time"

	"github.com/sluice-rate/sluice"
	"github.com/sluice-rate/sluice/enginetest"
	"github.com/sluice-rate/sluice/internal/redistest"
	"github.com/sluice-rate/sluice/redisengine"
)

func TestEngine(t *testing.T) {
	pool := startPool(t)
	enginetest.Run(t, enginetest.Harness{
		New: func(t testing.TB, now func() time.Time) (sluice.Engine, enginetest.Keys) {
			conn := pool.dial(t)
			return redisengine.New(conn, &redisengine.Options{Now: now}), conn
		},
	})
}

// pool is a few servers that tests have in turn, each for itself.
type pool chan *redistest.Server

func startPool(t *testing.T) pool {
	p := make(pool, runtime.GOMAXPROCS(0))
	for range cap(p) {
		p <- redistest.Start(t)
	}
	return p
}

// dial waits for a server, which is empty, and has it until the test ends.
func (p pool) dial(t testing.TB) *redistest.Conn {
	server := <-p
	t.Cleanup(func() { p <- server })
	conn := redistest.Dial(t, server.Addr())
	if _, err := conn.Do(t.Context(), "FLUSHALL"); err != nil {
		t.Fatal(err)
	}
	return conn
}
