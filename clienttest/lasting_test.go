package clienttest

import (
	"context"
	"crypto/sha1"
	"fmt"
	"strings"
	"sync"

	"github.com/sluice-rate/sluice"
	"github.com/sluice-rate/sluice/redisengine"
)

// engineOn is the engine on a client. On a lasting target, what the scripts store for inline limits does not expire: the server's clock goes on
// while a test's stands.
func engineOn[R redisengine.Reply](to target, c redisengine.Client[R]) sluice.Engine {
	if to.lasting {
		return redisengine.New(lasting[R]{c, new(sync.Map)}, to.options)
	}
	return redisengine.New(c, to.options)
}

// lasting changes scripts on their way.
type lasting[R redisengine.Reply] struct {
	redisengine.Client[R]
	changed *sync.Map // the hash of a script as it is run, by that of the script as it was
}

const expiring = `call('SET', KEYS[at], text, 'PX', string.format('%.0f', life))`

// Eval runs a script as it is changed.
func (l lasting[R]) Eval(ctx context.Context, script string, keys []string, args ...any) R {
	text := strings.ReplaceAll(script, expiring, `call('SET', KEYS[at], text)`)
	if strings.Contains(text, "'PX'") {
		panic("the script does not write as this test thinks")
	}
	l.changed.Store(sha(script), sha(text))
	return l.Client.Eval(ctx, text, keys, args...)
}

// EvalSha runs a script that was changed, and gives NOSCRIPT for one that was not yet.
func (l lasting[R]) EvalSha(ctx context.Context, sha1 string, keys []string, args ...any) R {
	if changed, known := l.changed.Load(sha1); known {
		sha1 = changed.(string)
	} else {
		sha1 = sha("")
	}
	return l.Client.EvalSha(ctx, sha1, keys, args...)
}

func sha(text string) string { return fmt.Sprintf("%x", sha1.Sum([]byte(text))) }
