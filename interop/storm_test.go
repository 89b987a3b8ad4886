package interop

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/sluice-rate/sluice"
	"github.com/sluice-rate/sluice/internal/redistest"
)

var stormSeed = flag.Uint64("storm.seed", 0, "seed of TestStorm; 0: by the clock")

// TestStorm has two clients of Java and three of Go call whatever they have, at random, on one limiter. No call of either side may fail, and afterwards
// nothing is lost: not a permit, and not the limiter. It fails, too, where the calls did not meet what they are for: grants, refusals and waits on either side,
// and, with the great rate, entries that were merged.
func TestStorm(t *testing.T) {
	t.Parallel()
	seed := *stormSeed
	if seed == 0 {
		seed = uint64(time.Now().UnixNano())
	}
	some := versions
	took := 5 * time.Second
	if testing.Short() {
		some, took = []string{versions[0], versions[len(versions)-1]}, 2*time.Second
	}
	busy := make(chan struct{}, 2) // more storms at once would leave each other no time
	for _, version := range some {
		for _, rate := range []sluice.Rate{sluice.Per(200, 500*time.Millisecond), sluice.Per(20_000, 2*time.Second)} { // of which the second merges
			t.Run(version+"/"+rate.String(), func(t *testing.T) {
				t.Parallel()
				defer func() {
					if t.Failed() {
						t.Logf("again: -storm.seed %d", seed)
					}
				}()
				storm(t, version, rate, took, seed, busy)
			})
		}
	}
}

