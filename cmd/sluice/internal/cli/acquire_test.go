package cli_test

import (
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/sluice-rate/sluice"
)

func TestAcquire_allowed_and_refused(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	r := w.want(0, "acquire", "mail", "-rate", "2/1h")
	if want := "allowed: 1 permit of mail; 1 left of 2/1h; receipt "; !strings.HasPrefix(r.stdout, want) {
		t.Errorf("stdout is %q, want %q…", r.stdout, want)
	}
	w.want(0, "acquire", "mail")
	r = w.want(2, "acquire", "mail")
	if !regexp.MustCompile(`^refused: 1 permit of mail, to be had in (1h0m0(\.00[12])?s|59m59\.\d+s); 0 left of 2/1h\n$`).MatchString(r.stdout) {
		t.Errorf("stdout is %q", r.stdout)
	}
	if r.stderr != "" {
		t.Errorf("stderr is %q, want nothing: a refusal is no error", r.stderr)
	}
}

func TestAcquire_takes_flags_before_and_after_the_name(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for i, args := range [][]string{
		{"acquire", "-n", "2", "-rate", "20/1h", "a"},
		{"acquire", "a", "-n", "2", "-rate", "20/1h"},
		{"acquire", "-n", "2", "a", "-rate", "20/1h"},
		{"acquire", "--n", "2", "a", "--rate=20/1h"},
		{"acquire", "-n=2", "-rate=20/1h", "--", "a"},
	} {
		w.want(0, args...)
		if got, want := w.available("a"), int64(20-2*(i+1)); got != want {
			t.Errorf("after %q: %d available, want %d", args, got, want)
		}
	}
}

func TestAcquire_json(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	allowed := object(t, w.want(0, "acquire", "mail", "-rate", "3/1h", "-n", "3", "-o", "json").stdout)
	receipt, _ := allowed["receipt"].(string)
	if !regexp.MustCompile(`^[0-9a-f]{40}$`).MatchString(receipt) {
		t.Errorf("receipt is %q, want 40 hexadecimal digits", receipt)
	}
	wantFields(t, allowed, map[string]any{
		"limiter": "mail", "allowed": true, "permits": 3.0, "remaining": 0.0, "retry_after_ms": 0.0, "waited_ms": 0.0, "receipt": receipt,
	})

	refused := object(t, w.want(2, "acquire", "-o", "json", "mail").stdout)
	retry, _ := refused["retry_after_ms"].(float64)
	if hour := 3_600_000.0; retry < hour-10_000 || retry > hour+2 { // the ledger rounds up, and so do we
		t.Errorf("retry_after_ms is %v, want about an hour", retry)
	}
	wantFields(t, refused, map[string]any{
		"limiter": "mail", "allowed": false, "permits": 1.0, "remaining": 0.0, "retry_after_ms": retry, "waited_ms": 0.0, "receipt": "",
	})
}

// wantFields checks that an object has these fields and no others.
func wantFields(t *testing.T, got, want map[string]any) {
	t.Helper()
	for name, value := range want {
		if got[name] != value {
			t.Errorf("%s is %v, want %v", name, got[name], value)
		}
	}
	for name := range got {
		if _, ok := want[name]; !ok {
			t.Errorf("there is a field %s, want none", name)
		}
	}
}

func TestAcquire_receipt_gives_back_what_was_taken(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	text, _ := object(t, w.want(0, "acquire", "mail", "-rate", "3/1h", "-n", "2", "-o", "json").stdout)["receipt"].(string)
	receipt, err := sluice.ParseReceipt(text)
	if err != nil {
		t.Fatal(err)
	}
	if freed, err := w.client.Limiter("mail").Refund(t.Context(), receipt); freed != 2 || err != nil {
		t.Errorf("Refund = %d, %v, want 2", freed, err)
	}
}

func TestAcquire_waits_for_its_turn(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.want(0, "acquire", "mail", "-rate", "1/300ms")
	answer := object(t, w.want(0, "acquire", "mail", "-wait", "10s", "-o", "json").stdout)
	if waited, _ := answer["waited_ms"].(float64); waited < 1 || waited > 5_000 {
		t.Errorf("waited_ms is %v, want up to 300, or a little more", answer["waited_ms"])
	}
	if r := w.want(0, "acquire", "mail", "-wait", "10s"); !strings.Contains(r.stdout, "allowed: 1 permit of mail after ") {
		t.Errorf("stdout is %q, want how long it took", r.stdout)
	}
}

