package enginetest

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sluice-rate/sluice"
)

// The cases are what users of rate limiters have reported as faults, each under its symptom, with the right answer. docs/cases.md
// says where each was seen, and what our answer is where several could be defended.

// symptom is one case.
type symptom struct {
	name string
	test func(s *scene)
}

func (h Harness) cases(t *testing.T) {
	if h.Lasting == nil && !h.InProcess {
		t.Fatal("Harness.Lasting is missing: an engine with I/O has to show the cases, too")
	}
	if h.Lasting != nil {
		h.New = h.Lasting
	}
	for _, theme := range [][]symptom{
		precisionCases, bucketCases, windowCases, waitingCases, answerCases, numberCases, changeCases, severalCases, clockCases,
	} {
		for _, c := range theme {
			t.Run(c.name, func(t *testing.T) {
				t.Parallel()
				c.test(&scene{world: newWorld(t, h)})
			})
		}
	}
}

// scene is a world with limits of all kinds.
type scene struct {
	*world
	budgets int
}

// The kinds of limits: a named limiter, and the algorithms of limits that travel with the call.
const (
	named   = "named"
	sliding = "sliding"
	bucket  = "bucket"
	fixed   = "fixed"
	aligned = "aligned"
)

var (
	all     = []string{named, sliding, bucket, fixed, aligned}
	ledgers = []string{named, sliding} // exact in each window
	windows = []string{named, sliding, fixed, aligned}
)

// budget is one limit of one key, of any kind. Its clock begins at 0 when it is made, which is at a whole multiple of the interval.
type budget struct {
	*scene
	kind    string
	limit   sluice.Limit
	key     string
	start   time.Duration
	limiter *sluice.Limiter // of a named one
}

// each plays with a limit of each of the kinds, one after the other.
func (s *scene) each(kinds []string, rate sluice.Rate, play func(b *budget)) {
	for _, kind := range kinds {
		play(s.budget(kind, rate))
	}
}

func (s *scene) budget(kind string, rate sluice.Rate) *budget {
	if kind == named {
		b := s.begin(kind, sluice.Limit{Rate: rate})
		b.limiter = s.of("self").Limiter(b.key)
		_, err := b.limiter.TrySetRate(s.Context(), sluice.Config{Rate: rate})
		must(s, err)
		return b
	}
	algorithm, err := sluice.ParseAlgorithm(kind)
	must(s, err)
	return s.begin(kind, sluice.Limit{Rate: rate, Algorithm: algorithm})
}

// bucketOf is a token bucket with a burst.
func (s *scene) bucketOf(rate sluice.Rate, burst int64) *budget {
	return s.begin(bucket, sluice.Limit{Rate: rate, Algorithm: sluice.TokenBucket, Burst: burst})
}

func (s *scene) begin(kind string, l sluice.Limit) *budget {
	if part := time.Duration(s.clock.now().UnixNano()) % l.Rate.Interval; part > 0 && l.Rate.Interval <= 24*time.Hour {
		s.clock.move(l.Rate.Interval - part)
	}
	s.budgets++
	return &budget{scene: s, kind: kind, limit: l, key: fmt.Sprintf("key%d", s.budgets), start: s.clock.since()}
}

func (b *budget) String() string { return b.kind + " " + b.limit.Rate.String() }

// since is how late it is by the budget's clock.
func (b *budget) since() time.Duration { return b.clock.since() - b.start }

// at moves the clock to a moment.
func (b *budget) at(d time.Duration) *budget {
	b.Helper()
	if d < b.since() {
		b.Fatalf("%v: it is %v already, not %v", b, b.since(), d)
	}
	b.clock.move(d - b.since())
	return b
}

// charge is n permits of an inline limit.
func (b *budget) charge(n int64) sluice.Charge { return b.limit.ChargeN(b.key, n) }

