package replay

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/sluice-rate/sluice"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// golden compares with a file in testdata, or rewrites it.
func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
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

func TestReplay_of_a_log_in_each_format(t *testing.T) {
	t.Parallel()
	limit := sluice.Limit{Rate: sluice.Per(5, time.Minute)}
	bucket := sluice.Limit{Rate: sluice.Per(6, time.Minute), Algorithm: sluice.TokenBucket, Burst: 3}
	tests := []struct {
		file, golden, key string
		limit             sluice.Limit
		ascii             bool
	}{
		{"combined.log", "combined-ip", "ip", limit, false},
		{"combined.log", "combined-agent", "ip/64+header:user-agent", limit, true},
		{"common.log", "common-ip", "ip", limit, false},
		{"common.log", "common-login", "ip+path:POST /login", bucket, false},
	}
	for _, tt := range tests {
		t.Run(tt.golden, func(t *testing.T) {
			t.Parallel()
			report, err := Run(t.Context(), Options{Files: []string{"testdata/" + tt.file}, Key: key(t, tt.key), Limit: tt.limit, Top: 5, ASCII: tt.ascii})
			if err != nil {
				t.Fatal(err)
			}
			golden(t, tt.golden+".txt", report.String()+"\n"+strings.Join(report.Notes, "\n")+"\n")
			b, err := json.MarshalIndent(report, "", "  ")
			if err != nil {
				t.Fatal(err)
			}
			golden(t, tt.golden+".json", string(b)+"\n")
		})
	}
}

// at is a line of a log at so many seconds after ten o'clock in a zone.
func at(seconds int, zone, address string) string {
	clock := time.Date(2026, 11, 30, 10, 0, 0, 0, time.UTC).Add(time.Duration(seconds) * time.Second)
	return fmt.Sprintf("%s - - [%s %s] \"GET / HTTP/1.1\" 200 1\n", address, clock.Format("02/Jan/2006:15:04:05"), zone)
}

// replayed replays a text, by address.
func replayed(t *testing.T, rate string, parts ...string) *Report {
	t.Helper()
	r, err := sluice.ParseRate(rate)
	if err != nil {
		t.Fatal(err)
	}
	report, err := Run(t.Context(), Options{
		Files: []string{Stdin}, Stdin: strings.NewReader(strings.Join(parts, "")), Key: key(t, "ip"), Limit: sluice.Limit{Rate: r}, Top: 10,
	})
	if err != nil {
		t.Fatal(err)
	}
	return report
}

func TestReplay_is_in_the_time_of_the_log(t *testing.T) {
	t.Parallel()
	a, b := "192.0.2.1", "192.0.2.2"
	v := replayed(t, "2/10s", at(0, "+0000", a), at(3, "+0000", a), at(4, "+0000", a), at(9, "+0000", a), at(9, "+0000", b), at(10, "+0000", a), at(11, "+0000", a))
	if v.Allowed != 4 || v.Refused != 3 || v.Keys != 2 || v.KeysRefused != 1 || v.Late != 0 {
		t.Errorf("%d allowed, %d refused, %d keys, %d refused, %d late, want 4, 3, 2, 1, 0", v.Allowed, v.Refused, v.Keys, v.KeysRefused, v.Late)
	}
	top := v.Top[0]
	ten := time.Date(2026, 11, 30, 10, 0, 0, 0, time.UTC)
	if top.Key != a || !top.FirstRefusedAt.Equal(ten.Add(4*time.Second)) || !top.LastRefusedAt.Equal(ten.Add(11*time.Second)) || top.LongestRetryAfter != 6000 {
		t.Errorf("the first is %+v, refused from %v to %v", top, top.FirstRefusedAt, top.LastRefusedAt)
	}
	if !v.From.Equal(ten) || !v.To.Equal(ten.Add(11*time.Second)) {
		t.Errorf("from %v to %v", v.From, v.To)
	}
}

func TestReplay_takes_an_older_line_as_of_the_later_time(t *testing.T) {
	t.Parallel()
	a := "192.0.2.1"
	v := replayed(t, "1/10s", at(10, "+0000", a), at(0, "+0000", a), at(19, "+0000", a), at(20, "+0000", a))
	if v.Late != 1 || v.Allowed != 2 || v.Top[0].LongestRetryAfter != 10_000 || len(v.Notes) != 0 {
		t.Errorf("%d late, %d allowed, longest wait %d ms, notes %q, want 1, 2, 10000 and none", v.Late, v.Allowed, v.Top[0].LongestRetryAfter, v.Notes)
	}
}

