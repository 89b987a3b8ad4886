package demo

import (
	"fmt"
	"io"
)

// lines is the display where there is no terminal: a line for each event.
type lines struct {
	out    io.Writer
	titled bool
	shown  int // events
}

func (l *lines) show(s scene) error {
	if !l.titled {
		l.titled = true
		if _, err := fmt.Fprintf(l.out, "sluice demo: %s\n\n", title(s)); err != nil {
			return err
		}
	}
	for ; l.shown < len(s.log); l.shown++ {
		if _, err := fmt.Fprintln(l.out, s.log[l.shown]); err != nil {
			return err
		}
	}
	return nil
}

func (l *lines) close() error { return nil }

func title(s scene) string {
	return fmt.Sprintf("three workers share %d permits per %v", s.rate.Permits, s.rate.Interval)
}
