package redisengine_test

import (
	"context"
	"crypto/sha1"
	"fmt"
	"runtime"
	"strings"
	"sync"
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
		Lasting: func(t testing.TB, now func() time.Time) (sluice.Engine, enginetest.Keys) {
			conn := pool.dial(t)
			return redisengine.New(lasting{conn, new(sync.Map)}, &redisengine.Options{Now: now}), conn
		},
	})
}

// lasting runs the scripts so that what they store for inline limits does not expire: the server's clock goes on while the test's
// stands.
type lasting struct {
	*redistest.Conn
	changed *sync.Map // the hash of a script as it is run, by that of the script as it was
}

const expiring = `call('SET', KEYS[at], text, 'PX', string.format('%.0f', life))`

func (l lasting) Eval(ctx context.Context, script string, keys []string, args ...any) *redistest.Reply {
	text := strings.ReplaceAll(script, expiring, `call('SET', KEYS[at], text)`)
	if strings.Contains(text, "'PX'") {
		panic("the script does not write as this test thinks")
	}
	l.changed.Store(sha(script), sha(text))
	return l.Conn.Eval(ctx, text, keys, args...)
}

func (l lasting) EvalSha(ctx context.Context, sha1 string, keys []string, args ...any) *redistest.Reply {
	if changed, known := l.changed.Load(sha1); known {
		sha1 = changed.(string)
	} else {
		sha1 = sha("") // NOSCRIPT
	}
	return l.Conn.EvalSha(ctx, sha1, keys, args...)
}

func sha(text string) string { return fmt.Sprintf("%x", sha1.Sum([]byte(text))) }

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
