package cli_test

import (
	"strings"
	"testing"
)

func TestCompletion(t *testing.T) {
	t.Parallel()
	all := strings.Join(commands(t), " ")
	tests := []struct {
		typed string // up to the cursor; a space at the end begins a new word
		want  string // what is offered
	}{
		{"", all},
		{"lim", all}, // the shell takes those that fit
		{"limiter", all},
		{"-", "-help"},
		{"acquire -", "-n -rate -mode -wait -client -redis -o"},
		{"acquire mail -r", "-n -rate -mode -wait -client -redis -o"},
		{"acquire mail -n 2 -", "-n -rate -mode -wait -client -redis -o"},
		{"acquire mail -rate ", ""},
		{"acquire mail -mode ", "overall client"},
		{"acquire mail -o js", "text json"},
		{"acquire mail --o ", "text json"},
		{"acquire mail ", ""},
		{"limiter ", "set list show ledger release delete"},
		{"limiter s", "set list show ledger release delete"},
		{"limiter set mail -k", "-rate -mode -keep-alive -update -redis -o"},
		{"limiter set -update -", "-rate -mode -keep-alive -update -redis -o"},
		{"limiter list -", "-match -redis -o"},
		{"limiter show mail -", "-redis -o"},
		{"limiter show mail -o ", "text json"},
		{"limiter ledger mail -c", "-client -redis -o"},
		{"limiter release mail -", "-n -receipt -client -redis -o"},
		{"limiter delete mail -", "-redis -o"},
		{"limiter delete mail -- -", ""},
		{"limiter delete mail", ""},
		{"help ", all},
		{"help limiter ", "set list show ledger release delete"},
		{"completion ", "bash zsh fish pwsh"},
	}
	for _, tt := range tests {
		words := strings.Split(tt.typed, " ")
		r := run(t.Context(), nowhere, append(words, "--generate-shell-completion")...)
		if r.status != 0 || r.stderr != "" {
			t.Errorf("%q: exit status %d, stderr %q, want nothing", tt.typed, r.status, r.stderr)
		}
		var got []string
		for line := range strings.Lines(r.stdout) {
			word, _, _ := strings.Cut(strings.TrimSpace(line), ":")
			got = append(got, word)
		}
		if strings.Join(got, " ") != tt.want {
			t.Errorf("%q: %q is offered, want %q", tt.typed, got, tt.want)
		}
	}
	for _, shell := range []string{"bash", "zsh", "fish", "pwsh"} {
		if r := run(t.Context(), nowhere, "completion", shell); r.status != 0 || r.stdout == "" || r.stderr != "" {
			t.Errorf("completion %s: exit status %d, %d bytes, stderr %q", shell, r.status, len(r.stdout), r.stderr)
		}
	}
}

// commands are the commands of the first level, by the help.
func commands(t *testing.T) (names []string) {
	t.Helper()
	_, list, _ := strings.Cut(run(t.Context(), nowhere, "help").stdout, "\nCommands:\n")
	list, _, _ = strings.Cut(list, "\n\n")
	for line := range strings.Lines(list) {
		names = append(names, strings.Fields(line)[0])
	}
	if len(names) < 6 {
		t.Fatalf("the help has the commands %q, want more", names)
	}
	return names
}
