package cli_test

import (
	"bytes"
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sluice-rate/sluice/cmd/sluice/internal/cli"
)

// log is three requests of one address within a second, and a line that is none.
const log = `192.0.2.1 - ann [30/Nov/2026:10:00:00 +0100] "GET /a?b HTTP/1.1" 200 1 "-" "curl/8"
192.0.2.1 - - [30/Nov/2026:10:00:00 +0100] "GET /a HTTP/1.1" 200 1 "-" "curl/8"
nonsense
192.0.2.1 - - [30/Nov/2026:10:00:00 +0100] "POST /login HTTP/1.1" 200 1 "-" "Mozilla/5.0"
`

// replay runs the command with a log at its standard input.
func replay(ctx context.Context, in io.Reader, stderrIsTerminal bool, args ...string) result {
	var stdout, stderr bytes.Buffer
	status := cli.Run(ctx, cli.Env{
		Args:           append([]string{"replay"}, args...),
		Stdin:          in,
		Stdout:         &stdout,
		Stderr:         &stderr,
		LookupEnv:      func(string) (string, bool) { return "", false },
		StderrTerminal: stderrIsTerminal,
	})
	return result{status, stdout.String(), stderr.String()}
}

func TestReplay_answers_as_text_and_as_one_object(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "access.log")
	if err := os.WriteFile(path, []byte(log), 0o600); err != nil {
		t.Fatal(err)
	}
	note := "sluice: note: " + path + ":3: there is no time in brackets before a quoted request, such as [30/Nov/2026:10:00:00 +0100]\n"
	r := replay(t.Context(), nil, false, path, "-rate", "2/60s")
	if r.status != 0 || r.stderr != note {
		t.Errorf("exit status %d, stderr %q, want 0 and %q", r.status, r.stderr, note)
	}
	for _, want := range []string{"2/1m for each ip, in a sliding window", "\n  allowed  2  66.7 %\n", "\n  refused  1  33.3 %\n", "\n192.0.2.1         3        1", "░█"} {
		if !strings.Contains(r.stdout, want) {
			t.Errorf("%q is not in:\n%s", want, r.stdout)
		}
	}

	r = replay(t.Context(), nil, false, "-rate", "2/60s", path, "-o", "json")
	if r.status != 0 || r.stderr != note {
		t.Errorf("-o json: exit status %d, stderr %q, want 0 and %q", r.status, r.stderr, note)
	}
	m := object(t, r.stdout)
	for field, want := range map[string]any{"lines": 4.0, "skipped": 1.0, "allowed": 2.0, "refused": 1.0, "unmatched": 0.0, "keys": 1.0, "keys_refused": 1.0,
		"from": "2026-11-30T10:00:00+01:00", "rate": "2/1m", "algorithm": "sliding"} {
		if m[field] != want {
			t.Errorf("%s is %v, want %v", field, m[field], want)
		}
	}
}

func TestReplay_has_keys_and_algorithms(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		args               string
		allowed, unmatched float64
	}{
		{"-rate 1/60s", 1, 0},
		{"-rate 1/60s -key ip+path", 2, 0},
		{"-rate 1/60s -key path:/{a}", 2, 0},
		{"-rate 1/60s -key user", 1, 2},
		{"-rate 1/60s -key header:user-agent", 2, 0},
		{"-rate 1/60s -algorithm bucket", 1, 0},
		{"-rate 1/60s -algorithm bucket -burst 2", 2, 0},
		{"-rate 2/60s -algorithm fixed", 2, 0},
		{"-rate 2/60s -algorithm aligned", 2, 0},
		{"-rate 2/60s -algorithm sliding -top 0", 2, 0},
	} {
		r := replay(t.Context(), strings.NewReader(log), false, append(strings.Fields(tt.args), "-", "-o", "json")...)
		if r.status != 0 {
			t.Errorf("%s: exit status %d, stderr %q", tt.args, r.status, r.stderr)
			continue
		}
		if m := object(t, r.stdout); m["allowed"] != tt.allowed || m["unmatched"] != tt.unmatched {
			t.Errorf("%s: %v allowed, %v unmatched, want %v and %v", tt.args, m["allowed"], m["unmatched"], tt.allowed, tt.unmatched)
		}
	}
}

