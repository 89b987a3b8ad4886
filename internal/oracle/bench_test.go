package oracle_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/sluice-rate/sluice/internal/oracle"
)

// busy is a right history of n grants of one permit, a thousand a second and
// all of them used. With mixed, one in a hundred is refunded, permits are
// released, and the rate changes every ten thousand grants.
func busy(n int, mixed bool) oracle.History {
	rng := rand.New(rand.NewPCG(1, 2))
	h := oracle.History{
		Params:  oracle.Params{Slack: 1000},
		Changes: []oracle.Change{{Rate: 1000, Interval: oracle.Second}},
		Grants:  make([]oracle.Grant, n),
	}
	for i := range h.Grants {
		at := int64(1+i) * 1000
		h.Grants[i] = oracle.Grant{
			Arrived: at - 500_000, At: at, Went: at + rng.Int64N(1000), Permits: 1, ID: fmt.Sprint("receipt-", i), Who: "worker",
		}
		switch {
		case mixed && i%100 == 0:
			h.Returns = append(h.Returns, oracle.Return{At: at + 10, ID: h.Grants[i].ID, Permits: 1})
		case mixed && i%100 == 50:
			h.Releases = append(h.Releases, oracle.Release{At: at + 10, Permits: 1})
		case mixed && i%10_000 == 5001:
			h.Changes = append(h.Changes, oracle.Change{At: at, Rate: 1000 + int64(i%3), Interval: oracle.Second})
		}
	}
	h.Claims = append(h.Claims, oracle.Claim{At: int64(n+2) * 1000 * 1000, Free: h.Changes[len(h.Changes)-1].Rate})
	return h
}

func BenchmarkJudge(b *testing.B) {
	for _, mixed := range []bool{false, true} {
		b.Run(fmt.Sprintf("grants=1000000/mixed=%v", mixed), func(b *testing.B) {
			h := busy(1_000_000, mixed)
			b.ReportAllocs()
			for b.Loop() {
				if r := oracle.Judge(h); r.Count() > 0 {
					b.Fatal(r)
				}
			}
		})
	}
}

func BenchmarkExact(b *testing.B) {
	h := busy(1_000_000, false)
	b.ReportAllocs()
	for b.Loop() {
		if f := oracle.Exact(h); f.Count > 0 {
			b.Fatal(f)
		}
	}
}

func BenchmarkRead(b *testing.B) {
	var text strings.Builder
	if err := oracle.Write(&text, busy(100_000, false).Events()...); err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(text.Len()))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := oracle.Read(strings.NewReader(text.String())); err != nil {
			b.Fatal(err)
		}
	}
}
