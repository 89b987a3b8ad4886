package cli_test

import (
	"strings"
	"testing"
	"time"

	"github.com/sluice-rate/sluice/internal/redistest"
)

func TestRedis_is_where_the_flag_says_or_the_environment(t *testing.T) {
	t.Parallel()
	here, there := newWorld(t), newWorld(t)
	here.want(0, "acquire", "mail", "-rate", "1/1h")
	here.want(0, "acquire", "mail", "-rate", "2/1h", "-redis", there.server.URL()) // the flag wins
	if got := there.config("mail").Rate.Permits; got != 2 {
		t.Errorf("the other Redis has a rate of %d, want 2", got)
	}
	here.want(2, "acquire", "mail")
	text := complaint(t, run(t.Context(), nowhere, "acquire", "mail"))
	if !strings.Contains(text, "127.0.0.1:1 ") {
		t.Errorf("stderr is %q, want the address from the environment", text)
	}
}

func TestRedis_that_is_not_there_is_named_without_its_password(t *testing.T) {
	t.Parallel()
	begin := time.Now()
	text := complaint(t, run(t.Context(), "redis://ann:hunter2@127.0.0.1:1/3", "acquire", "mail", "-rate", "3/5s", "-wait", "1m"))
	if took := time.Since(begin); took > time.Second {
		t.Errorf("it took %v, want to know at once", took)
	}
	for _, want := range []string{"the Redis at 127.0.0.1:1 does not answer", "connection refused", "-redis or SLUICE_REDIS_URL"} {
		if !strings.Contains(text, want) {
			t.Errorf("stderr is %q, want %q in it", text, want)
		}
	}
	if strings.Contains(text, "hunter2") {
		t.Errorf("stderr is %q, with the password", text)
	}
}

func TestRedis_that_is_not_there_is_an_error_of_every_command(t *testing.T) {
	t.Parallel()
	for _, args := range onLimiters {
		if text := complaint(t, run(t.Context(), nowhere, args...)); !strings.Contains(text, "the Redis at 127.0.0.1:1 does not answer") {
			t.Errorf("%q: stderr is %q, want that it does not answer", args, text)
		}
	}
}

// onLimiters are the commands on limiters that are there.
var onLimiters = [][]string{
	{"limiter", "list"},
	{"limiter", "show", "mail"},
	{"limiter", "ledger", "mail"},
	{"limiter", "release", "mail", "-n", "1"},
	{"limiter", "delete", "mail"},
	{"limiter", "set", "mail", "-update", "-rate", "3/5s"},
}

func TestRedis_that_hangs_is_given_up_within_three_seconds(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{
		{"acquire", "mail", "-rate", "3/5s", "-wait", "1m"},
		{"limiter", "set", "mail", "-rate", "3/5s"},
		{"limiter", "list"},
		{"limiter", "show", "mail"},
	} {
		t.Run(strings.Join(args[:2], " "), func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.server.Pause()
			defer w.server.Resume()
			begin := time.Now()
			text := complaint(t, w.run(args...))
			if took := time.Since(begin); took > 3*time.Second {
				t.Errorf("it took %v, want at most 3s", took)
			}
			if !strings.Contains(text, "nothing came within 2s") {
				t.Errorf("stderr is %q, want how long was waited", text)
			}
		})
	}
}

func TestRedis_that_wants_a_password(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t)
	redistest.Dial(t, server.Addr()).Str(t, "CONFIG", "SET", "requirepass", "hunter2")
	for _, url := range []string{server.URL(), "redis://:wrong@" + server.Addr(), "redis://ann:wrong@" + server.Addr()} {
		text := complaint(t, run(t.Context(), url, "acquire", "mail", "-rate", "3/1h"))
		if !strings.Contains(text, "give it a user and password in the URL") || strings.Contains(text, ":wrong") {
			t.Errorf("stderr is %q, want what to do, and no password", text)
		}
	}
	for _, args := range onLimiters {
		if text := complaint(t, run(t.Context(), "redis://:wrong@"+server.Addr(), args...)); !strings.Contains(text, "give it a user and password in the URL") {
			t.Errorf("%q: stderr is %q, want what to do", args, text)
		}
	}
	if r := run(t.Context(), "redis://:hunter2@"+server.Addr(), "acquire", "mail", "-rate", "3/1h"); r.status != 0 {
		t.Errorf("with the password: exit status %d, stderr %q", r.status, r.stderr)
	}
}

func TestRedis_URL_that_cannot_be_read_does_not_show_its_password(t *testing.T) {
	t.Parallel()
	for _, url := range []string{
		"redis://:hunter2/x@127.0.0.1", "redis://ann:hunter2#@h", "redis://ann:100%hunter2@h", "redis://:hunter2", "http://ann:hunter2@h",
		"redis://ann:hunter2@h/notanumber", "ann:hunter2@h", "redis://ann:hunter2@h,b:hunter2x",
	} {
		text := complaint(t, run(t.Context(), url, "acquire", "mail", "-rate", "3/1h"))
		if strings.Contains(text, "hunter2") {
			t.Errorf("%s: stderr is %q, with the password", url, text)
		}
		if !strings.HasPrefix(text, "sluice: SLUICE_REDIS_URL: ") {
			t.Errorf("%s: stderr is %q, want where the URL came from", url, text)
		}
	}
}

func TestRedis_says_no(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.conn.Str(t, "ACL", "SETUSER", "guest", "on", ">pw", "~*", "+@all", "-eval", "-evalsha")
	text := complaint(t, run(t.Context(), "redis://guest:pw@"+w.server.Addr(), "acquire", "mail", "-rate", "3/1h"))
	if !strings.Contains(text, "NOPERM") || !strings.Contains(text, "needs the right to run scripts") {
		t.Errorf("stderr is %q, want what the user may not do", text)
	}

	w.conn.Str(t, "ACL", "SETUSER", "guest", "+eval", "+evalsha", "-scan", "-zrange")
	for _, args := range [][]string{{"limiter", "list"}, {"limiter", "show", "mail"}} {
		text := complaint(t, run(t.Context(), "redis://guest:pw@"+w.server.Addr(), args...))
		if !strings.Contains(text, "NOPERM") || !strings.Contains(text, "needs that right too, to look at keys as they are") {
			t.Errorf("%q: stderr is %q, want what the user may not do", args, text)
		}
	}
}