func TestReplay_heeds_time_zones(t *testing.T) {
	t.Parallel()
	a := "192.0.2.1"
	v := replayed(t, "1/10s", at(0, "+0100", a), at(3605, "+0200", a), at(15-3600, "+0000", a), at(-5*3600-1800+25, "-0430", a))
	if v.Allowed != 3 || v.Refused != 1 || v.Late != 0 {
		t.Errorf("%d allowed, %d refused, %d late, want 3, 1, 0", v.Allowed, v.Refused, v.Late)
	}
	if zone := v.From.Format("-0700"); zone != "+0100" || v.To.Format("15:04:05 -0700") != "10:00:25 +0100" {
		t.Errorf("from %v to %v, want all in the zone of the first line", v.From, v.To)
	}
}

func TestReplay_skips_what_it_cannot_read_and_says_where(t *testing.T) {
	t.Parallel()
	var bad []string
	for i := range 7 {
		bad = append(bad, fmt.Sprintf("nonsense %d\n", i))
	}
	v := replayed(t, "1/10s", at(0, "+0000", "192.0.2.1"), strings.Join(bad, ""), "\n", strings.Repeat("x", 2*maxLine), "\n", at(1, "+0000", "192.0.2.1"))
	if v.Lines != 11 || v.Skipped != 9 || v.Allowed != 1 || v.Refused != 1 {
		t.Errorf("%d lines, %d skipped, %d allowed, %d refused, want 11, 9, 1, 1", v.Lines, v.Skipped, v.Allowed, v.Refused)
	}
	if len(v.Notes) != maxNotes+1 || v.Notes[0] != "-:2: "+string(noTime) || v.Notes[maxNotes] != "4 more lines are not readable" {
		t.Errorf("notes %q", v.Notes)
	}
}

