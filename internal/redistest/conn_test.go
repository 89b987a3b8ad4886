package redistest_test

import (
	"context"
	"errors"
	"math"
	"net"
	"reflect"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/sluice-rate/sluice/internal/redistest"
)

func TestDoReplies(t *testing.T) {
	t.Parallel()
	c := redistest.Dial(t, redistest.Start(t).Addr())
	for _, test := range []struct {
		name string
		args []any
		want any
	}{
		{"simple string", []any{"SET", "k", "v"}, "OK"},
		{"bulk string", []any{"GET", "k"}, "v"},
		{"empty string", []any{"ECHO", ""}, ""},
		{"binary", []any{"ECHO", "\x00\r\n$5\xff"}, "\x00\r\n$5\xff"},
		{"bytes", []any{"ECHO", []byte("a\x00b")}, "a\x00b"},
		{"long", []any{"ECHO", strings.Repeat("x", 1<<20)}, strings.Repeat("x", 1<<20)},
		{"integer", []any{"STRLEN", "k"}, int64(1)},
		{"negative integer", []any{"PTTL", "k"}, int64(-1)},
		{"nil", []any{"GET", "missing"}, nil},
		{"nil array", []any{"BLPOP", "missing", 0.01}, nil},
		{"array", []any{"MGET", "k", "missing", "k"}, []any{"v", nil, "v"}},
		{"empty array", []any{"KEYS", "missing"}, []any{}},
		{"nested array", []any{"EVAL", "return {1, {'a', {false}}, {}}", 0},
			[]any{int64(1), []any{"a", []any{nil}}, []any{}}},
		{"error in an array", []any{"EVAL", "return {redis.error_reply('NO luck'), 2}", 0},
			[]any{redistest.Error("NO luck"), int64(2)}},
		{"int argument", []any{"ECHO", -7}, "-7"},
		{"int64 argument", []any{"ECHO", int64(math.MinInt64)}, "-9223372036854775808"},
		{"uint64 argument", []any{"ECHO", uint64(math.MaxUint64)}, "18446744073709551615"},
		{"float argument", []any{"ECHO", 1e21}, "1000000000000000000000"},
		{"small float argument", []any{"ECHO", 0.1}, "0.1"},
	} {
		got, err := c.Do(t.Context(), test.args...)
		if err != nil || !reflect.DeepEqual(got, test.want) {
			t.Errorf("%s: Do(%.40q) = %#v, %v, want %#v", test.name, test.args, got, err, test.want)
		}
	}
}

func TestDoErrors(t *testing.T) {
	t.Parallel()
	c := redistest.Dial(t, redistest.Start(t).Addr())

	v, err := c.Do(t.Context(), "NO-SUCH-COMMAND")
	e, ok := errors.AsType[redistest.Error](err)
	if v != nil || !ok || !strings.HasPrefix(e.Error(), "ERR unknown command") {
		t.Errorf("Do(NO-SUCH-COMMAND) = %v, %#v, want an Error", v, err)
	}
	if _, ok := err.(interface{ RedisError() }); !ok {
		t.Errorf("%T is not marked as a reply of a server", err)
	}
	for _, args := range [][]any{{}, {"ECHO", struct{}{}}, {"ECHO", nil}, {"ECHO", time.Second}} {
		if v, err := c.Do(t.Context(), args...); err == nil || errors.As(err, &e) {
			t.Errorf("Do(%v) = %v, %v, want an error before anything is sent", args, v, err)
		}
	}
	c.Str(t, "PING")
}

func TestPipeline(t *testing.T) {
	t.Parallel()
	c := redistest.Dial(t, redistest.Start(t).Addr())
	got, err := c.Pipeline(t.Context(), [][]any{
		{"SET", "k", 41}, {"INCR", "k"}, {"LPUSH", "k", "x"}, {"GET", "missing"},
	})
	wrongType := redistest.Error("WRONGTYPE Operation against a key holding the wrong kind of value")
	want := []any{"OK", int64(42), wrongType, nil}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("Pipeline = %#v, %v, want %#v", got, err, want)
	}

	cmds := make([][]any, 10_000)
	for i := range cmds {
		cmds[i] = []any{"INCR", "n"}
	}
	got, err = c.Pipeline(t.Context(), cmds)
	if err != nil || len(got) != len(cmds) || got[len(got)-1] != int64(len(cmds)) {
		t.Errorf("Pipeline of %d: %d replies, %v", len(cmds), len(got), err)
	}
	if got, err := c.Pipeline(t.Context(), nil); err != nil || len(got) != 0 {
		t.Errorf("Pipeline of nothing = %v, %v", got, err)
	}
}

