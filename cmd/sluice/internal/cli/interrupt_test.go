package cli_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/sluice-rate/sluice"
)

// waiting reports whether somebody waits in line for a limiter.
func (w *world) waiting(name string) bool {
	w.t.Helper()
	for e, err := range w.client.Limiter(name).Ledger(w.t.Context()) {
		if err != nil {
			w.t.Fatal(err)
		}
		if e.Kind == sluice.KindReservation {
			return true
		}
	}
	return false
}

func TestInterrupt_while_waiting_gives_the_place_back(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.want(0, "acquire", "mail", "-rate", "2/1h")
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	done := make(chan result, 1)
	go func() { done <- run(ctx, w.server.URL(), "acquire", "mail", "-n", "2", "-wait", "2h") }()
	eventually(t, "it waits in line", func() bool { return w.waiting("mail") })
	if n := w.available("mail"); n != 0 {
		t.Errorf("%d available while somebody is in line, want 0", n)
	}

	begin := time.Now()
	cancel()
	text := complaint(t, <-done)
	if took := time.Since(begin); took > time.Second {
		t.Errorf("it took %v to end, want at once", took)
	}
	if !strings.Contains(text, "interrupted; no permits of mail were taken") {
		t.Errorf("stderr is %q, want what has become of the permits", text)
	}
	if n := w.available("mail"); n != 1 {
		t.Errorf("%d available, want the 1 that was free before", n)
	}
}

func TestInterrupt_when_the_place_cannot_be_given_back(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.want(0, "acquire", "mail", "-rate", "1/1h")
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	done := make(chan result, 1)
	go func() { done <- run(ctx, w.server.URL(), "acquire", "mail", "-wait", "2h") }()
	eventually(t, "it waits in line", func() bool { return w.waiting("mail") })
	before, _ := w.conn.ScriptStats(t)
	eventually(t, "it knows that it does, since it looks after its place", func() bool {
		calls, _ := w.conn.ScriptStats(t)
		return calls > before
	})
	w.server.Stop()
	cancel()
	if text := complaint(t, <-done); !strings.Contains(text, "whether permits of mail were taken is unknown") {
		t.Errorf("stderr is %q, want that it is not known", text)
	}
}

func TestInterrupt_before_it_began(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, args := range [][]string{{"acquire", "mail", "-rate", "3/1h"}, {"limiter", "set", "mail", "-rate", "3/1h"}} {
		if text := complaint(t, run(ctx, w.server.URL(), args...)); !strings.HasPrefix(text, "sluice: interrupted; ") {
			t.Errorf("%q: stderr is %q, want that it was interrupted", args, text)
		}
	}
	if n := w.conn.Int(t, "DBSIZE"); n != 0 {
		t.Errorf("%d keys, want none", n)
	}
	w.want(0, "acquire", "mail", "-rate", "3/1h")
	before := w.dump()
	for _, args := range onLimiters {
		if text := complaint(t, run(ctx, w.server.URL(), args...)); !strings.HasPrefix(text, "sluice: interrupted") {
			t.Errorf("%q: stderr is %q, want that it was interrupted", args, text)
		}
	}
	if after := w.dump(); after != before {
		t.Errorf("the keys are %s, want as before", after)
	}
}
