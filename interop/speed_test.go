package interop

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os/exec"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/sluice-rate/sluice"
	"github.com/sluice-rate/sluice/internal/redistest"
	"github.com/sluice-rate/sluice/redisengine"
)

var (
	speed       = flag.Bool("speed", false, "let TestSpeed measure, and print its table; without, it only sees that it works")
	speedRounds = flag.Int("speed.rounds", 5, "how often TestSpeed measures each")
	speedFor    = flag.Duration("speed.for", 1500*time.Millisecond, "for how long each time")
)

// TestSpeed has Redisson's oldest and newest version and this library take from one limiter, on one Redis, by turns, and prints a table in Markdown:
//
//	go -C interop test -run TestSpeed -speed -count=1 -v .
func TestSpeed(t *testing.T) {
	rounds, took, callers, some, warm := 1, 100*time.Millisecond, []int{1, 8}, versions[len(versions)-1:], time.Duration(0)
	full := *speed && !testing.Short()
	if full {
		rounds, took, callers, some, warm = *speedRounds, *speedFor, []int{1, 8, 64}, []string{versions[0], versions[len(versions)-1]}, 8*time.Second
	}
	server := redistest.Start(t)
	conn := redistest.Dial(t, server.Addr())
	var racers []racer
	for _, version := range some {
		racers = append(racers, javaRacer(t, version, server))
	}
	racers = append(racers, goRacer(t, server))
	if warm > 0 {
		for _, rate := range speedRates {
			for _, r := range racers {
				r.race(t, conn, rate, 64, warm)
			}
		}
	}
	var table strings.Builder
	fmt.Fprintf(&table, "| | callers | | decisions a second | allowed | p50, µs | p99, µs | ratio |\n|---|--:|---|--:|--:|--:|--:|--:|\n")
	for _, rate := range speedRates {
		for _, n := range callers {
			laps := make([][]lap, len(racers))
			for round := range rounds {
				for i := range racers {
					i = (i + round) % len(racers) // each is the first in some round
					laps[i] = append(laps[i], racers[i].race(t, conn, rate, n, took))
				}
			}
			base := middle(laps[0], func(l lap) float64 { return l.perSecond })[1]
			for i, r := range racers {
				d := middle(laps[i], func(l lap) float64 { return l.perSecond })
				allowed := middle(laps[i], func(l lap) float64 { return l.allowed })
				p50, p99 := middle(laps[i], func(l lap) float64 { return l.p50 }), middle(laps[i], func(l lap) float64 { return l.p99 })
				fmt.Fprintf(&table, "| %s | %d | %s | %s | %.0f %% | %s | %s | %.2f |\n", rate.name, n, r.name, d, 100*allowed[1], p50, p99, d[1]/base)
				if d[0] == 0 {
					t.Errorf("%s, %d callers: %s decided nothing", rate.name, n, r.name)
				}
			}
		}
	}
	if full {
		java, _ := exec.Command("java", "-version").CombinedOutput()
		line, _, _ := strings.Cut(string(java), "\n")
		fmt.Printf("%d cores, Redis %s, %s, %s; medians (least to greatest) of %d rounds of %v; the ratio is to the first of the same kind\n\n%s\n",
			runtime.NumCPU(), serverVersion(t, conn), line, runtime.Version(), rounds, took, &table)
	}
}

var speedRates = []struct {
	name string
	rate sluice.Rate
}{
	{"mostly allowed", sluice.Per(1_000_000, time.Second)},
	{"mostly refused", sluice.Per(1000, time.Second)},
}

// racer takes from a limiter by the name of "speed", with so many callers for so long.
type racer struct {
	name string
	run  func(callers int, took time.Duration) (lap, error)
	set  func(rate sluice.Rate) error
}

// lap is what came of a run; times are in microseconds.
type lap struct{ perSecond, allowed, p50, p99 float64 }

func (r racer) race(t *testing.T, conn *redistest.Conn, rate struct {
	name string
	rate sluice.Rate
}, callers int, took time.Duration) lap {
	t.Helper()
	conn.Str(t, "FLUSHALL")
	if err := r.set(rate.rate); err != nil {
		t.Fatal(err)
	}
	l, err := r.run(callers, took)
	if err != nil {
		t.Fatalf("%s: %v", r.name, err)
	}
	return l
}

