package replay

import (
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"
)

// split is the lines of a text; one that is too long is "LONG".
func split(t *testing.T, r io.Reader) (got []string, err error) {
	t.Helper()
	l := newLines(r)
	for {
		line, long, err := l.next()
		if err != nil {
			return got, err
		}
		if long {
			line = []byte("LONG")
		}
		got = append(got, string(line))
		if len(l.buf) > maxLine {
			t.Fatalf("the buffer has %d bytes, want at most %d", len(l.buf), maxLine)
		}
	}
}

func TestLines_are_split_however_they_come(t *testing.T) {
	t.Parallel()
	full, over := strings.Repeat("f", maxLine-1), strings.Repeat("o", maxLine+1)
	tests := []struct {
		name, text string
		want       []string
	}{
		{"nothing", "", nil},
		{"one", "a\n", []string{"a"}},
		{"the last without its end", "a\nb", []string{"a", "b"}},
		{"empty lines", "\n\na\n", []string{"", "", "a"}},
		{"of Windows", "a\r\nb\r\n", []string{"a", "b"}},
		{"as long as may be", "a\n" + full + "\nb\n", []string{"a", full, "b"}},
		{"too long", "a\n" + over + "\nb\n" + over + over + over + "\nc\n", []string{"a", "LONG", "b", "LONG", "c"}},
		{"too long, and the last", "a\n" + over, []string{"a", "LONG"}},
	}
	for _, tt := range tests {
		for _, way := range []struct {
			name string
			of   func(io.Reader) io.Reader
		}{
			{"at once", func(r io.Reader) io.Reader { return r }},
			{"in halves", iotest.HalfReader},
			{"with the end", iotest.DataErrReader},
		} {
			t.Run(tt.name+", "+way.name, func(t *testing.T) {
				got, err := split(t, way.of(strings.NewReader(tt.text)))
				if err != io.EOF {
					t.Errorf("the end is %v, want io.EOF", err)
				}
				if strings.Join(got, "\n") != strings.Join(tt.want, "\n") || len(got) != len(tt.want) {
					t.Errorf("%d lines, want %d", len(got), len(tt.want))
				}
			})
		}
	}
	if got, _ := split(t, iotest.OneByteReader(strings.NewReader("ab\ncd\r\n\ne"))); strings.Join(got, "|") != "ab|cd||e" {
		t.Errorf("byte by byte: %q", got)
	}
}

func TestLines_before_an_error_are_read(t *testing.T) {
	t.Parallel()
	broken := errors.New("broken")
	got, err := split(t, io.MultiReader(strings.NewReader("a\nb\nc"), iotest.ErrReader(broken)))
	if err != broken || strings.Join(got, " ") != "a b" {
		t.Errorf("%q and %v, want a, b and the error", got, err)
	}
}
