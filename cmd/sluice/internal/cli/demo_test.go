package cli_test

import (
	"bytes"
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sluice-rate/sluice/cmd/sluice/internal/cli"
)

// demo runs the demo in a bubble, where its twenty seconds take none.
func demo(ctx context.Context, environ map[string]string, width, height int) result {
	var stdout, stderr bytes.Buffer
	status := cli.Run(ctx, cli.Env{
		Args:      []string{"demo"},
		Stdout:    &stdout,
		Stderr:    &stderr,
		LookupEnv: func(name string) (string, bool) { value, ok := environ[name]; return value, ok },
		Terminal:  width > 0,
		Size:      func() (int, int) { return width, height },
	})
	return result{status, stdout.String(), stderr.String()}
}

func TestDemo_is_live_and_coloured_only_where_that_is_wanted(t *testing.T) {
	const moves, colours = "\x1b[?25l", "\x1b[0;36m"
	tests := []struct {
		name          string
		environ       map[string]string
		width         int
		live, colours bool
	}{
		{"terminal", map[string]string{"TERM": "xterm"}, 80, true, true},
		{"terminal, NO_COLOR", map[string]string{"NO_COLOR": "1"}, 80, true, false},
		{"terminal, NO_COLOR empty", map[string]string{"NO_COLOR": ""}, 80, true, true},
		{"dumb terminal", map[string]string{"TERM": "dumb"}, 80, false, false},
		{"no terminal", nil, 0, false, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := demo(t.Context(), tt.environ, tt.width, 24)
				if r.status != 0 || r.stderr != "" {
					t.Errorf("exit status %d, stderr %q", r.status, r.stderr)
				}
				if got := strings.Contains(r.stdout, moves); got != tt.live {
					t.Errorf("live: %t, want %t", got, tt.live)
				}
				if got := strings.Contains(r.stdout, colours); got != tt.colours {
					t.Errorf("coloured: %t, want %t", got, tt.colours)
				}
				if !strings.Contains(r.stdout, "The fullest 5s held 3 permits") {
					t.Error("no summary")
				}
			})
		})
	}
}

func TestDemo_interrupted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
		defer cancel()
		r := demo(ctx, nil, 80, 24)
		if r.status != 1 || r.stderr != "sluice: interrupted\n" {
			t.Errorf("exit status %d, stderr %q, want 1 and that it was interrupted", r.status, r.stderr)
		}
	})
}
