package replay

import (
	"bytes"
	"io"
)

// The buffer that lines are read into: large enough for many lines, and it grows for a long one, up to the longest.
const (
	firstBuffer = 128 << 10
	maxLine     = 1 << 20
)

// lines splits what it reads into lines. It holds one buffer of at most maxLine bytes, whatever comes.
type lines struct {
	r          io.Reader
	buf        []byte
	start, end int  // what of buf is read and not yet given away
	seen       int  // up to where there is no newline
	dropping   bool // in a line that is too long
	err        error
}

func newLines(r io.Reader) *lines { return &lines{r: r, buf: make([]byte, firstBuffer)} }

// next is the next line without its end, valid until the next call; long stands for a line that is too long, which
// is passed over. At the end of the input err is io.EOF.
func (l *lines) next() (line []byte, long bool, err error) {
	for {
		if i := bytes.IndexByte(l.buf[l.seen:l.end], '\n'); i >= 0 {
			line, long := l.cut(l.seen + i)
			l.start++ // the newline
			l.seen = l.start
			return line, long, nil
		}
		l.seen = l.end
		if l.err != nil {
			if l.start == l.end && !l.dropping || l.err != io.EOF {
				return nil, false, l.err
			}
			line, long := l.cut(l.end)
			return line, long, nil
		}
		l.fill()
	}
}

// cut takes the line that goes up to end.
func (l *lines) cut(end int) (line []byte, long bool) {
	line, long = l.buf[l.start:end], l.dropping
	l.start, l.dropping = end, false
	if long {
		return nil, true
	}
	return bytes.TrimSuffix(line, []byte("\r")), false
}

// fill reads more, after it has made room.
func (l *lines) fill() {
	switch {
	case l.dropping:
		l.start, l.end = 0, 0
	case l.start > 0:
		l.end = copy(l.buf, l.buf[l.start:l.end])
		l.start = 0
	case l.end == len(l.buf) && len(l.buf) < maxLine:
		l.buf = append(l.buf, make([]byte, len(l.buf))...)
	case l.end == len(l.buf):
		l.dropping, l.end = true, 0
	}
	l.seen = l.end
	n := 0
	for tries := 0; n == 0 && l.err == nil; tries++ {
		if tries == 100 {
			l.err = io.ErrNoProgress
			return
		}
		n, l.err = l.r.Read(l.buf[l.end:])
	}
	l.end += n
}
