package replay

import (
	"bufio"
	"bytes"
	"compress/flate"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
)

// Stdin is the name that stands for the standard input.
const Stdin = "-"

// sizes is the size of all files together, as they are on disk; 0 where it is not known. It fails if one of them is not there, so that this
// is not found out in the middle.
func sizes(files []string) (total int64, err error) {
	known := true
	for _, name := range files {
		if name == Stdin {
			known = false
			continue
		}
		info, err := os.Stat(name)
		switch {
		case err != nil:
			return 0, err
		case info.IsDir():
			return 0, fmt.Errorf("%s is a directory; name the files in it, oldest first", name)
		case !info.Mode().IsRegular():
			known = false
		}
		total += info.Size()
	}
	if !known {
		return 0, nil
	}
	return total, nil
}

// open opens a file, unpacked if it is in gzip, whatever its name. What is read of it, packed, is told to read.
func open(ctx context.Context, name string, stdin io.Reader, read func(n int)) (io.ReadCloser, error) {
	if name == Stdin {
		return unpacked(name, io.NopCloser(&counter{newPatient(ctx, stdin), read}))
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	return unpacked(name, struct {
		io.Reader
		io.Closer
	}{&counter{&obedient{ctx, f}, read}, f})
}

// packers are programs whose files are known by their first bytes, but not read.
var packers = []struct{ magic, unpack string }{
	{"\x28\xb5\x2f\xfd", "zstd -dc"},
	{"\xfd7zXZ\x00", "xz -dc"},
	{"BZh", "bzip2 -dc"},
}

// unpacked is what a file contains. Closing it closes the file.
func unpacked(name string, f io.ReadCloser) (io.ReadCloser, error) {
	b := bufio.NewReaderSize(f, firstBuffer)
	magic, err := b.Peek(2)
	if err != nil && err != io.EOF {
		f.Close()
		return nil, err
	}
	if string(magic) == "\x1f\x8b" {
		z, err := gzip.NewReader(b)
		if err != nil {
			f.Close()
			return nil, damaged(err)
		}
		return &unzipped{z, f}, nil
	}
	magic, _ = b.Peek(6)
	for _, p := range packers {
		if bytes.HasPrefix(magic, []byte(p.magic)) {
			f.Close()
			return nil, fmt.Errorf("it is packed in a form that replay does not read; use: %s %s | sluice replay - …", p.unpack, name)
		}
	}
	return struct {
		io.Reader
		io.Closer
	}{b, f}, nil
}

// unzipped is what a gzip file contains.
type unzipped struct {
	z *gzip.Reader
	f io.Closer
}

func (u *unzipped) Read(b []byte) (int, error) {
	n, err := u.z.Read(b)
	if err != nil && err != io.EOF {
		err = damaged(err)
	}
	return n, err
}

func (u *unzipped) Close() error { return u.f.Close() }

// damaged says it when the file is what is wrong.
func damaged(err error) error {
	if errors.Is(err, io.ErrUnexpectedEOF) || err == io.EOF {
		return errors.New("it is a gzip file that ends too early")
	}
	_, corrupt := errors.AsType[flate.CorruptInputError](err)
	if corrupt || errors.Is(err, gzip.ErrChecksum) || errors.Is(err, gzip.ErrHeader) {
		return fmt.Errorf("it is a damaged gzip file: %w", err)
	}
	return err
}

// counter tells how much is read.
type counter struct {
	r    io.Reader
	read func(n int)
}

func (c *counter) Read(b []byte) (int, error) {
	n, err := c.r.Read(b)
	c.read(n)
	return n, err
}

// obedient stops reading when ctx has ended.
type obedient struct {
	ctx context.Context
	r   io.Reader
}

func (o *obedient) Read(b []byte) (int, error) {
	if err := o.ctx.Err(); err != nil {
		return 0, err
	}
	return o.r.Read(b)
}
