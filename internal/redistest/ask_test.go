package redistest_test

import (
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/sluice-rate/sluice/internal/redistest"
)

func TestAsk(t *testing.T) {
	t.Parallel()
	c := redistest.Dial(t, redistest.Start(t).Addr())
	if got := c.Int(t, "RPUSH", "list", "a", "b"); got != 2 {
		t.Errorf("Int(RPUSH) = %d, want 2", got)
	}
	c.Str(t, "SET", "k", -12)
	if got := c.Int(t, "GET", "k"); got != -12 {
		t.Errorf("Int(GET) = %d, want -12", got)
	}
	if got := c.Str(t, "TYPE", "list"); got != "list" {
		t.Errorf("Str(TYPE) = %q, want list", got)
	}
	if got := c.Strings(t, "LRANGE", "list", 0, -1); !slices.Equal(got, []string{"a", "b"}) {
		t.Errorf("Strings(LRANGE) = %q, want a, b", got)
	}
	if got := c.Strings(t, "LRANGE", "missing", 0, -1); got == nil || len(got) != 0 {
		t.Errorf("Strings(LRANGE missing) = %#v, want an empty slice", got)
	}
	t.Cleanup(func() { c.Str(t, "PING") }) // t.Context has ended by then
}

func TestAskFailsTheTest(t *testing.T) {
	t.Parallel()
	c := redistest.Dial(t, redistest.Start(t).Addr())
	c.Str(t, "SET", "k", "v")
	c.Int(t, "RPUSH", "list", "a")
	for _, test := range []struct {
		ask  func(tb testing.TB)
		want string
	}{
		{func(tb testing.TB) { c.Int(tb, "GET", "k") }, `= "v", want an integer`},
		{func(tb testing.TB) { c.Int(tb, "GET", "missing") }, "want an integer"},
		{func(tb testing.TB) { c.Int(tb, "LLEN", "k") }, "WRONGTYPE"},
		{func(tb testing.TB) { c.Str(tb, "GET", "missing") }, "want a string"},
		{func(tb testing.TB) { c.Str(tb, "LLEN", "list") }, "want a string"},
		{func(tb testing.TB) { c.Strings(tb, "GET", "k") }, "want an array"},
		{func(tb testing.TB) { c.Strings(tb, "MGET", "missing") }, "element 0"},
		{func(tb testing.TB) { redistest.Dial(tb, "127.0.0.1:1") }, "127.0.0.1:1"},
		{func(tb testing.TB) { redistest.StartCluster(tb, 0) }, "0 masters"},
	} {
		r := &recorder{TB: t}
		done := make(chan struct{})
		go func() {
			defer close(done)
			test.ask(r)
		}()
		<-done
		if !strings.Contains(r.fatal, test.want) {
			t.Errorf("failed with %q, want %q in it", r.fatal, test.want)
		}
	}
}

// recorder is a test that notes its failure instead of failing.
type recorder struct {
	testing.TB
	fatal string
}

func (r *recorder) Fatalf(format string, args ...any) {
	r.fatal = fmt.Sprintf(format, args...)
	runtime.Goexit()
}
