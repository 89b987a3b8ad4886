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
// nothing is lost: not a permit, and not the limiter.
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
	for _, version := range some {
		for _, rate := range []sluice.Rate{sluice.Per(100, 400*time.Millisecond), sluice.Per(20_000, 3*time.Second)} { // of which the second merges
			t.Run(version+"/"+rate.String(), func(t *testing.T) {
				t.Parallel()
				defer func() {
					if t.Failed() {
						t.Logf("again: -storm.seed %d", seed)
					}
				}()
				storm(t, version, rate, took, seed)
			})
		}
	}
}

func storm(t *testing.T, version string, rate sluice.Rate, took time.Duration, seed uint64) {
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
	ctx, cancel := context.WithTimeout(t.Context(), took)
	defer cancel()
	var wg sync.WaitGroup
	blow := func(part uint64, one func(rnd *rand.Rand) error) {
		rnd := rand.New(rand.NewPCG(seed, part))
		wg.Go(func() {
			for ctx.Err() == nil {
				if err := one(rnd); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	for part, side := range []string{"java", "java", "java2", "java2"} {
		j, releases := s.java(side), slices.Contains(methodNames(list), "release")
		blow(uint64(part), func(rnd *rand.Rand) error { return stormJava(t.Context(), j, rate, releases, rnd) })
	}
	for part, side := range []string{"go", "go2", "go"} {
		name := side + strconv.Itoa(part)
		s.gophers[name] = newGopher(t, server.URL(), "storm")
		l := s.gophers[name].limiter
		blow(uint64(10+part), func(rnd *rand.Rand) error { return stormGo(t.Context(), l, rate, rnd) })
	}
	wg.Wait()
	if t.Failed() {
		return
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
	if got, err := s.java("java").Call(t.Context(), s.java("java").client, "storm", "tryAcquire", "1"); got != "true" || err != nil {
		t.Errorf("Java afterwards: %q, %v", got, err)
	}
}

// stormJava is one call of Java.
func stormJava(ctx context.Context, j *java, rate sluice.Rate, releases bool, rnd *rand.Rand) error {
	call := func(method string, args ...string) error {
		_, err := j.Call(ctx, j.client, "storm", method, args...)
		if err != nil {
			err = fmt.Errorf("Redisson %s: %s %q: %w", j.Version, method, args, err)
		}
		return err
	}
	few := strconv.FormatInt(1+rnd.Int64N(rate.Permits/50+1), 10)
	switch n := rnd.IntN(100); {
	case n < 45:
		return call("tryAcquire", few)
	case n < 60:
		return call("tryAcquire", few, "50", "MILLISECONDS")
	case n < 75:
		return call("availablePermits")
	case n < 85:
		return call("getConfig")
	case n < 98 && releases:
		return call("release", few)
	case n == 99:
		return call("setRate", "OVERALL", strconv.FormatInt(rate.Permits/2+rnd.Int64N(rate.Permits/2), 10), strconv.FormatInt(rate.Interval.Milliseconds(), 10), "MILLISECONDS")
	}
	return nil
}

// stormGo is one call of Go, or two.
func stormGo(ctx context.Context, l *sluice.Limiter, rate sluice.Rate, rnd *rand.Rand) error {
	few := 1 + rnd.Int64N(rate.Permits/50+1)
	switch n := rnd.IntN(100); {
	case n < 50:
		d, err := l.TryAcquire(ctx, 1)
		if err == nil && d.Allowed && n < 10 {
			_, err = l.Refund(ctx, d.Receipt)
		}
		return err
	case n < 65:
		_, err := l.TryAcquireFor(ctx, few, 50*time.Millisecond)
		return err
	case n < 75:
		r, err := l.Reserve(ctx, few, rate.Interval)
		if err == nil && r.Allowed && n < 70 {
			err = r.Cancel(ctx)
		}
		return err
	case n < 80:
		brief, cancel := context.WithTimeout(ctx, 20*time.Millisecond)
		defer cancel()
		err := l.Acquire(brief, few)
		if errors.Is(err, context.DeadlineExceeded) || errors.Is(err, sluice.ErrLimited) {
			err = nil
		}
		return err
	case n < 88:
		_, err := l.Release(ctx, few)
		return err
	case n < 96:
		_, err := l.Available(ctx)
		return err
	case n < 99:
		_, err := l.UpdateRate(ctx, sluice.Config{Rate: sluice.Per(rate.Permits/2+rnd.Int64N(rate.Permits/2), rate.Interval)})
		return err
	}
	return l.SetRate(ctx, sluice.Config{Rate: sluice.Per(rate.Permits/2+rnd.Int64N(rate.Permits/2), rate.Interval)})
}
