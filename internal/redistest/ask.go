package redistest

import (
	"context"
	"strconv"
	"testing"
	"time"
)

// askTimeout bounds the calls that take a test instead of a context.
const askTimeout = 10 * time.Second

// Int runs a command whose reply is an integer, or a string that spells one, and
// returns it. Anything else ends the test. Like its sisters it must be called
// from the test's own goroutine; it works in a Cleanup too.
func (c *Conn) Int(tb testing.TB, args ...any) int64 {
	tb.Helper()
	switch v := c.do(tb, args...).(type) {
	case int64:
		return v
	case string:
		if n, err := strconv.ParseInt(v, 10, 64); err == nil {
			return n
		}
		tb.Fatalf("redistest: %v = %q, want an integer", args, v)
	default:
		tb.Fatalf("redistest: %v = %v (%T), want an integer", args, v, v)
	}
	return 0
}

// Str runs a command whose reply is a string and returns it. Anything else ends
// the test, also the nil of a key that does not exist.
func (c *Conn) Str(tb testing.TB, args ...any) string {
	tb.Helper()
	v := c.do(tb, args...)
	s, ok := v.(string)
	if !ok {
		tb.Fatalf("redistest: %v = %v (%T), want a string", args, v, v)
	}
	return s
}

// Strings runs a command whose reply is an array of strings and returns it. Anything
// else ends the test. An empty array is an empty slice, not nil.
func (c *Conn) Strings(tb testing.TB, args ...any) []string {
	tb.Helper()
	v := c.do(tb, args...)
	list, ok := v.([]any)
	if !ok {
		tb.Fatalf("redistest: %v = %v (%T), want an array", args, v, v)
	}
	texts := make([]string, len(list))
	for i, v := range list {
		if texts[i], ok = v.(string); !ok {
			tb.Fatalf("redistest: %v: element %d = %v (%T), want a string", args, i, v, v)
		}
	}
	return texts
}

// do is Do for a test: any error ends it.
func (c *Conn) do(tb testing.TB, args ...any) any {
	tb.Helper()
	// tb.Context is cancelled before the first Cleanup runs.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(tb.Context()), askTimeout)
	defer cancel()
	v, err := c.Do(ctx, args...)
	if err != nil {
		tb.Fatalf("redistest: %v: %v", args, err)
	}
	return v
}
