package oracle_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/sluice-rate/sluice/internal/oracle"
)

// meter is a right store in the simplest form: it serves callers one after the other, each at the first microsecond at which the
// permits can be had.
type meter struct {
	rate, interval, burst int64
	judge                 func(h oracle.History) oracle.Findings
	first                 func(m *meter, at, n int64) int64 // not before at

	used       []oracle.Grant
	base, over int64 // of windows from the first call
}

// inBucket waits until every span that ends with the grant has room: sum ≤ burst + rate × length.
func inBucket(m *meter, at, n int64) int64 {
	sum := n
	for i := len(m.used) - 1; i >= 0; i-- {
		g := m.used[i]
		sum += g.Permits
		if excess := (sum - m.burst) * m.interval; excess > 0 {
			at = max(at, g.At+(excess+m.rate-1)/m.rate)
		}
	}
	return at
}

func inGrid(m *meter, at, n int64) int64 { return m.inWindow(at, n, at-at%m.interval) }

func fromFirst(m *meter, at, n int64) int64 {
	if at >= m.over {
		m.base = (at + oracle.Grain - 1) / oracle.Grain * oracle.Grain
	}
	at = m.inWindow(at, n, m.base+max(0, at-m.base)/m.interval*m.interval)
	m.over = max(m.over, m.base+max(0, at-m.base)/m.interval*m.interval+m.interval)
	return at
}

func (m *meter) inWindow(at, n, from int64) int64 {
	for {
		sum := n
		for _, g := range m.used {
			if g.At >= from && g.At < from+m.interval || m.base == from && g.At < from && g.Arrived > from-oracle.Grain {
				sum += g.Permits
			}
		}
		if sum <= m.rate {
			return max(at, from)
		}
		from += m.interval
		at = max(at, from)
	}
}

// tell is a right history of callers who come in a bit faster than the rate allows.
func (m *meter) tell(rng *rand.Rand) oracle.History {
	h := oracle.History{Changes: []oracle.Change{{Rate: m.rate, Interval: m.interval}}}
	at, last := int64(oracle.Second), int64(0)
	for i := range 60 {
		at += 1 + rng.Int64N(2*m.interval/m.rate)
		n := 1 + rng.Int64N(min(m.rate, m.burst))
		date := m.first(m, max(at, last), n)
		g := oracle.Grant{Arrived: at, At: date, Permits: n, ID: fmt.Sprint(i)}
		m.used = append(m.used, g)
		last = date
	}
	h.Grants = append(h.Grants, m.used...)
	return h
}

func meters(rng *rand.Rand) map[string]*meter {
	rate, burst := 1+rng.Int64N(7), 1+rng.Int64N(12)
	interval := []int64{7000, 10_000, 1_000_000}[rng.IntN(3)]
	return map[string]*meter{
		"bucket": {rate: rate, interval: interval, burst: burst, first: inBucket,
			judge: func(h oracle.History) oracle.Findings { return oracle.Bucket(h, burst) }},
		"aligned": {rate: rate, interval: interval, burst: rate, first: inGrid, judge: oracle.Aligned},
		"fixed":   {rate: rate, interval: interval, burst: rate, first: fromFirst, judge: oracle.Fixed},
	}
}

func TestKindsFindWhatIsPlanted(t *testing.T) {
	t.Parallel()
	planted := make(map[string]int)
	seeds(t, 1500, func(t *testing.T, rng *rand.Rand) {
		for kind, m := range meters(rng) {
			h := m.tell(rng)
			if f := m.judge(h); f.Count > 0 {
				t.Errorf("%s: a right history: %v\n%s", kind, f, text(h))
				return
			}
			// The first who waited, and did so for want of permits and not for those before him only.
			for i, g := range h.Grants {
				if g.At <= g.Arrived+oracle.Grain || g.At == h.Grants[i-1].At {
					continue
				}
				by := int64(1)
				if kind == "fixed" { // only of the first windows is it sure where they lie, and that to the grain
					if by = oracle.Grain; g.At != (h.Grants[0].At+oracle.Grain-1)/oracle.Grain*oracle.Grain+m.interval || g.At-by < g.Arrived {
						break
					}
				}
				early := h
				early.Grants = append([]oracle.Grant(nil), h.Grants...)
				early.Grants[i].At -= by
				more := h
				more.Grants = append([]oracle.Grant(nil), h.Grants...)
				more.Grants[i-1].Permits += m.burst
				unpaid := more // as if it had not been charged for it, though it gave it back
				unpaid.Returns = []oracle.Return{{At: g.At, ID: h.Grants[i-1].ID, Permits: m.burst}}
				for what, f := range map[string]struct {
					oracle.History
					wrong bool
				}{"early": {early, true}, "more than there is": {more, true}, "all of that given back": {unpaid, false}} {
					if found := m.judge(f.History).Count > 0; found != f.wrong {
						t.Errorf("%s: %s at grant %d: found %v, want %v\n%s", kind, what, i, found, f.wrong, text(f.History))
						return
					}
					planted[kind]++
				}
				break
			}
		}
	})
	t.Log(planted)
	for _, kind := range []string{"bucket", "aligned", "fixed"} {
		if planted[kind] < 300 {
			t.Errorf("%s: only %d histories to plant a fault in", kind, planted[kind])
		}
	}
}

func BenchmarkKinds(b *testing.B) {
	h := busy(1_000_000, false)
	for name, judge := range map[string]func(oracle.History) oracle.Findings{
		"bucket": func(h oracle.History) oracle.Findings { return oracle.Bucket(h) }, "aligned": oracle.Aligned, "fixed": oracle.Fixed,
	} {
		b.Run(name+"/grants=1000000", func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if f := judge(h); f.Count > 0 {
					b.Fatal(f)
				}
			}
		})
	}
}
