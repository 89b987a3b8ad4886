package oracle

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strings"
)

// LineError is a line that could not be read.
type LineError struct {
	File string // empty if Read did not know it
	Line int    // from 1
	Text string // the line, shortened
	Err  error
}

// Error names the file and the line.
func (e *LineError) Error() string {
	return fmt.Sprintf("oracle: read: %s: %v: %q", place(e.File, e.Line), e.Err, e.Text)
}

func place(file string, line int) string {
	if file == "" {
		return fmt.Sprintf("line %d", line)
	}
	return fmt.Sprintf("%s:%d", file, line)
}

// Unwrap is what was wrong with the line.
func (e *LineError) Unwrap() error { return e.Err }

// tooMany is how many bad lines of a file are reported before it is given up.
const tooMany = 20

// Read reads the text form of a history; its Params are zero. It reports all
// bad lines (the first twenty, then it gives up) as [*LineError], joined, and
// still returns the history that the good lines make. A last line without a
// newline is bad: its writer was stopped in the midst of it, and n=1 may have
// been n=12.
func Read(r io.Reader) (History, error) {
	var h History
	err := h.read("", r)
	return h, err
}

// read adds the events of a file. The name is for errors.
func (h *History) read(name string, r io.Reader) error {
	var errs []error
	br := bufio.NewReaderSize(r, 1<<16)
	for line := 1; len(errs) < tooMany; line++ {
		text, end := br.ReadString('\n')
		if end != nil && end != io.EOF {
			return errors.Join(append(errs, fmt.Errorf("oracle: read: %s: %w", place(name, line), end))...)
		}
		var err error
		if end == io.EOF && strings.TrimSpace(text) != "" {
			err = errors.New("cut short: no newline")
		} else {
			err = h.parse(text)
		}
		if err != nil {
			errs = append(errs, &LineError{File: name, Line: line, Text: text[:min(len(text), 200)], Err: err})
		}
		if end == io.EOF {
			break
		}
	}
	return errors.Join(errs...)
}

// parse adds the event of one line.
func (h *History) parse(line string) error {
	line = strings.TrimSpace(line)
	if line == "" || line[0] == '#' {
		return nil
	}
	verb, rest, _ := strings.Cut(line, " ")
	switch verb {
	case "grant":
		var g Grant
		return add(&h.Grants, &g, rest, field{"at", &g.At, true}, field{"n", &g.Permits, true},
			field{"arrived", &g.Arrived, false}, field{"went", &g.Went, false},
			field{"id", &g.ID, false}, field{"who", &g.Who, false}, field{"atonce", &g.AtOnce, false})
	case "return":
		var r Return
		return add(&h.Returns, &r, rest, field{"at", &r.At, true}, field{"n", &r.Permits, true}, field{"id", &r.ID, false})
	case "release":
		var r Release
		return add(&h.Releases, &r, rest, field{"at", &r.At, true}, field{"n", &r.Permits, true})
	case "change":
		var c Change
		return add(&h.Changes, &c, rest, field{"at", &c.At, true}, field{"rate", &c.Rate, true},
			field{"interval", &c.Interval, true}, field{"reset", &c.Reset, false})
	case "claim":
		var c Claim
		return add(&h.Claims, &c, rest, field{"at", &c.At, true}, field{"free", &c.Free, true})
	}
	return fmt.Errorf("unknown event %q", verb)
}

// add fills in the fields of an event from the rest of its line and appends it.
func add[E Event](events *[]E, e *E, rest string, fields ...field) error {
	if err := scan(rest, fields); err != nil {
		return err
	}
	*events = append(*events, *e)
	return nil
}
