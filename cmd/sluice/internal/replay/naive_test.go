package replay

import (
	"bytes"
	"context"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/sluice-rate/sluice"
)

// naive is an exact sliding window in the fewest lines, which judges the limiter that is used.
type naive struct {
	rate   sluice.Rate
	grants map[string][]time.Time
}

func newNaive(rate sluice.Rate) *naive { return &naive{rate, make(map[string][]time.Time)} }

func (n *naive) decide(_ context.Context, key string, at time.Time) (allowed bool, retryAfter time.Duration, err error) {
	held := n.grants[key]
	for len(held) > 0 && !held[0].Add(n.rate.Interval).After(at) {
		held = held[1:]
	}
	if int64(len(held)) < n.rate.Permits {
		n.grants[key] = append(held, at)
		return true, 0, nil
	}
	n.grants[key] = held
	return false, held[0].Add(n.rate.Interval).Sub(at), nil
}

// unlimited is no limit at all, for tests that are about something else.
type unlimited struct{}

func (unlimited) decide(context.Context, string, time.Time) (bool, time.Duration, error) {
	return true, 0, nil
}

// judged is the limiter, each of whose decisions must be that of the naive one.
type judged struct {
	t       *testing.T
	limiter *limiter
	naive   *naive
	asked   int
}

func (j *judged) decide(ctx context.Context, key string, at time.Time) (allowed bool, retryAfter time.Duration, err error) {
	allowed, retryAfter, err = j.limiter.decide(ctx, key, at)
	want, wantAfter, _ := j.naive.decide(ctx, key, at)
	if allowed != want || retryAfter != wantAfter {
		j.t.Fatalf("question %d, %s at %v: allowed %t, retry after %v; want %t and %v", j.asked, key, at.UTC(), allowed, retryAfter, want, wantAfter)
	}
	j.asked++
	return allowed, retryAfter, err
}

func TestReplay_decides_as_the_simplest_sliding_window_does(t *testing.T) {
	t.Parallel()
	const lines = 3000
	random := rand.New(rand.NewPCG(3, 4))
	for range 15 {
		rate := sluice.Per(1+random.Int64N(40), time.Duration(1+random.Int64N(200))*time.Second)
		addresses, perSecond := 1+random.IntN(50), 1+random.IntN(40)
		limit := sluice.Limit{Rate: rate}
		l, err := newLimiter(t.Context(), limit)
		if err != nil {
			t.Fatal(err)
		}
		j := &judged{t: t, limiter: l, naive: newNaive(rate)}
		log := logOf(t, lines, addresses, perSecond)
		o := Options{Files: []string{Stdin}, Stdin: bytes.NewReader(log), Key: key(t, "ip"), Limit: limit, Top: 3}
		report, err := run(t.Context(), o, j)
		if err != nil || report.Lines != lines || j.asked != lines {
			t.Fatalf("%v: %v, %+v", rate, err, report)
		}
		if report.Allowed+report.Refused != lines || report.Keys != int64(len(j.naive.grants)) {
			t.Errorf("%v: %d allowed, %d refused, %d keys", rate, report.Allowed, report.Refused, report.Keys)
		}
	}
}