func TestReplay_notes_that_no_line_has_the_key(t *testing.T) {
	t.Parallel()
	r := replay(t.Context(), strings.NewReader(log), false, "-", "-rate", "1/s", "-key", "host")
	if r.status != 0 || !strings.Contains(r.stderr, "sluice: note: no line has the key host, so nothing was limited") {
		t.Errorf("exit status %d, stderr %q", r.status, r.stderr)
	}
	if strings.Contains(r.stdout, "each row") {
		t.Errorf("a chart of nothing:\n%s", r.stdout)
	}
}

func TestReplay_errors_are_one_line_that_helps(t *testing.T) {
	t.Parallel()
	for args, want := range map[string]string{
		"":                                       "which log? replay needs a FILE, or - for the standard input; see: sluice help replay",
		"-":                                      "which rate? say it with -rate, such as -rate 5/60s; see: sluice help replay",
		"- -rate 5":                              `rate is "5"`,
		"- -rate 0/60s":                          "rate.permits is 0",
		"- -rate 5/s -key x":                     `-key is "x", but must be ip, ip/64, user, method, path, path:PATTERN`,
		"- -rate 5/s -top x":                     `-top is "x", but must be a whole number`,
		"- -rate 5/s -top -1":                    "-top is -1, but must be 0 to 100000",
		"- -rate 5/s -burst 2":                   "-burst goes with -algorithm bucket",
		"- -rate 5/s -algorithm bucket -burst 0": "-burst is 0, but must be 1 to",
		"- -rate 5/s -algorithm leaky":           `algorithm is "leaky", but must be sliding, bucket, fixed or aligned`,
		"- -rate 5/s -o xml":                     `-o is "xml"`,
		"- -rate 5/s -n 1":                       "unknown flag -n",
		"nowhere.log -rate 5/s":                  "nowhere.log: no such file",
		"- -rate 5/s":                            "there are no lines in -",
	} {
		if text := complaint(t, replay(t.Context(), strings.NewReader(""), false, strings.Fields(args)...)); !strings.Contains(text, want) {
			t.Errorf("replay %s: stderr is %q, want %q in it", args, text, want)
		}
	}
	text := complaint(t, replay(t.Context(), strings.NewReader("{}\n{}\n"), false, "-", "-rate", "5/s"))
	if want := `a line should be like: 192.0.2.1 - - [30/Nov/2026:10:00:00 +0100] "GET /index.html HTTP/1.1" 200`; !strings.Contains(text, want) {
		t.Errorf("stderr is %q, want %q in it", text, want)
	}
}

func TestReplay_interrupted_answers_for_what_was_read(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	r, w := io.Pipe()
	defer w.Close()
	go func() {
		io.WriteString(w, log)
		io.WriteString(w, strings.Repeat(log, 10_000)) // is read only after the first has been given away
		cancel()
	}()
	got := replay(ctx, r, false, "-", "-rate", "2/60s", "-o", "json")
	if got.status != 1 || !strings.HasSuffix(got.stderr, "sluice: interrupted; the answer is that of the lines until then\n") {
		t.Errorf("exit status %d, stderr %q, want 1 and that it was interrupted", got.status, got.stderr)
	}
	if m := object(t, got.stdout); m["allowed"] != 2.0 {
		t.Errorf("%v allowed, want 2", m["allowed"])
	}

	cancel()
	if text := complaint(t, replay(ctx, strings.NewReader(log), false, "-", "-rate", "2/60s")); text != "sluice: interrupted\n" && !strings.Contains(text, "the answer is") {
		t.Errorf("stderr is %q", text)
	}
}

func TestReplay_help(t *testing.T) {
	t.Parallel()
	for _, ask := range []string{"help replay", "replay -h", "replay access.log -rate 5/60s --help"} {
		r := run(t.Context(), nowhere, strings.Fields(ask)...)
		if r.status != 0 || r.stderr != "" {
			t.Errorf("sluice %s: exit status %d, stderr %q, want 0 and nothing", ask, r.status, r.stderr)
		}
		golden(t, filepath.Join("testdata", "help-replay.txt"), r.stdout)
	}
}
