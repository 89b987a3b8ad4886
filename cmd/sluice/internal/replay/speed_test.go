package replay

import (
	"bytes"
	"testing"
	"time"

	"github.com/sluice-rate/sluice"
)

// BenchmarkReplay is all that is done with a line: read, parsed, decided upon, counted.
func BenchmarkReplay(b *testing.B) {
	for _, bb := range []struct {
		name      string
		addresses int
		key       string
	}{
		{"ip/keys=10", 10, "ip"},
		{"ip/keys=10000", 10_000, "ip"},
		{"ip+path/keys=10000", 10_000, "ip+path:/users/{id}/*"},
	} {
		b.Run(bb.name, func(b *testing.B) {
			const lines = 200_000
			log := logOf(b, lines, bb.addresses, 1000)
			b.SetBytes(int64(len(log)))
			b.ReportAllocs()
			for b.Loop() {
				replayBytes(b, log, key(b, bb.key))
			}
			b.ReportMetric(float64(lines)*float64(b.N)/b.Elapsed().Seconds(), "lines/s")
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(lines)/float64(b.N), "ns/line")
		})
	}
}

func replayBytes(t testing.TB, log []byte, k *Key) *Report {
	t.Helper()
	report, err := Run(t.Context(), Options{
		Files: []string{Stdin}, Stdin: bytes.NewReader(log), Key: k,
		Limit: sluice.Limit{Rate: sluice.Per(5, time.Minute)}, Top: 10,
	})
	if err != nil {
		t.Fatal(err)
	}
	return report
}

// TestReplay_is_not_slow is a loose guard, which a busy machine and the race detector pass; the benchmark measures.
func TestReplay_is_not_slow(t *testing.T) {
	const lines = 20_000
	log := logOf(t, lines, 1000, 1000)
	best := time.Hour
	for range 5 {
		begin := time.Now()
		replayBytes(t, log, key(t, "ip+path"))
		best = min(best, time.Since(begin))
	}
	if most := 2 * time.Second; best > most {
		t.Errorf("%d lines take %v, want at most %v", lines, best, most)
	}
}

func TestReplay_itself_allocates_nothing_for_a_line(t *testing.T) {
	const lines = 50_000
	log := logOf(t, lines, 100, 1000)
	k := key(t, "ip/64+path:/users/{id}/*")
	n := testing.AllocsPerRun(3, func() {
		o := Options{Files: []string{Stdin}, Stdin: bytes.NewReader(log), Key: k, Top: 10}
		if _, err := run(t.Context(), o, unlimited{}); err != nil {
			t.Error(err)
		}
	})
	if most := float64(lines / 50); n > most {
		t.Errorf("%v allocations for %d lines, want at most %v", n, lines, most)
	}
}
