package replay

import (
	"bytes"
	"strings"
	"testing"
	"time"
)

func TestProgress_says_how_far_it_is_and_how_long_it_will_take(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	now := time.Unix(0, 0)
	p := newProgress(&out, func() time.Time { return now }, 1000)
	step := func(d time.Duration, bytes int, lines int64) string {
		out.Reset()
		now = now.Add(d)
		p.lines += lines
		p.read(bytes)
		return out.String()
	}
	if got := step(400*time.Millisecond, 100, 10); got != "" {
		t.Errorf("it says %q at once, want nothing", got)
	}
	if got, want := step(1600*time.Millisecond, 100, 1990), "\r 20 %  2,000 lines, 1,000 a second; about 8s left"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if got := step(100*time.Millisecond, 100, 10); got != "" {
		t.Errorf("it says %q again within a moment", got)
	}
	if got, want := step(time.Second, 700, 0), "\r100 %  2,010 lines, 648 a second; about 0s left"; !strings.HasPrefix(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	out.Reset()
	if p.end(); strings.Trim(out.String(), "\r ") != "" || !strings.HasSuffix(out.String(), "\r") {
		t.Errorf("%q is left on the terminal", out.String())
	}
}

func TestProgress_of_what_has_no_known_end(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	now := time.Unix(0, 0)
	p := newProgress(&out, func() time.Time { return now }, 0)
	now, p.lines = now.Add(2*time.Second), 3000
	if p.read(100); out.String() != "\r3,000 lines, 1,500 a second" {
		t.Errorf("%q", out.String())
	}
}
