package demo_test

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sluice-rate/sluice/cmd/sluice/internal/demo"
)

func size(width, height int) func() (int, int) {
	return func() (int, int) { return width, height }
}

func TestRun_without_a_terminal_prints_each_event_and_ends_by_itself(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begin := time.Now()
		var out bytes.Buffer
		if err := demo.Run(t.Context(), demo.Options{Out: &out}); err != nil {
			t.Fatal(err)
		}
		if took := time.Since(begin); took < 15*time.Second || took > 25*time.Second {
			t.Errorf("it took %v, want some twenty seconds", took)
		}
		demo.Golden(t, "lines.txt", out.String())
		if strings.Contains(out.String(), "\x1b") {
			t.Error("escape sequences, want none where there is no terminal")
		}
	})
}

func TestRun_on_a_terminal_redraws_in_place_and_gives_the_cursor_back(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		if err := demo.Run(t.Context(), demo.Options{Out: &out, Live: true, Colour: true, Size: size(80, 24)}); err != nil {
			t.Fatal(err)
		}
		text := out.String()
		const upAndAgain = "A \x1b[0;1msluice demo"
		for _, want := range []string{"\x1b[?25l", upAndAgain, "\x1b[0;36m"} {
			if !strings.Contains(text, want) {
				t.Errorf("no %q in what is drawn", want)
			}
		}
		_, after, _ := strings.Cut(text, "\x1b[?7h\x1b[?25h")
		if !strings.Contains(after, "The fullest 5s held 3 permits") {
			t.Errorf("after the cursor has been given back: %q, want the summary", after)
		}
	})
}

func TestRun_without_colours_has_none(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		if err := demo.Run(t.Context(), demo.Options{Out: &out, Live: true, Size: size(100, 40)}); err != nil {
			t.Fatal(err)
		}
		if strings.Contains(out.String(), "\x1b[0;") {
			t.Error("colours, want none")
		}
	})
}

func TestRun_on_a_small_terminal_prints_lines(t *testing.T) {
	for name, size := range map[string]func() (int, int){"narrow": size(59, 40), "low": size(80, 18), "unknown": size(0, 0)} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var out bytes.Buffer
				if err := demo.Run(t.Context(), demo.Options{Out: &out, Live: true, Size: size}); err != nil {
					t.Fatal(err)
				}
				demo.Golden(t, "lines.txt", out.String())
			})
		})
	}
}

func TestRun_survives_a_terminal_that_shrinks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		calls := 0
		shrinking := func() (int, int) {
			calls++
			return max(0, 90-calls), max(0, 40-calls)
		}
		if err := demo.Run(t.Context(), demo.Options{Out: &out, Live: true, Size: shrinking}); err != nil {
			t.Fatal(err)
		}
	})
}

func TestRun_stops_when_its_context_ends_and_gives_the_cursor_back(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begin := time.Now()
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(4321*time.Millisecond, cancel) // two are in line
		var out bytes.Buffer
		err := demo.Run(ctx, demo.Options{Out: &out, Live: true, Size: size(80, 24)})
		if !errors.Is(err, context.Canceled) {
			t.Errorf("Run = %v, want context.Canceled", err)
		}
		if took := time.Since(begin); took > 4400*time.Millisecond {
			t.Errorf("it stopped after %v, want at once", took)
		}
		if !strings.HasSuffix(out.String(), "\x1b[?7h\x1b[?25h") {
			t.Error("the cursor is not given back at the end")
		}
	})
}

func TestRun_ends_when_nobody_reads(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		broken := errors.New("broken pipe")
		if err := demo.Run(t.Context(), demo.Options{Out: writer(func() error { return broken })}); !errors.Is(err, broken) {
			t.Errorf("Run = %v, want %v", err, broken)
		}
	})
}

type writer func() error

func (w writer) Write(p []byte) (int, error) { return len(p), w() }
