package cli_test

import (
	"strings"
	"testing"
	"time"
)

func TestLimiterRelease_of_the_oldest(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.want(0, "acquire", "mail", "-rate", "10/1h", "-n", "4")
	if r := w.want(0, "limiter", "release", "mail", "-n", "3"); r.stdout != "mail: 3 permits given back\n" || r.stderr != "" {
		t.Errorf("stdout %q, stderr %q", r.stdout, r.stderr)
	}
	if n := w.available("mail"); n != 9 {
		t.Errorf("%d available, want 9", n)
	}
	wantFields(t, object(t, w.want(0, "limiter", "release", "mail", "-n", "3", "-o", "json").stdout), map[string]any{
		"limiter": "mail", "exists": true, "permits": 3.0, "freed": 1.0, "receipt": "",
	})
	if r := w.want(0, "limiter", "release", "mail", "-n", "1"); r.stdout != "mail: nothing to give back: it is not in use, or no longer\n" {
		t.Errorf("stdout %q, want that nothing is in use", r.stdout)
	}
}

func TestLimiterRelease_of_a_receipt(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.want(0, "acquire", "mail", "-rate", "10/1h", "-n", "2")
	receipt, _ := object(t, w.want(0, "acquire", "mail", "-n", "5", "-o", "json").stdout)["receipt"].(string)
	part := object(t, w.want(0, "limiter", "release", "mail", "-receipt", receipt, "-n", "2", "-o", "json").stdout)
	rest, _ := part["receipt"].(string)
	wantFields(t, part, map[string]any{"limiter": "mail", "exists": true, "permits": 2.0, "freed": 2.0, "receipt": rest})
	if n := w.available("mail"); n != 5 {
		t.Errorf("%d available, want 5", n)
	}
	wantFields(t, object(t, w.want(0, "limiter", "release", "mail", "-receipt", rest, "-o", "json").stdout), map[string]any{
		"limiter": "mail", "exists": true, "permits": 3.0, "freed": 3.0, "receipt": "",
	})
	w.want(0, "limiter", "release", "mail", "-receipt", rest)
	if n := w.available("mail"); n != 8 {
		t.Errorf("%d available, want 8: the second time it frees nothing", n)
	}
	if text := complaint(t, w.run("limiter", "release", "mail", "-receipt", receipt, "-n", "6")); !strings.Contains(text, "at most the 5 of the receipt") {
		t.Errorf("stderr is %q, want how many the receipt names", text)
	}
}

func TestLimiterRelease_of_a_limiter_of_Redisson(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.redissonConfig("mail", 10, 3_600_000, 0)
	w.redissonState("{mail}:value", "{mail}:permits", 5, aged{time.Minute, redissonEntry(1, 5)})
	w.want(0, "limiter", "release", "mail", "-n", "2")
	if v := w.show(0, "mail"); v.Available != 7 || len(v.Problems) != 0 {
		t.Errorf("show is %+v, want 7 available and nothing wrong", v)
	}
}

func TestLimiterRelease_has_to_know_whose_permits(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.want(0, "acquire", "api", "-rate", "10/1h", "-mode", "client", "-client", "ann", "-n", "4")
	text := complaint(t, w.run("limiter", "release", "api", "-n", "2"))
	if want := `limiter "api" has a budget for each client: say whose permits with -client ID; sluice limiter show api lists them`; !strings.Contains(text, want) {
		t.Errorf("stderr is %q, want %q", text, want)
	}
	w.want(0, "limiter", "release", "api", "-n", "2", "-client", "ann")
	if v := w.show(0, "api"); v.Granted != 2 || len(v.Clients) != 1 || v.Clients[0].Available != 8 {
		t.Errorf("show is %+v, want 2 permits of ann", v)
	}
}

func TestLimiterRelease_without_a_limiter(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	if r := w.want(2, "limiter", "release", "mail", "-n", "2"); r.stdout != "mail: no such limiter\n" || r.stderr != "" {
		t.Errorf("stdout %q, stderr %q", r.stdout, r.stderr)
	}
	wantFields(t, object(t, w.want(2, "limiter", "release", "mail", "-n", "2", "-o", "json").stdout), map[string]any{
		"limiter": "mail", "exists": false, "permits": 2.0, "freed": 0.0, "receipt": "",
	})
	w.redis("SET", "text", "x")
	if text := complaint(t, w.run("limiter", "release", "text", "-n", "2")); !strings.Contains(text, "cannot be used: the key") {
		t.Errorf("stderr is %q, want which key is wrong", text)
	}
}
