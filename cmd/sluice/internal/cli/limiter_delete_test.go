package cli_test

import (
	"strings"
	"testing"
	"time"
)

func TestLimiterDelete_says_whether_there_was_anything(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.want(0, "acquire", "mail", "-rate", "3/1h")
	if r := w.want(0, "limiter", "delete", "mail"); r.stdout != "mail: deleted\n" || r.stderr != "" {
		t.Errorf("stdout %q, stderr %q, want that it was deleted", r.stdout, r.stderr)
	}
	if n := w.conn.Int(t, "DBSIZE"); n != 0 {
		t.Errorf("%d keys, want none", n)
	}
	if r := w.want(2, "limiter", "delete", "mail"); r.stdout != "mail: no such limiter; nothing to delete\n" || r.stderr != "" {
		t.Errorf("stdout %q, stderr %q, want that there was nothing", r.stdout, r.stderr)
	}
	wantFields(t, object(t, w.want(2, "limiter", "delete", "mail", "-o", "json").stdout), map[string]any{"limiter": "mail", "deleted": false, "clients": 0.0})
	w.want(0, "limiter", "set", "mail", "-rate", "3/1h")
	wantFields(t, object(t, w.want(0, "limiter", "delete", "mail", "-o", "json").stdout), map[string]any{"limiter": "mail", "deleted": true, "clients": 0.0})
}

func TestLimiterDelete_with_the_ledgers_of_all_clients(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, config := range []bool{true, false} {
		if config {
			w.redissonConfig("api", 10, 3_600_000, 1)
		}
		for _, id := range redissonIDs {
			w.redissonState("{api}:value:"+id, "{api}:permits:"+id, 9, aged{time.Minute, redissonEntry(1, 1)})
		}
		w.redis("SET", "{api}:other", "x")
		wantFields(t, object(t, w.want(0, "limiter", "delete", "api", "-o", "json").stdout), map[string]any{"limiter": "api", "deleted": true, "clients": 2.0})
		if keys := w.conn.Strings(t, "KEYS", "*"); len(keys) != 1 || keys[0] != "{api}:other" {
			t.Errorf("the keys are %q, want only the one that is not the limiter's", keys)
		}
	}
}

func TestLimiterDelete_of_what_is_left_without_a_configuration(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.redissonState("{mail}:value", "{mail}:permits", 9, aged{time.Minute, redissonEntry(1, 1)})
	w.want(0, "limiter", "delete", "mail")
	w.redis("HSET", "mail", "rate", "many", "interval", 1000, "type", 0) // a limiter whose rate somebody has spoilt
	w.want(0, "limiter", "delete", "mail")
	if n := w.conn.Int(t, "DBSIZE"); n != 0 {
		t.Errorf("%d keys, want none", n)
	}
}

func TestLimiterDelete_leaves_alone_what_is_not_a_limiter(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.redis("SET", "text", "hello")
	w.redis("HSET", "car", "colour", "red")
	w.redis("HSET", "loan", "type", "fixed", "rate", "3.9 %", "interval", "month")
	before := w.dump()
	for name, want := range map[string]string{
		"text": "the key text is a string, not a limiter; nothing was deleted",
		"car":  "the key car is a hash without a rate, not a limiter; nothing was deleted",
		"loan": "not a limiter; nothing was deleted",
	} {
		if text := complaint(t, w.run("limiter", "delete", name)); !strings.Contains(text, want) {
			t.Errorf("%s: stderr is %q, want %q", name, text, want)
		}
	}
	if after := w.dump(); after != before {
		t.Errorf("the keys are %s, want as before", after)
	}
}

func TestLimiterDelete_of_a_name_that_the_library_refuses(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.redissonConfig("a}b", 10, 3_600_000, 0)
	if text := complaint(t, w.run("limiter", "delete", "a}b")); !strings.Contains(text, "redis-cli DEL 'a}b'") {
		t.Errorf("stderr is %q, want how to delete it by hand", text)
	}
}
