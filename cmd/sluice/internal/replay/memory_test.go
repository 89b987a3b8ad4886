package replay

import (
	"io"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/sluice-rate/sluice"
)

// scale weighs the heap at some places of what is read.
type scale struct {
	io.Reader
	every, read int
	heaps       []uint64
}

func (s *scale) Read(b []byte) (int, error) {
	n, err := s.Reader.Read(b)
	if s.read/s.every != (s.read+n)/s.every {
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		s.heaps = append(s.heaps, m.HeapAlloc)
	}
	s.read += n
	return n, err
}

func TestReplay_of_a_long_log_needs_no_more_memory_than_of_a_shorter_one(t *testing.T) {
	lines := 500_000 // of nearly as many addresses
	if testing.Short() {
		lines = 150_000
	}
	s := &scale{Reader: newSynthetic(lines, 1<<24, 2000), every: 20 * lines}
	report, err := Run(t.Context(), Options{
		Files: []string{Stdin}, Stdin: s, Key: key(t, "ip+path"), Limit: sluice.Limit{Rate: sluice.Per(5, 10*time.Second)}, Top: 10, maxKeys: 10_000,
	})
	if err != nil {
		t.Fatal(err)
	}
	if report.Lines != int64(lines) || !report.KeysEstimated || report.Keys < report.Lines*95/100 || report.Keys > report.Lines*102/100 {
		t.Errorf("%d lines, about %d keys", report.Lines, report.Keys)
	}
	early, late := s.heaps[len(s.heaps)/2], s.heaps[len(s.heaps)-1]
	if late > early*5/4 || late > 64<<20 {
		t.Errorf("%d bytes on the heap after half of the lines, %d in the end, want no more", early, late)
	}
}

func TestReplay_of_an_endless_line_needs_little_memory(t *testing.T) {
	const size = 64 << 20
	s := &scale{Reader: io.MultiReader(
		strings.NewReader(Example+"\n"),
		io.LimitReader(same('x'), size),
		strings.NewReader("\n"+Example+"\n"),
	), every: size / 4}
	report, err := Run(t.Context(), Options{Files: []string{Stdin}, Stdin: s, Key: key(t, "ip"), Limit: sluice.Limit{Rate: sluice.Per(1, time.Second)}})
	if err != nil {
		t.Fatal(err)
	}
	if report.Lines != 3 || report.Skipped != 1 || report.Allowed != 1 || report.Refused != 1 {
		t.Errorf("%d lines, %d skipped, %d allowed, %d refused, want 3, 1, 1, 1", report.Lines, report.Skipped, report.Allowed, report.Refused)
	}
	if late := s.heaps[len(s.heaps)-1]; late > 32<<20 {
		t.Errorf("%d bytes on the heap", late)
	}
}

// same is an endless text of one letter.
type same byte

func (s same) Read(b []byte) (int, error) {
	for i := range b {
		b[i] = byte(s)
	}
	return len(b), nil
}
