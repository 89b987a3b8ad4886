package replay

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"testing"
	"time"
)

// synthetic is a log in Combined Log Format that is made while it is read: so many lines, of so many addresses that are drawn at
// random, so many a second.
type synthetic struct {
	lines, addresses, perSecond int
	made                        int
	random                      *rand.Rand
	left                        bytes.Buffer
}

func newSynthetic(lines, addresses, perSecond int) *synthetic {
	return &synthetic{lines: lines, addresses: addresses, perSecond: perSecond, random: rand.New(rand.NewPCG(1, 2))}
}

func (s *synthetic) Read(b []byte) (int, error) {
	for s.left.Len() < len(b) && s.made < s.lines {
		at := time.Unix(1_796_000_000+int64(s.made/s.perSecond), 0).UTC()
		n := s.random.IntN(s.addresses)
		fmt.Fprintf(&s.left, `10.%d.%d.%d - - [%s] "GET /users/%d/orders?page=%d HTTP/1.1" 200 %d "https://example.org/start" "Mozilla/5.0 (X11; Linux x86_64; rv:133.0) Gecko/20100101 Firefox/133.0"`+"\n",
			n>>16, n>>8&255, n&255, at.Format("02/Jan/2006:15:04:05 -0700"), n%1000, s.made%7, 500+n%5000)
		s.made++
	}
	n, err := s.left.Read(b)
	if n == 0 && err != nil {
		return 0, io.EOF
	}
	return n, nil
}

// logOf is a synthetic log as a whole.
func logOf(t testing.TB, lines, addresses, perSecond int) []byte {
	t.Helper()
	b, err := io.ReadAll(newSynthetic(lines, addresses, perSecond))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// key parses a key.
func key(t testing.TB, spec string) *Key {
	t.Helper()
	k, err := ParseKey(spec)
	if err != nil {
		t.Fatal(err)
	}
	return k
}
