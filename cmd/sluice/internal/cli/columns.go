package cli

import (
	"bufio"
	"encoding/json"
	"io"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/sluice-rate/sluice/cmd/sluice/internal/survey"
)

// columns writes rows of text in aligned columns. Columns are as wide as their widest cell so far, so that rows that
// are written together are aligned, and a long list need not be held.
type columns struct {
	w      io.Writer
	right  string // for each column 'r' if its cells are numbers, which stand at its right end
	widths []int
}

// write writes rows.
func (c *columns) write(rows ...[]string) error {
	for _, row := range rows {
		for i, cell := range row {
			if i == len(c.widths) {
				c.widths = append(c.widths, 0)
			}
			c.widths[i] = max(c.widths[i], utf8.RuneCountInString(cell))
		}
	}
	var b strings.Builder
	for _, row := range rows {
		var line strings.Builder
		for i, cell := range row {
			space := strings.Repeat(" ", c.widths[i]-utf8.RuneCountInString(cell))
			if i > 0 {
				line.WriteString("  ")
			}
			if i < len(c.right) && c.right[i] == 'r' {
				line.WriteString(space + cell)
			} else {
				line.WriteString(cell + space)
			}
		}
		b.WriteString(strings.TrimRight(line.String(), " ") + "\n")
	}
	_, err := io.WriteString(c.w, b.String())
	return err
}

// objects writes answers as JSON, one object a line, and some at a time.
type objects struct {
	w *bufio.Writer
	e *json.Encoder
}

func newObjects(w io.Writer) *objects {
	o := &objects{w: bufio.NewWriter(w)}
	o.e = json.NewEncoder(o.w)
	o.e.SetEscapeHTML(false)
	return o
}

func (o *objects) add(v any) error { return o.e.Encode(v) }
func (o *objects) flush() error    { return o.w.Flush() }

// human is a duration for people: to the millisecond below a minute, to the second above, without the zeros at its end.
func human(d time.Duration) string {
	if d.Abs() >= time.Minute {
		d = d.Round(time.Second)
	}
	s := d.Round(time.Millisecond).String()
	if rest, ok := strings.CutSuffix(s, "m0s"); ok {
		s = rest + "m"
	}
	if rest, ok := strings.CutSuffix(s, "h0m"); ok {
		s = rest + "h"
	}
	return s
}

// lifetime is how long something lives, for people.
func lifetime(d time.Duration) string {
	if d == 0 {
		return "never"
	}
	return "in " + human(d)
}

// fromMS is a duration of the JSON answers.
func fromMS(ms int64) time.Duration { return time.Duration(ms) * time.Millisecond }

func itoa(n int64) string { return strconv.FormatInt(n, 10) }

// shown is a name that comes from the store, as it can be put on a terminal.
func shown(name string) string { return survey.Shown(name) }

// wrap breaks a text into lines, the first with a bullet.
func wrap(text string, width int) string {
	var b strings.Builder
	column := 0
	for i, word := range strings.Fields(text) {
		n := utf8.RuneCountInString(word)
		switch {
		case i == 0:
			b.WriteString("  - ")
			column = 4
		case column+1+n > width:
			b.WriteString("\n    ")
			column = 4
		default:
			b.WriteString(" ")
			column++
		}
		b.WriteString(word)
		column += n
	}
	return b.String()
}