// by asks for n permits, at once or within a time, in the name of a client.
func (b *budget) by(client string, n int64, patience time.Duration) (sluice.Decision, error) {
	b.Helper()
	c := b.of(client)
	switch {
	case b.limiter == nil:
		o, err := c.Book(b.Context(), patience, b.charge(n))
		return o.Decision, err
	case patience > 0:
		r, err := c.Limiter(b.key).Reserve(b.Context(), n, patience)
		if err != nil {
			return sluice.Decision{}, err
		}
		return r.Decision, nil
	default:
		return c.Limiter(b.key).TryAcquire(b.Context(), n)
	}
}

// take asks for n permits at once. The answer is as in scenarios, and want is how it begins. One that is refused writes nothing.
func (b *budget) take(n int64, want string) sluice.Decision {
	b.Helper()
	return b.book(n, 0, want)
}

// book asks for n permits within a time.
func (b *budget) book(n int64, patience time.Duration, want string) sluice.Decision {
	b.Helper()
	before := b.written()
	d, err := b.by("self", n, patience)
	b.world.at = fmt.Sprintf("%v at %v: Take(%d)", b, b.since(), n)
	got := b.decision(n, d, err, strings.Contains(want, "full in"))
	if rest, begins := strings.CutPrefix(got, want); !begins || rest != "" && rest[0] != ',' && rest[0] != ' ' {
		b.Errorf("%s = %s, want %s", b.world.at, got, want)
	}
	if isRefusal(got) && b.written() != before {
		b.Errorf("%s = %s, and yet it has written", b.world.at, got)
	}
	return d
}

// passes makes n calls for one permit and says how many were allowed.
func (b *budget) passes(n int) (allowed int) {
	b.Helper()
	for range n {
		if b.asks(1) {
			allowed++
		}
	}
	return allowed
}

func (b *budget) asks(n int64) bool {
	b.Helper()
	d, err := b.by("self", n, 0)
	must(b, err)
	return d.Allowed
}

// steady makes a call for one permit in each period up to a moment and says how many were allowed, of how many.
func (b *budget) steady(every, until time.Duration) (allowed, calls int) {
	b.Helper()
	for ; b.since() < until; b.clock.move(every) {
		allowed += b.passes(1)
		calls++
	}
	return allowed, calls
}

// free is how many permits can be had now.
func (b *budget) free() int64 {
	b.Helper()
	if b.limiter != nil {
		n, err := b.limiter.Available(b.Context())
		must(b, err)
		return n
	}
	o, err := b.of("self").Peek(b.Context(), b.charge(1))
	must(b, err)
	return o.Remaining
}

func (b *budget) wantFree(want int64) {
	b.Helper()
	if got := b.free(); got != want {
		b.Errorf("%v at %v: %d permits are free, want %d", b, b.since(), got, want)
	}
}

// refund gives a grant back.
func (b *budget) refund(r sluice.Receipt) int64 {
	b.Helper()
	var freed int64
	var err error
	if b.limiter != nil {
		freed, err = b.limiter.Refund(b.Context(), r)
	} else {
		freed, err = b.of("self").Refund(b.Context(), r, b.charge(r.Permits()))
	}
	must(b, err)
	return freed
}

func (b *budget) want(what string, got, want any) {
	b.Helper()
	if got != want {
		b.Errorf("%v at %v: %s: %v, want %v", b, b.since(), what, got, want)
	}
}

// calls is n calls in an engine without I/O, and fewer where each is a round trip.
func (s *scene) calls(n int) int {
	if s.keys != nil {
		return n / 10
	}
	return n
}

// moment is how long before its time a call has to be refused: a fixed window begins with the millisecond.
func (b *budget) moment() time.Duration {
	if b.kind == fixed || b.kind == aligned {
		return time.Millisecond
	}
	return time.Microsecond
}

func without(kinds []string, kind string) []string {
	return slices.DeleteFunc(slices.Clone(kinds), func(k string) bool { return k == kind })
}
