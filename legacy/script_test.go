package legacy_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/sluice-rate/sluice"
	"github.com/sluice-rate/sluice/internal/redistest"
	"github.com/sluice-rate/sluice/legacy"
)

// TestUndeclaredKeys runs every method as a user who may touch the keys of one limiter, and no others.
func TestUndeclaredKeys(t *testing.T) {
	s := newStore(t, redistest.Start(t))
	s.do("ACL", "SETUSER", "default", "resetkeys", "~order", "~{order}:value", "~{order}:value:"+clientID, "~{order}:permits", "~{order}:permits:"+clientID)
	for _, mode := range []sluice.Mode{sluice.Overall, sluice.PerClient} {
		l := s.client.Limiter("order")
		s.must(second(l.TrySetRate(t.Context(), sluice.Config{Rate: sluice.Per(3, time.Minute), Mode: mode})))
		for method, err := range errorsOf(t, l) {
			if err != nil {
				t.Errorf("%s: %v", method, err)
			}
		}
	}
	_, err := s.client.Limiter("other").TryAcquire(t.Context(), 1)
	if !errors.Is(err, sluice.ErrStoreUnavailable) || !strings.Contains(err.Error(), "NOPERM") {
		t.Errorf("TryAcquire of another = %v, want NOPERM: else this test shows nothing", err)
	}
	s.do("ACL", "SETUSER", "default", "-hmget") // within a script; the key is a hash all the same
	_, err = s.client.Limiter("order").TryAcquire(t.Context(), 1)
	if !errors.Is(err, sluice.ErrStoreUnavailable) || errors.Is(err, sluice.ErrCorrupt) {
		t.Errorf("TryAcquire without HMGET = %v, want ErrStoreUnavailable", err)
	}
}

var (
	commandInLua = regexp.MustCompile(`call\('([A-Z]+)'(?:, ?([^,)]*))?`)
	forbidden    = []string{"replicate_commands", "tostring(", "math.random", "'TIME', "}
)

// TestScripts reads the scripts: each key comes from KEYS, a number becomes text by a format.
func TestScripts(t *testing.T) {
	files, err := filepath.Glob("lua/*.lua")
	if err != nil || len(files) == 0 {
		t.Fatalf("no scripts found: %v", err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, word := range forbidden {
			if strings.Contains(string(text), word) {
				t.Errorf("%s says %s", file, word)
			}
		}
		for _, c := range commandInLua.FindAllStringSubmatch(string(text), -1) {
			if c[1] != "TIME" && !strings.HasPrefix(c[2], "KEYS[") {
				t.Errorf("%s: %s: its key is %s, want one of KEYS", file, c[0], c[2])
			}
		}
	}
}

// TestCluster: all keys of a limiter lie in one slot, whatever its name.
func TestCluster(t *testing.T) {
	s := newStore(t, redistest.StartCluster(t, 1)[0])
	for _, name := range []string{"foo", "order:submit", "user:{42}:api", "{a}", "a{b}{}", "größe"} {
		for method, err := range errorsOf(t, s.limiter(name, sluice.Per(3, time.Minute))) {
			if err != nil {
				t.Errorf("%s of %s: %v", method, name, err)
			}
		}
	}
}

// TestServerThatHasForgottenTheScripts, as after a restart or SCRIPT FLUSH.
func TestServerThatHasForgottenTheScripts(t *testing.T) {
	server := redistest.Start(t)
	s := newStore(t, server)
	for range 2 {
		for method, err := range errorsOf(t, s.limiter("x", sluice.Per(3, time.Minute))) {
			if err != nil {
				t.Errorf("%s: %v", method, err)
			}
		}
		server.Restart(t)
	}
}

func TestServerThatIsGone(t *testing.T) {
	server := redistest.Start(t)
	s := newStore(t, server)
	l := s.limiter("x", sluice.Per(3, time.Minute))
	server.Stop()
	for method, err := range errorsOf(t, l) {
		if !errors.Is(err, sluice.ErrStoreUnavailable) {
			t.Errorf("%s = %v, want ErrStoreUnavailable", method, err)
		}
	}
}

// odd is a client whose server answers what no script of ours does.
type odd struct{ value any }

type oddReply struct{ odd }

func (o oddReply) Result() (any, error) { return o.value, nil }

func (o odd) Eval(context.Context, string, []string, ...any) oddReply    { return oddReply{o} }
func (o odd) EvalSha(context.Context, string, []string, ...any) oddReply { return oddReply{o} }

func TestRepliesThatMakeNoSense(t *testing.T) {
	for _, value := range []any{nil, "OK", int64(0), []any{}, []any{"x"}, []any{int64(9)}, []any{int64(3)}, []any{int64(3), int64(1)}, []any{int64(4), int64(6)}} {
		l := legacy.New(odd{value}, nil).Limiter("x")
		if _, err := l.TryAcquire(t.Context(), 1); err == nil {
			t.Errorf("TryAcquire with the reply %v: no error", value)
		}
	}
}
