package main

import (
	"bytes"
	"io"
	"os"
	"strings"
	"testing"
)

func TestReplay_of_a_log_without_an_end_answers_when_it_is_interrupted(t *testing.T) {
	t.Parallel()
	cmd, stderr := program(t, "", "replay", "-", "-rate", "2/1m", "-o", "json")
	var stdout bytes.Buffer
	cmd.Stdout = &stdout
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	// More than a pipe holds, so that when all is written it has read some, and waits for more soon.
	line := "192.0.2.1 - - [30/Nov/2026:10:00:00 +0100] \"GET / HTTP/1.1\" 200 1\n"
	if _, err := io.WriteString(stdin, strings.Repeat(line, 20_000)); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	if got := status(t, cmd.Wait()); got != 1 {
		t.Errorf("exit status %d, want 1", got)
	}
	if want := "sluice: interrupted; the answer is that of the lines until then\n"; stderr.String() != want {
		t.Errorf("stderr is %q, want %q", stderr, want)
	}
	if !strings.Contains(stdout.String(), `"allowed":2,"refused":`) {
		t.Errorf("stdout is %q, want that 2 were allowed", &stdout)
	}
}