func javaRacer(t *testing.T, version string, server *redistest.Server) racer {
	t.Helper()
	j := open(t, redisson(t, version), server.URL())
	return racer{
		name: "Redisson " + version,
		set: func(rate sluice.Rate) error {
			_, err := j.Call(t.Context(), j.client, "speed", "trySetRate", "OVERALL", strconv.FormatInt(rate.Permits, 10), strconv.FormatInt(rate.Interval.Milliseconds(), 10), "MILLISECONDS")
			return err
		},
		run: func(callers int, took time.Duration) (l lap, err error) {
			answer, err := j.Do(t.Context(), "load", j.client, "speed", strconv.Itoa(callers), strconv.FormatInt(took.Milliseconds(), 10), "try")
			if err != nil {
				return l, err
			}
			var granted, refused, threw, us float64
			_, err = fmt.Sscanf(answer, "granted=%f refused=%f threw=%f took_us=%f p50_us=%f p99_us=%f", &granted, &refused, &threw, &us, &l.p50, &l.p99)
			if err == nil && threw > 0 {
				err = errors.New(answer)
			}
			l.perSecond, l.allowed = (granted+refused)/us*1e6, granted/max(granted+refused, 1)
			return l, err
		},
	}
}

func goRacer(t *testing.T, server *redistest.Server) racer {
	t.Helper()
	rdb := redis.NewClient(&redis.Options{Addr: server.Addr(), PoolSize: 64})
	t.Cleanup(func() { rdb.Close() })
	limiter := sluice.New(redisengine.New(rdb, nil)).Limiter("speed")
	return racer{
		name: "Sluice over go-redis",
		set: func(rate sluice.Rate) error {
			_, err := limiter.TrySetRate(t.Context(), sluice.Config{Rate: rate})
			return err
		},
		run: func(callers int, took time.Duration) (lap, error) {
			return goLap(t.Context(), limiter, callers, took)
		},
	}
}

func goLap(ctx context.Context, limiter *sluice.Limiter, callers int, took time.Duration) (lap, error) {
	var wg sync.WaitGroup
	times, allowed, errs := make([][]float64, callers), make([]int, callers), make([]error, callers)
	begin := time.Now()
	for i := range callers {
		wg.Go(func() {
			for {
				start := time.Now()
				if start.Sub(begin) >= took {
					return
				}
				d, err := limiter.TryAcquire(ctx, 1)
				if err != nil {
					errs[i] = err
					return
				}
				if d.Allowed {
					allowed[i]++
				}
				times[i] = append(times[i], float64(time.Since(start).Microseconds()))
			}
		})
	}
	wg.Wait()
	passed := time.Since(begin)
	all := slices.Concat(times...)
	slices.Sort(all)
	if len(all) == 0 {
		return lap{}, errors.Join(errs...)
	}
	granted := 0
	for _, n := range allowed {
		granted += n
	}
	return lap{float64(len(all)) / passed.Seconds(), float64(granted) / float64(len(all)), all[len(all)/2], all[len(all)*99/100]}, errors.Join(errs...)
}

// spread is the least, the median and the greatest of some figures.
type spread [3]float64

func (s spread) String() string {
	if s[0] == s[2] {
		return fmt.Sprintf("%.0f", s[1])
	}
	return fmt.Sprintf("%.0f (%.0f to %.0f)", s[1], s[0], s[2])
}

// middle is the spread of what laps have.
func middle(laps []lap, of func(lap) float64) spread {
	var all []float64
	for _, l := range laps {
		all = append(all, of(l))
	}
	slices.Sort(all)
	return spread{all[0], all[len(all)/2], all[len(all)-1]}
}

func serverVersion(t *testing.T, conn *redistest.Conn) string {
	_, rest, _ := strings.Cut(conn.Str(t, "INFO", "server"), "redis_version:")
	version, _, _ := strings.Cut(rest, "\r")
	return version
}
