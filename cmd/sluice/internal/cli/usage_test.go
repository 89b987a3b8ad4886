package cli_test

import (
	"strings"
	"testing"
)

// badUsage is arguments that can never be right, and what is said about them.
var badUsage = []struct {
	args string
	want string
}{
	{"acquire", "acquire needs a NAME; see: sluice help acquire"},
	{"acquire mail other", `after the name "mail" there is "other"`},
	{"acquire mail -n", "-n needs a value; see: sluice help acquire"},
	{"acquire mail -n x", `-n is "x", but must be a whole number`},
	{"acquire mail -n 1.5", `-n is "1.5", but must be a whole number`},
	{"acquire mail -n 0", "permits is 0, but must be 1 to 4294967295"},
	{"acquire mail -n -3", "permits is -3, but must be 1 to 4294967295"},
	{"acquire mail -n 99999999999999999999", `-n is "99999999999999999999"`},
	{"acquire mail -rate 3x", `rate is "3x", but must be permits, a slash and an interval, such as "3/5s"`},
	{"acquire mail -rate 0/5s", "rate.permits is 0"},
	{"acquire mail -rate 3/0s", "rate.interval is 0s"},
	{"acquire mail -rate=", `rate is ""`},
	{"acquire mail -mode both", `mode is "both", but must be "overall" or "client"`},
	{"acquire mail -wait 10", `-wait is "10", but must be a duration with a unit, such as "10s"`},
	{"acquire mail -wait -1s", `-wait is "-1s"`},
	{"acquire mail -o xml", `-o is "xml", but must be "text" or "json"`},
	{"acquire mail -client=", `client id is "", but must be not empty`},
	{"acquire mail -redis=", "-redis: the Redis URL"},
	{"acquire mail -redis http://127.0.0.1", `its scheme is "http"`},
	{"acquire mail -bogus", "unknown flag -bogus; see: sluice help acquire"},
	{"acquire mail -keep-alive 1h", "unknown flag -keep-alive"},
	{"acquire a}b", `name is "a}b"`},
	{"limiter", "limiter needs a command; see: sluice help limiter"},
	{"limiter get", `unknown command "limiter get"; see: sluice help limiter`},
	{"limiter set -rate 3/5s", "limiter set needs a NAME; see: sluice help limiter set"},
	{"limiter set mail", "which rate? say it with -rate, such as -rate 3/5s; see: sluice help limiter set"},
	{"limiter set mail -rate 3", `rate is "3"`},
	{"limiter set mail -rate 3/5s -mode x", `mode is "x"`},
	{"limiter set mail -rate 3/5s -keep-alive 1", `-keep-alive is "1"`},
	{"limiter set mail -rate 3/5s -keep-alive 1s", "keep-alive is 1s, but must be 0, or at least the interval (5s)"},
	{"limiter set mail -rate 3/5s -n 1", "unknown flag -n"},
	{"limiter set mail -update", "what is to change? say it with -rate, -mode or -keep-alive; see: sluice help limiter set"},
	{"limiter set mail -update -rate 0/5s", "rate.permits is 0"},
	{"limiter list mail", `limiter list takes no arguments, but there is "mail"`},
	{"limiter list -match", "-match needs a value"},
	{"limiter list -o yaml", `-o is "yaml"`},
	{"limiter show", "limiter show needs a NAME; see: sluice help limiter show"},
	{"limiter show a b", `after the name "a" there is "b"`},
	{"limiter show mail -o yaml", `-o is "yaml"`},
	{"limiter show mail -n 1", "unknown flag -n; see: sluice help limiter show"},
	{"limiter ledger", "limiter ledger needs a NAME; see: sluice help limiter ledger"},
	{"limiter ledger mail -o yaml", `-o is "yaml"`},
	{"limiter delete", "limiter delete needs a NAME; see: sluice help limiter delete"},
	{"limiter delete mail -force", "unknown flag -force"},
	{"limiter release", "limiter release needs a NAME; see: sluice help limiter release"},
	{"limiter release mail", "which permits? say how many with -n, or which grant with -receipt; see: sluice help limiter release"},
	{"limiter release mail -n 0", "permits is 0, but must be 1 to 4294967295"},
	{"limiter release mail -n x", `-n is "x", but must be a whole number`},
	{"limiter release mail -receipt 12", `receipt is "12", but must be 40 hexadecimal digits`},
	{"limiter release mail -receipt=", `-receipt is "", but must be 40 hexadecimal digits`},
	{"limiter release a}b -n 1", `name is "a}b"`},
	{"demo now", `demo takes no arguments, but there is "now"`},
	{"demo -fast", "unknown flag -fast; see: sluice help demo"},
	{"version 2", `version takes no arguments, but there is "2"`},
	{"version -o yaml", `-o is "yaml"`},
	{"acqire mail", `unknown command "acqire"; see: sluice help`},
	{"-bogus", "unknown flag -bogus; see: sluice help"},
	{"help acqire", `no help on "acqire"`},
	{"help limiter get", `no help on "limiter get"`},
	{"completion tcsh", `unknown command "completion tcsh"`},
}

func TestBadUsage_is_an_error_that_says_what_is_wrong_and_changes_nothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	before := w.conn.ReplOffset(t)
	for _, tt := range badUsage {
		text := complaint(t, w.run(strings.Fields(tt.args)...))
		if !strings.Contains(text, tt.want) {
			t.Errorf("sluice %s: stderr is %q, want %q in it", tt.args, text, tt.want)
		}
	}
	if after := w.conn.ReplOffset(t); after != before {
		t.Errorf("%d bytes were written to Redis, want none", after-before)
	}
}

func TestName_may_be_like_a_word_of_ours(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, name := range []string{"help", "h", "acquire", "completion", "user:{42}", "ünï 漢", " "} {
		w.want(0, "acquire", name, "-rate", "1/1h")
		if n := w.available(name); n != 0 {
			t.Errorf("%q: %d available, want 0", name, n)
		}
	}
	w.want(0, "acquire", "-rate", "1/1h", "--", "-n")
	if n := w.available("-n"); n != 0 {
		t.Errorf("-n: %d available, want 0", n)
	}
}