// packed is a text in gzip.
func packed(t *testing.T, text string) []byte {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	if _, err := io.WriteString(z, text); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// files writes files, and gives their names.
func files(t *testing.T, contents ...[]byte) (names []string) {
	t.Helper()
	dir := t.TempDir()
	for i, content := range contents {
		name := filepath.Join(dir, fmt.Sprint("access.log.", i))
		if err := os.WriteFile(name, content, 0o600); err != nil {
			t.Fatal(err)
		}
		names = append(names, name)
	}
	return names
}

// options are those of a replay of files, by address.
func options(t *testing.T, names ...string) Options {
	t.Helper()
	return Options{Files: names, Key: key(t, "ip"), Limit: sluice.Limit{Rate: sluice.Per(1, 10*time.Second)}, Top: 10}
}

func TestReplay_of_several_files_packed_or_not_is_one(t *testing.T) {
	t.Parallel()
	a := "192.0.2.1"
	names := files(t, packed(t, at(0, "+0000", a)), []byte(at(5, "+0000", a)), append(packed(t, at(10, "+0000", a)), packed(t, at(15, "+0000", a))...), nil)
	o := options(t, append(names, Stdin)...)
	o.Stdin = bytes.NewReader(packed(t, at(20, "+0000", a)))
	v, err := Run(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	if v.Lines != 5 || v.Allowed != 3 || v.Refused != 2 || len(v.Notes) != 0 {
		t.Errorf("%d lines, %d allowed, %d refused, notes %q, want 5, 3, 2 and none", v.Lines, v.Allowed, v.Refused, v.Notes)
	}
}

func TestReplay_notes_files_that_are_not_in_the_order_of_time(t *testing.T) {
	t.Parallel()
	a := "192.0.2.1"
	names := files(t, []byte(at(100, "+0000", a)), []byte(at(0, "+0000", a)+at(1, "+0000", a)), []byte(at(95, "+0000", a)))
	v, err := Run(t.Context(), options(t, names...))
	if err != nil {
		t.Fatal(err)
	}
	if len(v.Notes) != 1 || !strings.Contains(v.Notes[0], names[1]+" begins 1m40s before") || v.Late != 3 {
		t.Errorf("%d late, notes %q", v.Late, v.Notes)
	}
}

func TestReplay_errors_say_what_is_wrong_with_which_file(t *testing.T) {
	t.Parallel()
	gz := packed(t, strings.Repeat(at(0, "+0000", "192.0.2.1"), 100))
	flipped := bytes.Clone(gz)
	flipped[len(flipped)-6] ^= 0xff // in the checksum
	names := files(t, gz[:len(gz)-9], flipped, gz[:5], []byte("\x28\xb5\x2f\xfdzstd"), []byte("BZh91AY"), nil, []byte("\n\n"), []byte("nonsense\n"))
	for _, tt := range []struct{ name, want string }{
		{names[0], "access.log.0: it is a gzip file that ends too early"},
		{names[1], "access.log.1: it is a damaged gzip file"},
		{names[2], "access.log.2: it is a gzip file that ends too early"},
		{names[3], "use: zstd -dc " + names[3] + " | sluice replay - …"},
		{names[4], "use: bzip2 -dc"},
		{names[5], "there are no lines in " + names[5]},
		{names[6], "no line of " + names[6] + " can be read as Common or Combined Log Format: " + names[6] + ":1: the line is empty; a line should be like: 192.0.2.1"},
		{names[7], Example},
		{names[7] + "nowhere", "access.log.7nowhere: no such file"},
		{filepath.Dir(names[0]), "is a directory"},
	} {
		if _, err := Run(t.Context(), options(t, tt.name)); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %q", tt.name, err, tt.want)
		}
	}
	o := options(t, Stdin)
	o.Stdin = iotest.ErrReader(errors.New("broken pipe"))
	if _, err := Run(t.Context(), o); err == nil || err.Error() != "standard input: broken pipe" {
		t.Errorf("standard input that breaks: %v", err)
	}
	o.Limit.Burst = 7
	if _, err := Run(t.Context(), o); !errors.Is(err, sluice.ErrInvalid) {
		t.Errorf("a burst of a sliding window: %v, want an InvalidError", err)
	}
}

func TestReplay_without_an_end_ends_with_the_context_and_reports(t *testing.T) {
	t.Parallel()
	r, w := io.Pipe()
	defer w.Close()
	go io.WriteString(w, at(0, "+0000", "192.0.2.1")+at(1, "+0000", "192.0.2.1"))
	ctx, cancel := context.WithCancel(t.Context())
	o := options(t, Stdin)
	o.Stdin = r
	v, err := run(ctx, o, &interrupted{after: 2, by: cancel})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("the error is %v, want that of the context", err)
	}
	if v == nil || v.Lines != 2 || v.Allowed != 2 {
		t.Errorf("the report is %+v, want that of both lines", v)
	}
}

// interrupted allows everything, and is interrupted after some requests, with what comes next still to be read.
type interrupted struct {
	after int
	by    context.CancelFunc
}

func (i *interrupted) decide(context.Context, string, time.Time) (bool, time.Duration, error) {
	if i.after--; i.after == 0 {
		i.by()
	}
	return true, 0, nil
}

func TestReplay_counts_lines_without_a_key_apart(t *testing.T) {
	t.Parallel()
	o := options(t, "testdata/common.log")
	o.Key = key(t, "host")
	v, err := Run(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	if v.Unmatched == 0 || v.Unmatched+v.Skipped != v.Lines || v.Allowed+v.Refused+v.Keys != 0 || len(v.Timeline) != 0 {
		t.Errorf("%+v", v)
	}
}

func TestReplay_notes_a_line_that_is_later_than_most(t *testing.T) {
	t.Parallel()
	a := "192.0.2.1"
	v := replayed(t, "1/s", at(0, "+0000", a), at(1_000_000, "+0000", a), at(1, "+0000", a), at(2, "+0000", a), at(3, "+0000", a))
	if len(v.Notes) != 1 || !strings.Contains(v.Notes[0], "most lines are older than -:2,") || v.Late != 3 {
		t.Errorf("%d late, notes %q", v.Late, v.Notes)
	}
}

func TestReplay_notes_an_interval_that_is_finer_than_the_log(t *testing.T) {
	t.Parallel()
	for rate, want := range map[string]bool{"1/999ms": true, "1/s": false} {
		v := replayed(t, rate, at(0, "+0000", "192.0.2.1"))
		if got := strings.Contains(strings.Join(v.Notes, ""), "whole seconds"); got != want {
			t.Errorf("%s: notes %q", rate, v.Notes)
		}
	}
}
