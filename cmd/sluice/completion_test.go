package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestCompletion_in_a_shell has each shell complete a line by the script that the program prints for it.
func TestCompletion_in_a_shell(t *testing.T) {
	t.Parallel()
	shells := map[string]struct {
		// ask is a shell's program that sources the script of %[1]s, completes the words %[2]s, and prints what is offered.
		ask  string
		list func(words []string) string
	}{
		"bash": {
			`source %[1]s; COMP_WORDS=(%[2]s); COMP_CWORD=$((${#COMP_WORDS[@]}-1)); _sluice; printf '%%s\n' "${COMPREPLY[@]}"`,
			quoted,
		},
		"zsh": {
			`compdef() { :; }; _describe() { printf '%%s\n' "${offers[@]%%%%:*}" }; source %[1]s; words=(%[2]s); CURRENT=${#words}; _sluice`,
			quoted,
		},
		"fish": {
			`source %[1]s; complete -C %[2]s | string replace -r '\t.*' ''`,
			func(words []string) string { return "'" + strings.Join(words, " ") + "'" },
		},
	}
	for shell, how := range shells {
		t.Run(shell, func(t *testing.T) {
			t.Parallel()
			bin, err := exec.LookPath(shell)
			if err != nil {
				t.Skipf("there is no %s on this machine", shell)
			}
			dir := installed(t)
			script := filepath.Join(dir, "script")
			cmd, _ := program(t, "", "completion", shell)
			out, err := cmd.Output()
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(script, out, 0o600); err != nil {
				t.Fatal(err)
			}
			for _, tt := range []struct{ words, want []string }{
				{[]string{"sluice", "limiter", "sh"}, []string{"show"}},
				{[]string{"sluice", "limiter", "set", "order:submit", "-up"}, []string{"-update"}},
				{[]string{"sluice", "limiter", "show", "a b; touch '" + dir + "/ran'", "-red"}, []string{"-redis"}},
				{[]string{"sluice", "acquire", "mail", "-mode", ""}, []string{"overall", "client"}},
				{[]string{"sluice", "help", "limiter", "del"}, []string{"delete"}},
				{[]string{"sluice", "acquire", "mail", "-wait", ""}, nil},
			} {
				if strings.Contains(strings.Join(tt.words, ""), "touch") && shell == "fish" {
					continue // its words are read from a line, which has to be well formed
				}
				var stderr bytes.Buffer
				ask := exec.CommandContext(t.Context(), bin, "-c", fmt.Sprintf(how.ask, script, how.list(tt.words)))
				ask.Env = append(os.Environ(), "PATH="+dir+":"+os.Getenv("PATH"), "HOME="+dir)
				ask.Dir, ask.Stderr = t.TempDir(), &stderr
				out, _ := ask.Output() // its status says whether the last word could be completed
				if stderr.Len() > 0 {
					t.Errorf("%q: stderr %q, want nothing", tt.words, &stderr)
				}
				var got []string
				for word := range strings.FieldsSeq(string(out)) { // zsh's own function would take those that fit
					if strings.HasPrefix(word, tt.words[len(tt.words)-1]) {
						got = append(got, word)
					}
				}
				if strings.Join(got, " ") != strings.Join(tt.want, " ") && strings.Join(got, " ") != "client overall" {
					t.Errorf("%q: %q is offered, want %q", tt.words, got, tt.want)
				}
			}
			if _, err := os.Stat(filepath.Join(dir, "ran")); err == nil {
				t.Error("the shell has run a part of the line, want nothing but the program")
			}
		})
	}
}

// quoted is words as a shell reads them.
func quoted(words []string) string {
	all := make([]string, len(words))
	for i, word := range words {
		all[i] = "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
	}
	return strings.Join(all, " ")
}

// installed is a directory with the program in it, under its name.
func installed(t *testing.T) string {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	script := fmt.Sprintf("#!/bin/sh\nSLUICE_TEST_IS_PROGRAM=1 exec %s \"$@\"\n", quoted([]string{exe}))
	if err := os.WriteFile(filepath.Join(dir, "sluice"), []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	return dir
}
