package main

import (
	"bufio"
	"bytes"
	"errors"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/sluice-rate/sluice"
	"github.com/sluice-rate/sluice/internal/redistest"
	"github.com/sluice-rate/sluice/redisengine"
)

// TestMain lets the test binary be the program, so that what only a process has is tested as well: its exit status, its
// signals, and that nothing else writes to stderr.
func TestMain(m *testing.M) {
	if os.Getenv("SLUICE_TEST_IS_PROGRAM") == "1" {
		main()
	}
	os.Exit(m.Run())
}

// program is the program as a process that has not begun yet.
func program(t *testing.T, url string, args ...string) (cmd *exec.Cmd, stderr *bytes.Buffer) {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd, stderr = exec.CommandContext(t.Context(), exe, args...), new(bytes.Buffer)
	cmd.Env = append(os.Environ(), "SLUICE_TEST_IS_PROGRAM=1", "SLUICE_REDIS_URL="+url)
	cmd.Stderr = stderr
	return cmd, stderr
}

// status is the exit status of what Wait or Run returned.
func status(t *testing.T, err error) int {
	t.Helper()
	exit, ok := errors.AsType[*exec.ExitError](err)
	switch {
	case err == nil:
		return 0
	case !ok:
		t.Fatal(err)
	}
	return exit.ExitCode()
}

func TestExitStatus(t *testing.T) {
	t.Parallel()
	url := redistest.Start(t).URL()
	tests := []struct {
		url    string
		args   string
		status int
		stderr string
	}{
		{url, "acquire mail -rate 1/1h", 0, ""},
		{url, "acquire mail", 2, ""},
		{url, "acquire other", 1, "sluice: limiter \"other\" has no rate yet"},
		{"redis://127.0.0.1:1", "acquire mail", 1, "sluice: the Redis at 127.0.0.1:1 does not answer"},
		{url, "limiter set mail -rate 2/1h", 0, ""},
		{url, "limiter show mail", 0, ""},
		{url, "limiter show other", 2, ""},
		{url, "limiter ledger other", 2, ""},
		{url, "limiter list", 0, ""},
		{url, "limiter set other -rate 2/1h -update", 2, ""},
		{url, "limiter release mail -n 1", 0, ""},
		{url, "limiter release other -n 1", 2, ""},
		{url, "limiter delete mail", 0, ""},
		{url, "limiter delete mail", 2, ""},
		{"redis://127.0.0.1:1", "limiter list", 1, "sluice: the Redis at 127.0.0.1:1 does not answer"},
		{"redis://127.0.0.1:1", "limiter show mail", 1, "sluice: the Redis at 127.0.0.1:1 does not answer"},
		{url, "help", 0, ""},
		{url, "nonsense", 1, "sluice: unknown command"},
	}
	for _, tt := range tests {
		cmd, stderr := program(t, tt.url, strings.Fields(tt.args)...)
		if got := status(t, cmd.Run()); got != tt.status {
			t.Errorf("sluice %s: exit status %d, want %d", tt.args, got, tt.status)
		}
		if text := stderr.String(); !strings.HasPrefix(text, tt.stderr) || strings.Count(text, "\n") != min(1, len(tt.stderr)) {
			t.Errorf("sluice %s: stderr is %q, want %q and nothing else", tt.args, text, tt.stderr)
		}
	}
}

func TestInterrupt_while_waiting(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t)
	limiter := sluice.New(redisengine.New(redistest.Dial(t, server.Addr()), nil)).Limiter("mail")
	if _, err := limiter.TrySetRate(t.Context(), sluice.Config{Rate: sluice.Per(2, time.Hour)}); err != nil {
		t.Fatal(err)
	}
	if _, err := limiter.TryAcquire(t.Context(), 1); err != nil {
		t.Fatal(err)
	}
	cmd, stderr := program(t, server.URL(), "acquire", "mail", "-n", "2", "-wait", "2h")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	available := func() int64 {
		n, err := limiter.Available(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	for deadline := time.Now().Add(5 * time.Second); available() > 0; time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("it does not wait in line")
		}
	}
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	if got := status(t, cmd.Wait()); got != 1 {
		t.Errorf("exit status %d, want 1", got)
	}
	if want := "sluice: interrupted; no permits of mail were taken\n"; stderr.String() != want {
		t.Errorf("stderr is %q, want %q", stderr, want)
	}
	if n := available(); n != 1 {
		t.Errorf("%d available, want the 1 that was free before", n)
	}
}

func TestDemo_prints_as_it_goes_and_can_be_interrupted(t *testing.T) {
	t.Parallel()
	cmd, stderr := program(t, "", "demo")
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(stdout)
	for lines.Scan() && !strings.Contains(lines.Text(), "ann  takes 1") {
	}
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	for lines.Scan() {
	}
	if got := status(t, cmd.Wait()); got != 1 || stderr.String() != "sluice: interrupted\n" {
		t.Errorf("exit status %d, stderr %q, want 1 and that it was interrupted", got, stderr)
	}
}
