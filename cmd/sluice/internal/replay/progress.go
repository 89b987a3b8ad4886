package replay

import (
	"fmt"
	"io"
	"strings"
	"time"
)

// progress shows on a terminal how far a replay is, in one line that is written over and that is gone in the end.
type progress struct {
	out   io.Writer // nil shows nothing
	now   func() time.Time
	total int64 // bytes to read; 0 if that is not known

	bytes, lines int64 // so far
	begun, shown time.Time
	width        int // of what is on the terminal
}

const (
	firstProgress = 500 * time.Millisecond // a short replay shows nothing
	nextProgress  = 200 * time.Millisecond
)

func newProgress(out io.Writer, now func() time.Time, total int64) *progress {
	p := &progress{out: out, now: now, total: total}
	if out != nil {
		p.begun = now()
		p.shown = p.begun.Add(firstProgress - nextProgress)
	}
	return p
}

// read counts bytes that have been read, packed as they are.
func (p *progress) read(n int) {
	p.bytes += int64(n)
	if p.out == nil {
		return
	}
	if now := p.now(); now.Sub(p.shown) >= nextProgress {
		p.shown = now
		p.write(p.text(now.Sub(p.begun)))
	}
}

// text is how far the replay is after so long.
func (p *progress) text(took time.Duration) string {
	speed := fmt.Sprintf("%s lines, %s a second", thousands(p.lines), thousands(int64(float64(p.lines)/took.Seconds())))
	if p.total == 0 || p.bytes == 0 {
		return speed
	}
	share := min(1, float64(p.bytes)/float64(p.total))
	left := time.Duration(float64(took) * (1 - share) / share)
	return fmt.Sprintf("%3.0f %%  %s; about %v left", 100*share, speed, left.Round(time.Second))
}

// write puts a text in the place of the last.
func (p *progress) write(text string) {
	fmt.Fprintf(p.out, "\r%s%s", text, strings.Repeat(" ", max(0, p.width-len(text))))
	p.width = len(text)
}

// end takes the line off the terminal.
func (p *progress) end() {
	if p.width > 0 {
		p.write("")
		fmt.Fprint(p.out, "\r")
	}
}

// thousands is a number with commas: 1,234,567.
func thousands(n int64) string {
	s := fmt.Sprint(n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}
