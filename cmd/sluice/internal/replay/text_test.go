package replay

import (
	"strings"
	"testing"
	"time"
	"unicode/utf8"
)

func TestText_of_any_log_has_a_chart_of_80_columns(t *testing.T) {
	t.Parallel()
	for _, span := range []time.Duration{0, time.Minute, 24 * time.Hour, 400 * 24 * time.Hour} {
		for _, ascii := range []bool{false, true} {
			v := &Report{From: time.Unix(0, 0).UTC(), ascii: ascii, TimelineStep: max(1000, span.Milliseconds()/20)}
			v.To = v.From.Add(span)
			for i := range 20 {
				v.Timeline = append(v.Timeline, Interval{v.From.Add(span * time.Duration(i) / 20), 123_456_789, int64(i)})
			}
			var b strings.Builder
			v.writeChart(&b)
			for line := range strings.Lines(b.String()) {
				if n := utf8.RuneCountInString(strings.TrimSuffix(line, "\n")); n > 80 {
					t.Errorf("%d columns: %s", n, line)
				}
				if ascii && len(line) != utf8.RuneCountInString(line) {
					t.Errorf("not ASCII: %s", line)
				}
			}
		}
	}
}

func TestBar_shows_whatever_is_not_zero(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		allowed, refused, most int64
		width, dark            int
	}{
		{0, 0, 100, 0, 0},
		{100, 0, 100, 40, 0},
		{0, 100, 100, 40, 40},
		{50, 50, 100, 40, 20},
		{1, 0, 1_000_000, 1, 0},
		{0, 1, 1_000_000, 1, 1},
		{1, 1, 1_000_000, 2, 1},
		{1_000_000, 1, 1_000_001, 40, 1},
		{1, 1_000_000, 1_000_001, 40, 39},
	} {
		if width, dark := bar(tt.allowed, tt.refused, tt.most, 40); width != tt.width || dark != tt.dark {
			t.Errorf("bar(%d, %d of %d) = %d, %d, want %d, %d", tt.allowed, tt.refused, tt.most, width, dark, tt.width, tt.dark)
		}
	}
}

func TestPrintable_leaves_nothing_for_the_terminal_to_obey(t *testing.T) {
	t.Parallel()
	if got, want := printable("a\x1b[2J\tb\xff ü 漢\u202e"), "a?[2J?b? ü 漢?"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestSpan_is_short(t *testing.T) {
	t.Parallel()
	for d, want := range map[time.Duration]string{
		0: "0s", 1500 * time.Millisecond: "1.5s", time.Minute: "1m", time.Hour: "1h", time.Hour + time.Second: "1h0m1s",
		90 * time.Minute: "1h30m", 10 * time.Minute: "10m", 84 * time.Hour: "3.5 days",
	} {
		if got := span(d); got != want {
			t.Errorf("span(%d) = %s, want %s", d, got, want)
		}
	}
}

func TestThousands(t *testing.T) {
	t.Parallel()
	for n, want := range map[int64]string{0: "0", 999: "999", 1000: "1,000", 123456: "123,456", 1234567: "1,234,567"} {
		if got := thousands(n); got != want {
			t.Errorf("thousands(%d) = %s, want %s", n, got, want)
		}
	}
}