func storm(t *testing.T, version string, rate sluice.Rate, took time.Duration, seed uint64, busy chan struct{}) {
	d := redisson(t, version)
	server := redistest.Start(t)
	s := &stage{t: t, driver: d, hire: newGopher, server: server, conn: redistest.Dial(t, server.Addr()), name: "storm", javas: make(map[string]*java), gophers: make(map[string]*gopher)}
	if _, err := s.gopher("go").limiter.TrySetRate(t.Context(), sluice.Config{Rate: rate}); err != nil {
		t.Fatal(err)
	}
	list, err := d.Do(t.Context(), "methods")
	if err != nil {
		t.Fatal(err)
	}
	for _, side := range []string{"java", "java2"} { // Java is slow at first
		j := s.java(side)
		for _, method := range []string{"getConfig", "availablePermits"} {
			if _, err := j.Call(t.Context(), j.client, "storm", method); err != nil {
				t.Fatal(err)
			}
		}
	}
	for _, side := range []string{"go", "go2", "go3"} {
		s.client(side)
	}
	busy <- struct{}{}
	defer func() { <-busy }()
	ctx, cancel := context.WithTimeout(t.Context(), took)
	defer cancel()
	merges := rate.Permits > 10_000
	met := &tally{count: make(map[string]int)}
	want := []string{"java grant", "java refusal", "go grant", "go refusal", "go reservation", "go refund", "go release"}
	if merges {
		want = []string{"java grant", "go grant", "go refund", "go release", "merged"}
	}
	late := time.Now().Add(took + 30*time.Second) // on a machine that is busy with other things
	var wg sync.WaitGroup
	blow := func(part uint64, one func(rnd *rand.Rand) error) {
		rnd := rand.New(rand.NewPCG(seed, part))
		wg.Go(func() {
			for ctx.Err() == nil || met.lacks(want) != "" && !t.Failed() && time.Now().Before(late) {
				if err := one(rnd); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	for part, side := range []string{"java", "java", "java2", "java2"} {
		j, releases := s.java(side), slices.Contains(methodNames(list), "release")
		blow(uint64(part), func(rnd *rand.Rand) error { return stormJava(t.Context(), j, rate, releases, rnd, met) })
	}
	for part, side := range []string{"go", "go2", "go3"} {
		l := s.gopher(side).limiter
		blow(uint64(10+part), func(rnd *rand.Rand) error { return stormGo(t.Context(), l, rate, rnd, met) })
	}
	if merges {
		blow(20, func(rnd *rand.Rand) error { return stormBurst(t.Context(), s.gopher("go").limiter, rnd, met) })
	}
	wg.Wait()
	if t.Failed() {
		return
	}
	t.Log(met.count)
	if what := met.lacks(want); what != "" {
		t.Fatalf("no %s was met", what)
	}
	l := s.gopher("go").limiter
	if _, err := l.UpdateRate(t.Context(), sluice.Config{Rate: rate}); err != nil {
		t.Fatal(err)
	}
	for end := time.Now().Add(20 * time.Second); ; time.Sleep(rate.Interval / 2) { // those who wait have gone, and the window is empty
		d, err := l.TryAcquire(t.Context(), 1)
		if err != nil {
			t.Fatal(err)
		}
		if err := s.conserving(); err != nil {
			t.Fatal(err)
		}
		if d.Allowed && d.Remaining >= rate.Permits-3 {
			break
		}
		if time.Now().After(end) {
			t.Fatalf("%+v, want nearly the whole rate free\n%s", d, s.keys())
		}
	}
	rest := strconv.FormatInt(rate.Permits-10, 10)
	if got, err := s.java("java").Call(t.Context(), s.java("java").client, "storm", "tryAcquire", rest); got != "true" || err != nil {
		t.Errorf("Java afterwards: %q, %v", got, err)
	}
}

// tally counts what the calls have met.
type tally struct {
	mu    sync.Mutex
	count map[string]int
}

func (m *tally) met(what string, n int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.count[what] += n
}

// lacks is the first of some that was not met; "" if all were.
func (m *tally) lacks(want []string) string {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, what := range want {
		if m.count[what] == 0 {
			return what
		}
	}
	return ""
}

func (m *tally) decided(side string, granted bool, err error) error {
	switch {
	case err != nil:
	case granted:
		m.met(side+" grant", 1)
	default:
		m.met(side+" refusal", 1)
	}
	return err
}

// few permits: with a great rate only those few, so that there are many entries.
func few(rnd *rand.Rand) int64 { return 1 + rnd.Int64N(4) }

// other is another rate, not below half of this one.
func other(rate sluice.Rate, rnd *rand.Rand) sluice.Rate {
	return sluice.Per(rate.Permits/2+rnd.Int64N(rate.Permits/2), rate.Interval)
}

// seldom is true once in 500 times: setRate deletes the state, and if it came often there would never be much of it.
func seldom(rnd *rand.Rand) bool { return rnd.IntN(500) == 0 }

// stormJava is one call of Java.
func stormJava(ctx context.Context, j *java, rate sluice.Rate, releases bool, rnd *rand.Rand, met *tally) error {
	call := func(method string, args ...string) (string, error) {
		text, err := j.Call(ctx, j.client, "storm", method, args...)
		if err != nil {
			err = fmt.Errorf("Redisson %s: %s %q: %w", j.Version, method, args, err)
		}
		return text, err
	}
	some := strconv.FormatInt(few(rnd), 10)
	if seldom(rnd) {
		r := other(rate, rnd)
		_, err := call("setRate", "OVERALL", strconv.FormatInt(r.Permits, 10), strconv.FormatInt(r.Interval.Milliseconds(), 10), "MILLISECONDS")
		met.met("java setRate", 1)
		return err
	}
	switch n := rnd.IntN(100); {
	case n < 50:
		text, err := call("tryAcquire", some)
		return met.decided("java", text == "true", err)
	case n < 65:
		text, err := call("tryAcquire", some, "50", "MILLISECONDS")
		return met.decided("java", text == "true", err)
	case n < 80:
		_, err := call("availablePermits")
		return err
	case n < 90 || !releases:
		_, err := call("getConfig")
		return err
	}
	_, err := call("release", some)
	met.met("java release", 1)
	return err
}

// stormGo is one call of Go, or two.
func stormGo(ctx context.Context, l *sluice.Limiter, rate sluice.Rate, rnd *rand.Rand, met *tally) error {
	some := few(rnd)
	if seldom(rnd) {
		met.met("go SetRate", 1)
		return l.SetRate(ctx, sluice.Config{Rate: other(rate, rnd)})
	}
	switch n := rnd.IntN(100); {
	case n < 50:
		d, err := l.TryAcquire(ctx, some)
		if err == nil && d.Allowed && n < 10 {
			var back int64
			back, err = l.Refund(ctx, d.Receipt)
			met.met("go refund", int(back))
		}
		return met.decided("go", d.Allowed, err)
	case n < 65:
		d, err := l.TryAcquireFor(ctx, some, 50*time.Millisecond)
		return met.decided("go", d.Allowed, err)
	case n < 75:
		r, err := l.Reserve(ctx, some, rate.Interval)
		if err != nil || !r.Allowed {
			return err
		}
		if r.Delay() > 0 {
			met.met("go reservation", 1)
		}
		if n < 72 {
			err = r.Cancel(ctx)
		}
		return err
	case n < 80:
		brief, cancel := context.WithTimeout(ctx, 20*time.Millisecond)
		defer cancel()
		err := l.Acquire(brief, some)
		if errors.Is(err, context.DeadlineExceeded) || errors.Is(err, sluice.ErrLimited) {
			err = nil
		}
		return err
	case n < 88:
		back, err := l.Release(ctx, some)
		met.met("go release", int(back))
		return err
	case n < 97:
		_, err := l.Available(ctx)
		return err
	}
	_, err := l.UpdateRate(ctx, sluice.Config{Rate: other(rate, rnd)})
	return err
}

// stormBurst takes so many single permits that entries are merged, and looks whether they are.
func stormBurst(ctx context.Context, l *sluice.Limiter, rnd *rand.Rand, met *tally) error {
	var wg sync.WaitGroup
	failed := make(chan error, 32)
	for range cap(failed) {
		wg.Go(func() {
			for range 100 {
				if _, err := l.TryAcquire(ctx, 1); err != nil {
					failed <- err
					return
				}
			}
		})
	}
	wg.Wait()
	close(failed)
	for err := range failed {
		return err
	}
	for e, err := range l.Ledger(ctx) {
		if err != nil {
			return err
		}
		if e.Kind == sluice.KindMerged {
			met.met("merged", 1)
		}
	}
	time.Sleep(time.Duration(rnd.IntN(200)) * time.Millisecond)
	return nil
}
