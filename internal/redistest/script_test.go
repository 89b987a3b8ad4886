package redistest_test

import (
	"context"
	"crypto/sha1"
	"encoding/hex"
	"errors"
	"reflect"
	"strings"
	"testing"

	"github.com/sluice-rate/sluice/internal/redistest"
)

// scripter is what a generic caller asks of a Redis client.
type scripter[R interface{ Result() (any, error) }] interface {
	Eval(ctx context.Context, script string, keys []string, args ...any) R
	EvalSha(ctx context.Context, sha1 string, keys []string, args ...any) R
}

var _ scripter[*redistest.Reply] = (*redistest.Conn)(nil)

// run infers its type argument, as callers of such a client do.
func run[R interface{ Result() (any, error) }](ctx context.Context, c scripter[R], script string) (any, error) {
	return c.Eval(ctx, script, []string{"k"}, 1).Result()
}

func TestScripts(t *testing.T) {
	t.Parallel()
	c := redistest.Dial(t, redistest.Start(t).Addr())
	ctx := t.Context()

	if v, err := run(ctx, c, "return KEYS[1] .. ARGV[1]"); v != "k1" || err != nil {
		t.Errorf("Eval through the generic form = %v, %v, want k1", v, err)
	}

	const script = "return {KEYS[1], ARGV[1], ARGV[2], false, 3, tonumber(ARGV[3]) * 2}"
	keys, args := []string{"a\x00b", "c"}, []any{"x", []byte{0xff}, 1.5}
	want := []any{"a\x00b", "x", "\xff", nil, int64(3), int64(3)}

	sum := sha1.Sum([]byte(script))
	sha := hex.EncodeToString(sum[:])
	_, err := c.EvalSha(ctx, sha, keys, args...).Result()
	if e, ok := errors.AsType[redistest.Error](err); !ok || !strings.HasPrefix(string(e), "NOSCRIPT") {
		t.Errorf("EvalSha before Eval: %v, want NOSCRIPT", err)
	}
	for name, reply := range map[string]*redistest.Reply{
		"Eval":    c.Eval(ctx, script, keys, args...),
		"EvalSha": c.EvalSha(ctx, sha, keys, args...),
	} {
		if got, err := reply.Result(); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s = %#v, %v, want %#v", name, got, err, want)
		}
	}

	for _, script := range []string{"return false", "return nil"} {
		if v, err := c.Eval(ctx, script, nil).Result(); v != nil || err != nil {
			t.Errorf("%s = %v, %v, want nil, nil", script, v, err)
		}
	}
	if v, err := c.Eval(ctx, "return redis.call('INCR', KEYS[1], 'x')", []string{"k"}).Result(); err == nil {
		t.Errorf("failing script = %v, no error", v)
	}
}