func TestConcurrentCallsShareFewConnections(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	c := redistest.Connect(s.Addr())
	defer c.Close()

	const callers, calls = 64, 200
	var wg sync.WaitGroup
	for range callers {
		wg.Go(func() {
			for range calls {
				if _, err := c.Do(t.Context(), "INCR", "n"); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	if got := c.Int(t, "GET", "n"); got != callers*calls {
		t.Errorf("counter = %d, want %d", got, callers*calls)
	}
	clients, err := strconv.Atoi(c.Info(t, "clients")["connected_clients"])
	if err != nil || clients < 2 || clients > 16 {
		t.Errorf("connected_clients = %d, %v, want more than one and 16 at most", clients, err)
	}
}

func TestCallsBeyondThePoolWait(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	observer := redistest.Dial(t, s.Addr())
	c := redistest.Connect(s.Addr())
	defer c.Close()

	var wg sync.WaitGroup
	for range 16 {
		wg.Go(func() {
			if v, err := c.Do(t.Context(), "BLPOP", "list", 10); err != nil || v == nil {
				t.Errorf("BLPOP = %v, %v", v, err)
			}
		})
	}
	await(t, "16 blocked clients", func() bool { return observer.Info(t, "clients")["blocked_clients"] == "16" })

	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if v, err := c.Do(ctx, "INCR", "n"); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("17th call = %v, %v, want %v", v, err, context.DeadlineExceeded)
	}
	waiting := make(chan error, 1)
	go func() {
		_, err := c.Do(t.Context(), "SET", "late", 1)
		waiting <- err
	}()
	for range 16 {
		observer.Int(t, "LPUSH", "list", "x")
	}
	wg.Wait()
	if err := <-waiting; err != nil {
		t.Errorf("call that waited: %v", err)
	}
	if got := observer.Int(t, "EXISTS", "n"); got != 0 {
		t.Error("the call that gave up was sent")
	}
}

func TestContext(t *testing.T) {
	t.Parallel()
	c := redistest.Dial(t, redistest.Start(t).Addr())

	t.Run("ended before the call", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if v, err := c.Do(ctx, "SET", "sent", 1); !errors.Is(err, context.Canceled) {
			t.Errorf("Do = %v, %v, want %v", v, err, context.Canceled)
		}
		if c.Int(t, "EXISTS", "sent") != 0 {
			t.Error("the command was sent")
		}
	})
	t.Run("cancelled while it waits", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(10*time.Millisecond, cancel)
		if v, err := c.Do(ctx, "BLPOP", "missing", 0); !errors.Is(err, context.Canceled) {
			t.Errorf("BLPOP = %v, %v, want %v", v, err, context.Canceled)
		}
	})
	t.Run("deadline while it waits", func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
		defer cancel()
		if v, err := c.Do(ctx, "BLPOP", "missing", 0); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("BLPOP = %v, %v, want %v", v, err, context.DeadlineExceeded)
		}
	})
	t.Run("a late cancel hits no later call", func(t *testing.T) {
		for i := range 2000 {
			// Cancelled before, while and just after the reply comes.
			ctx, cancel := context.WithTimeout(t.Context(), time.Duration(i%200)*time.Microsecond)
			c.Do(ctx, "ECHO", "stale")
			cancel()
			if got := c.Int(t, "ECHO", i); got != int64(i) {
				t.Fatalf("ECHO %d = %d: a reply to another call", i, got)
			}
		}
	})
}

func TestClose(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	observer := redistest.Dial(t, s.Addr())
	c := redistest.Connect(s.Addr())
	c.Str(t, "PING")

	blocked := make(chan error, 1)
	go func() {
		_, err := c.Do(t.Context(), "BLPOP", "list", 10)
		blocked <- err
	}()
	await(t, "blocked client", func() bool { return observer.Info(t, "clients")["blocked_clients"] == "1" })
	c.Close()
	c.Close()
	if v, err := c.Do(t.Context(), "PING"); !errors.Is(err, net.ErrClosed) {
		t.Errorf("PING on a closed client = %v, %v, want %v", v, err, net.ErrClosed)
	}
	observer.Int(t, "LPUSH", "list", "x")
	if err := <-blocked; err != nil {
		t.Errorf("call under way at Close: %v", err)
	}
	await(t, "only the observer connected", func() bool {
		return observer.Info(t, "clients")["connected_clients"] == "1"
	})
}

func TestConnSurvivesRestart(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	c := redistest.Dial(t, s.Addr())
	var wg sync.WaitGroup
	for range 32 { // so that many connections are idle
		wg.Go(func() { c.Do(t.Context(), "BLPOP", "missing", 0.05) })
	}
	wg.Wait()
	s.Restart(t)
	for range 32 {
		wg.Go(func() {
			if v, err := c.Do(t.Context(), "BLPOP", "missing", 0.05); err != nil {
				t.Errorf("after a restart: %v, %v", v, err)
			}
		})
	}
	wg.Wait()
}

func TestMalformedReplies(t *testing.T) {
	t.Parallel()
	for name, reply := range map[string]string{
		"no type":          "hello\r\n",
		"no line end":      "+OK\n",
		"not a number":     ":x\r\n",
		"RESP3 map":        "%1\r\n+a\r\n+b\r\n",
		"bulk too long":    "$1\r\nabc\r\n",
		"ends in the line": "+O",
		"ends in the bulk": "$5\r\nab",
		"ends in an array": "*2\r\n:1\r\n",
		"empty line":       "\r\n",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := redistest.Connect(serve(t, reply))
			defer c.Close()
			if v, err := c.Do(t.Context(), "PING"); err == nil {
				t.Errorf("Do = %#v, want an error", v)
			}
		})
	}
}

// serve answers the first call on each connection with reply and hangs up.
func serve(t *testing.T, reply string) (addr string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() { // ends when l is closed
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			conn.Read(make([]byte, 1<<10))
			conn.Write([]byte(reply))
			conn.Close()
		}
	}()
	return l.Addr().String()
}
