package cli_test

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "rewrite the golden files")

func TestHelp_is_the_same_however_it_is_asked_for(t *testing.T) {
	t.Parallel()
	tests := []struct {
		file string
		asks []string
	}{
		{"help.txt", []string{"", "help", "-h", "-help", "--help"}},
		{"help-acquire.txt", []string{"help acquire", "acquire -h", "acquire --help", "acquire mail -h", "acquire -n 2 -h mail", "-h acquire"}},
		{"help-limiter.txt", []string{"help limiter", "limiter -h"}},
		{"help-limiter-set.txt", []string{"help limiter set", "limiter set -h", "limiter set mail -rate 3/5s -help"}},
		{"help-limiter-list.txt", []string{"help limiter list", "limiter list -h"}},
		{"help-limiter-show.txt", []string{"help limiter show", "limiter show -h", "limiter show mail -h"}},
		{"help-limiter-ledger.txt", []string{"help limiter ledger", "limiter ledger mail --help"}},
		{"help-limiter-release.txt", []string{"help limiter release", "limiter release -n 2 mail -h"}},
		{"help-limiter-delete.txt", []string{"help limiter delete", "limiter delete mail -h"}},
		{"help-demo.txt", []string{"help demo", "demo -h"}},
	}
	for _, tt := range tests {
		for _, ask := range tt.asks {
			r := run(t.Context(), nowhere, strings.Fields(ask)...)
			if r.status != 0 || r.stderr != "" {
				t.Errorf("sluice %s: exit status %d, stderr %q, want 0 and nothing", ask, r.status, r.stderr)
			}
			golden(t, filepath.Join("testdata", tt.file), r.stdout)
		}
	}
}

func TestHelp_of_every_command_that_uses_Redis_has_an_example_and_says_how_it_ends(t *testing.T) {
	t.Parallel()
	for _, command := range []string{"acquire", "limiter", "limiter set", "limiter list", "limiter show", "limiter ledger", "limiter release", "limiter delete"} {
		text := run(t.Context(), nowhere, strings.Fields("help "+command)...).stdout
		for _, want := range []string{"\nExamples:\n  sluice " + command, "\nExit status: 0 "} {
			if !strings.Contains(text, want) {
				t.Errorf("help %s does not have %q", command, want)
			}
		}
	}
}

// golden compares with a file, or rewrites it. No line is wider than a terminal.
func golden(t *testing.T, path, got string) {
	t.Helper()
	for line := range strings.Lines(got) {
		if len(line) > 101 {
			t.Errorf("%s: a line of %d characters: %s", path, len(line), line)
		}
	}
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s differs; if that is right, run the test with -update:\n%s", path, got)
	}
}

func TestVersion(t *testing.T) {
	t.Parallel()
	r := run(t.Context(), nowhere, "version")
	if r.status != 0 || !strings.HasPrefix(r.stdout, "sluice ") || !strings.Contains(r.stdout, "go1.") {
		t.Errorf("exit status %d, stdout %q", r.status, r.stdout)
	}
	m := object(t, run(t.Context(), nowhere, "version", "-o", "json").stdout)
	for _, field := range []string{"version", "go", "platform"} {
		if s, _ := m[field].(string); s == "" {
			t.Errorf("%s is %v, want a text", field, m[field])
		}
	}
}
