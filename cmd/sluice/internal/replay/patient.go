package replay

import (
	"context"
	"io"
)

// patient reads from what may let it wait for ever, such as a pipe, and stops waiting when ctx has ended. Its goroutine ends with the
// input, or, after ctx has ended, with the read that it is in: for the standard input that may be with the process.
type patient struct {
	ctx    context.Context
	chunks chan chunk
	empty  chan []byte // buffers to read into
	left   chunk       // what of the last chunk is not yet given away
	buf    []byte      // its buffer
}

type chunk struct {
	b   []byte
	err error
}

func newPatient(ctx context.Context, r io.Reader) *patient {
	p := &patient{ctx: ctx, chunks: make(chan chunk), empty: make(chan []byte, 2)}
	p.empty <- make([]byte, firstBuffer)
	p.empty <- make([]byte, firstBuffer)
	go p.read(r)
	return p
}

func (p *patient) read(r io.Reader) {
	for {
		select {
		case b := <-p.empty:
			n, err := r.Read(b)
			select {
			case p.chunks <- chunk{b[:n], err}:
			case <-p.ctx.Done():
				return
			}
			if err != nil {
				return
			}
		case <-p.ctx.Done():
			return
		}
	}
}

func (p *patient) Read(b []byte) (int, error) {
	for len(p.left.b) == 0 {
		if p.left.err != nil {
			return 0, p.left.err
		}
		if p.buf != nil {
			p.empty <- p.buf
			p.buf = nil
		}
		select {
		case p.left = <-p.chunks:
			p.buf = p.left.b[:cap(p.left.b)]
		case <-p.ctx.Done():
			p.left.err = p.ctx.Err()
		}
	}
	n := copy(b, p.left.b)
	p.left.b = p.left.b[n:]
	return n, nil
}
