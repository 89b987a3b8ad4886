package cli_test

import (
	"testing"
	"time"

	"github.com/sluice-rate/sluice"
)

func TestLimiterSet_says_what_it_changed(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	tests := []struct {
		args []string
		text string
		want sluice.Config
	}{
		{
			[]string{"-rate", "3/5s"},
			"mail: 3/5s, mode overall, kept for ever (new)\n",
			sluice.Config{Rate: sluice.Per(3, 5*time.Second)},
		},
		{
			[]string{"-rate", "3/5s"},
			"mail: 3/5s, mode overall, kept for ever (as before; nothing changed)\n",
			sluice.Config{Rate: sluice.Per(3, 5*time.Second)},
		},
		{
			[]string{"-rate", "100/m", "-keep-alive", "90m"},
			"mail: 100/1m, mode overall, forgotten when unused for 1h30m0s (before: 3/5s, mode overall, kept for ever)\n",
			sluice.Config{Rate: sluice.Per(100, time.Minute), KeepAlive: 90 * time.Minute},
		},
		{
			[]string{"-rate", "10/d", "-mode", "client"},
			"mail: 10/24h, mode client, kept for ever (before: 100/1m, mode overall, forgotten when unused for 1h30m0s)\n",
			sluice.Config{Rate: sluice.Per(10, 24*time.Hour), Mode: sluice.PerClient},
		},
	}
	for _, tt := range tests {
		r := w.want(0, append([]string{"limiter", "set", "mail"}, tt.args...)...)
		if r.stdout != tt.text || r.stderr != "" {
			t.Errorf("%q: stdout %q, stderr %q, want %q", tt.args, r.stdout, r.stderr, tt.text)
		}
		if got := w.config("mail"); got != tt.want {
			t.Errorf("%q: the configuration is %v, want %v", tt.args, got, tt.want)
		}
	}
}

func TestLimiterSet_json(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	want := map[string]any{
		"limiter": "mail", "exists": true, "mode": "client", "rate": 3.0, "interval_ms": 5000.0, "keep_alive_ms": 3_600_000.0, "changed": true,
	}
	args := []string{"limiter", "set", "-o", "json", "-rate", "3/5s", "mail", "-mode", "client", "-keep-alive", "1h"}
	wantFields(t, object(t, w.want(0, args...).stdout), want)
	want["changed"] = false
	wantFields(t, object(t, w.want(0, args...).stdout), want)
}

func TestLimiterSet_begins_anew_only_if_something_differs(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.want(0, "limiter", "set", "mail", "-rate", "3/1h")
	w.want(0, "acquire", "mail", "-n", "2")
	w.want(0, "limiter", "set", "mail", "-rate", "3/1h")
	if n := w.available("mail"); n != 1 {
		t.Errorf("%d available, want 1: nothing has changed", n)
	}
	w.want(0, "limiter", "set", "mail", "-rate", "5/1h")
	if n := w.available("mail"); n != 5 {
		t.Errorf("%d available, want 5", n)
	}
}

func TestLimiterSet_update_keeps_what_is_in_use(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.want(0, "limiter", "set", "mail", "-rate", "3/1h", "-keep-alive", "2h")
	w.want(0, "acquire", "mail", "-n", "2")
	r := w.want(0, "limiter", "set", "mail", "-rate", "5/1h", "-update")
	want := "mail: 5/1h, mode overall, forgotten when unused for 2h0m0s (before: 3/1h, mode overall, forgotten when unused for 2h0m0s; what is in use is kept)\n"
	if r.stdout != want {
		t.Errorf("stdout is %q, want %q", r.stdout, want)
	}
	if n := w.available("mail"); n != 3 {
		t.Errorf("%d available, want 3 of 5", n)
	}
	w.want(0, "limiter", "set", "mail", "-update", "-keep-alive", "0s")
	if got, want := w.config("mail"), (sluice.Config{Rate: sluice.Per(5, time.Hour)}); got != want {
		t.Errorf("the configuration is %v, want %v: only the keep-alive was to change", got, want)
	}
	if n := w.available("mail"); n != 3 {
		t.Errorf("%d available, want 3 still", n)
	}
	w.want(0, "limiter", "set", "mail", "-update", "-mode", "client")
	if got := w.config("mail"); got != (sluice.Config{Rate: sluice.Per(5, time.Hour), Mode: sluice.PerClient}) {
		t.Errorf("the configuration is %v, want another mode", got)
	}
}

func TestLimiterSet_update_makes_no_limiter(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	r := w.want(2, "limiter", "set", "mail", "-rate", "5/1h", "-update")
	if r.stdout != "mail: no such limiter, and -update makes none\n" || r.stderr != "" {
		t.Errorf("stdout %q, stderr %q, want that there is none", r.stdout, r.stderr)
	}
	wantFields(t, object(t, w.want(2, "limiter", "set", "mail", "-rate", "5/1h", "-update", "-o", "json").stdout), map[string]any{
		"limiter": "mail", "exists": false, "mode": "", "rate": 0.0, "interval_ms": 0.0, "keep_alive_ms": 0.0, "changed": false,
	})
	if n := w.conn.Int(t, "DBSIZE"); n != 0 {
		t.Errorf("%d keys, want none", n)
	}
}