func TestAcquire_is_refused_at_once_when_its_turn_comes_too_late(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.want(0, "acquire", "mail", "-rate", "1/1h")
	begin := time.Now()
	r := w.want(2, "acquire", "mail", "-wait", "30s")
	if took := time.Since(begin); took > time.Second {
		t.Errorf("it took %v, want to know at once", took)
	}
	if !strings.Contains(r.stdout, "to be had in") {
		t.Errorf("stdout is %q, want when to try again", r.stdout)
	}
	if n := w.available("mail"); n != 0 {
		t.Errorf("%d available, want 0", n)
	}
}

func TestAcquire_rate_never_changes_a_limiter_that_has_one(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.want(0, "limiter", "set", "mail", "-rate", "3/1h", "-keep-alive", "2h")
	r := w.want(0, "acquire", "mail", "-rate", "100/1s", "-mode", "client", "-n", "2")
	want := sluice.Config{Rate: sluice.Per(3, time.Hour), KeepAlive: 2 * time.Hour}
	if got := w.config("mail"); got != want {
		t.Errorf("the configuration is %v, want %v as before", got, want)
	}
	if n := w.available("mail"); n != 1 {
		t.Errorf("%d available, want 1: what was used is not forgotten", n)
	}
	if !strings.Contains(r.stderr, "mail has the rate 3/1h already and keeps it") {
		t.Errorf("stderr is %q, want a note that the rate is another one", r.stderr)
	}
	if r := w.want(0, "acquire", "mail", "-rate", "3/1h"); r.stderr != "" {
		t.Errorf("stderr is %q, want nothing when the rate is the same", r.stderr)
	}
}

func TestAcquire_rate_does_not_configure_what_it_cannot_grant(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	text := complaint(t, w.run("acquire", "mail", "-rate", "3/1h", "-n", "4"))
	if !strings.Contains(text, "ask for at most 3") {
		t.Errorf("stderr is %q, want how many can be had", text)
	}
	if exists, err := w.client.Limiter("mail").Exists(t.Context()); exists || err != nil {
		t.Errorf("Exists = %t, %v, want no limiter", exists, err)
	}
}

func TestAcquire_more_than_the_rate(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.want(0, "limiter", "set", "mail", "-rate", "3/1h")
	text := complaint(t, w.run("acquire", "mail", "-n", "4", "-wait", "1h"))
	if want := "sluice: limiter \"mail\": 4 permits at once can never be had under a rate of 3/1h"; !strings.HasPrefix(text, want) {
		t.Errorf("stderr is %q, want %q…", text, want)
	}
}

func TestAcquire_without_a_rate_says_how_to_give_it_one(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	text := complaint(t, w.run("acquire", "mail"))
	if want := `limiter "mail" has no rate yet: give it one with -rate, or with: sluice limiter set mail -rate 3/5s`; !strings.Contains(text, want) {
		t.Errorf("stderr is %q, want %q", text, want)
	}
	if n := w.conn.Int(t, "DBSIZE"); n != 0 {
		t.Errorf("%d keys, want none", n)
	}
}

func TestAcquire_mode_goes_with_the_rate(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.want(0, "acquire", "api", "-rate", "1/1h", "-mode", "client", "-client", "ann")
	if got := w.config("api").Mode; got != sluice.PerClient {
		t.Errorf("mode %v, want client", got)
	}
	w.want(2, "acquire", "api", "-client", "ann")
	w.want(0, "acquire", "api", "-client", "ben")
	w.want(0, "acquire", "api") // somebody new
	w.want(0, "acquire", "api") // and somebody else
	w.want(0, "acquire", "mail", "-rate", "1/1h", "-mode", "overall")
	w.want(2, "acquire", "mail", "-mode", "client", "-client", "ben") // no effect without -rate
}

func TestAcquire_on_keys_that_are_no_limiter(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.conn.Str(t, "SET", "text", "hello")
	w.conn.Int(t, "HSET", "odd", "rate", "many", "interval", 1000, "type", 0)
	for _, args := range [][]string{
		{"acquire", "text"},
		{"acquire", "text", "-rate", "3/1h"},
		{"limiter", "set", "text", "-rate", "3/1h"},
		{"acquire", "odd"},
	} {
		text := complaint(t, w.run(args...))
		if !strings.Contains(text, "cannot be used: the key") {
			t.Errorf("%q: stderr is %q, want which key is wrong", args, text)
		}
	}
	if got := w.conn.Str(t, "GET", "text"); got != "hello" {
		t.Errorf("the string is %q now, want it as it was", got)
	}
	w.want(0, "limiter", "set", "odd", "-rate", "3/1h") // mends it
	w.want(0, "acquire", "odd")
}
