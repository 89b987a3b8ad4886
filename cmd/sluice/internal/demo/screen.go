package demo

import (
	"fmt"
	"io"
	"strings"
)

// Escape sequences. The picture is redrawn in place, not on a screen of its own, so that its last state and the summary stay.
const (
	hideCursor = "\x1b[?25l"
	showCursor = "\x1b[?25h"
	noWrap     = "\x1b[?7l"
	wrap       = "\x1b[?7h"
	clearLine  = "\x1b[K"
	clearBelow = "\x1b[J"
)

// screen is the display on a terminal: a picture that is redrawn in place.
type screen struct {
	out    io.Writer
	colour bool
	size   func() (width, height int)
	board  board
	height int // lines of the picture that is there
}

func (d *screen) show(s scene) error {
	var b strings.Builder
	if d.height == 0 {
		b.WriteString(hideCursor + noWrap)
	} else {
		fmt.Fprintf(&b, "\r\x1b[%dA", d.height)
	}
	lines := d.picture(s)
	for _, line := range lines {
		b.WriteString(line + clearLine + "\n")
	}
	b.WriteString(clearBelow)
	d.height = len(lines)
	_, err := io.WriteString(d.out, b.String()) // in one piece, so that it does not flicker
	return err
}

func (d *screen) picture(s scene) []string {
	width, height := d.size()
	width, height = max(width, minWidth), max(height, minHeight) // it has become too small: the terminal cuts off the rest
	return draw(s, d.board.update(s), width-1, height-1).lines(d.colour)
}

// close gives the terminal back as it was.
func (d *screen) close() error {
	_, err := io.WriteString(d.out, wrap+showCursor)
	return err
}

// display is the one that the options ask for, if the picture has room.
func (o Options) display() display {
	if o.Live {
		if width, height := o.Size(); width >= minWidth && height >= minHeight {
			return &screen{out: o.Out, colour: o.Colour, size: o.Size}
		}
	}
	return &lines{out: o.Out}
}
