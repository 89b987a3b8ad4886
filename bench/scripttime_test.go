package bench

import (
	"fmt"
	"slices"
	"testing"
	"time"

	redisrate "github.com/go-redis/redis_rate/v10"
	"github.com/redis/go-redis/v9"

	"github.com/sluice-rate/sluice"
	"github.com/sluice-rate/sluice/internal/redistest"
	"github.com/sluice-rate/sluice/redisengine"
)

// A decision may cost so many times the script time of redis_rate, which keeps one number for a limiter and no ledger.
const (
	grantTarget   = 1.6
	refusalTarget = 1.3
)

const day = 24 * time.Hour

// scriptTimes are the cases. Those without a target are for information.
var scriptTimes = []scriptTime{
	{name: "grant/rate=2000", verb: "grant", rate: sluice.Per(2000, time.Hour), limiters: 10, before: 400, target: grantTarget},
	{name: "grant/rate=1e9", verb: "grant", rate: sluice.Per(1e9, time.Hour), limiters: 1, before: 1000, target: grantTarget},
	{name: "grant_expiring_one/rate=2000", verb: "grant", rate: sluice.Per(2000, 200*time.Millisecond), limiters: 20, apart: time.Millisecond},
	{name: "grant_expiring_one/rate=1e6", verb: "grant", rate: sluice.Per(1e6, 200*time.Millisecond), limiters: 20, apart: time.Millisecond},
	{name: "refusal/rate=2000", verb: "refusal", rate: sluice.Per(2000, 100*day), limiters: 1, before: 1000, exhausted: true, target: refusalTarget},
	{name: "refusal/rate=1e6", verb: "refusal", rate: sluice.Per(1e6, 100*day), limiters: 1, before: 1000, exhausted: true, target: refusalTarget},
	{name: "inline/grant/rate=1e5", verb: "grant", rate: sluice.Per(1e5, time.Hour), limiters: 400, before: 3, inline: true},
	{name: "inline/grant_in_a_long_window/rate=1e5", verb: "grant", rate: sluice.Per(1e5, time.Hour), limiters: 2, before: 300, inline: true},
	{name: "inline/grant_expiring_one/rate=1e5", verb: "grant", rate: sluice.Per(1e5, 20*time.Millisecond), limiters: 5, apart: 2 * time.Millisecond, inline: true},
	{name: "inline/refusal/rate=10", verb: "refusal", rate: sluice.Per(10, time.Hour), limiters: 1, before: 10, exhausted: true, inline: true},
	{name: "inline/bucket_grant/rate=1e5", verb: "grant", rate: sluice.Per(1e5, time.Hour), limiters: 400, before: 3, inline: true, algorithm: sluice.TokenBucket},
	{name: "inline/bucket_refusal/rate=10", verb: "refusal", rate: sluice.Per(10, time.Hour), limiters: 1, before: 10, exhausted: true, inline: true, algorithm: sluice.TokenBucket},
	{name: "inline/aligned_grant/rate=1e5", verb: "grant", rate: sluice.Per(1e5, time.Hour), limiters: 400, before: 3, inline: true, algorithm: sluice.AlignedWindow},
}

// scriptTime is one case: calls on limiters in a steady state, all granted or all refused.
type scriptTime struct {
	name      string
	verb      string // names the metrics
	rate      sluice.Rate
	limiters  int           // are taken from in turn
	before    int           // takes of each limiter before the clock runs
	exhausted bool          // those take the whole rate; else one permit each
	apart     time.Duration // between two takes of one limiter; before the clock runs they go on for two intervals
	target    float64
	inline    bool // by a limit that travels with the call
	algorithm sluice.Algorithm
}

// BenchmarkScriptTime is how long the scripts run, by the server's own count: one operation is a whole measurement.
// What the network and the client add is the same for both and so is left out.
func BenchmarkScriptTime(b *testing.B) {
	for _, c := range scriptTimes {
		b.Run(c.name, func(b *testing.B) {
			for b.Loop() {
				ours, theirs := c.measure(b)
				b.ReportMetric(ours, c.verb+"_us")
				b.ReportMetric(theirs, "redis_rate_"+c.verb+"_us")
				b.ReportMetric(ours/theirs, c.verb+"_ratio")
				b.ReportMetric(0, "ns/op") // of no meaning here
			}
		})
	}
}

// TestScriptTimeRatios holds the scripts to their targets. What disturbs a measurement can last longer than it, so a
// case has five attempts.
func TestScriptTimeRatios(t *testing.T) {
	for _, c := range scriptTimes {
		if c.target == 0 {
			continue
		}
		t.Run(c.name, func(t *testing.T) {
			for attempt := range 5 {
				ours, theirs := c.measure(t)
				ratio := ours / theirs
				t.Logf("attempt %d: %.2f us, redis_rate's %.2f us, ratio %.2f", attempt+1, ours, theirs, ratio)
				if ratio <= c.target {
					return
				}
			}
			t.Errorf("the script takes more than %.1f times as long as redis_rate's in each of five attempts", c.target)
		})
	}
}

// measure is the median time of a call of ours and of redis_rate's, in microseconds. Their rounds take turns, so that
// what slows the machine for a while slows both.
func (c scriptTime) measure(tb testing.TB) (ours, theirs float64) {
	rounds, calls := 9, 5000
	if testing.Short() {
		rounds, calls = 5, 1000
	}
	server := redistest.Start(tb)
	stats := redistest.Dial(tb, server.Addr())
	rdb := redis.NewClient(&redis.Options{Addr: server.Addr()})
	defer rdb.Close()

	var ourTimes, theirTimes []float64
	for range rounds {
		ours := c.sluiceTakes
		if c.inline {
			ours = c.inlineTakes
		}
		ourTimes = append(ourTimes, c.round(tb, stats, ours(tb, rdb), calls))
		theirTimes = append(theirTimes, c.round(tb, stats, c.redisRateTakes(tb, rdb), calls))
		if _, err := stats.Do(tb.Context(), "FLUSHALL"); err != nil {
			tb.Fatal(err)
		}
	}
	return median(ourTimes), median(theirTimes)
}

// takes are what takes n permits from each of the limiters.
type takes []func(n int64) (allowed bool, err error)

// round is the mean time of a call in one round, on limiters that are new.
func (c scriptTime) round(tb testing.TB, stats *redistest.Conn, limiters takes, calls int) float64 {
	tb.Helper()
	n := int64(1)
	if c.exhausted {
		n = c.rate.Permits / int64(c.before)
	}
	laps := func(laps int, n int64, want bool) {
		tb.Helper()
		for range laps {
			next := time.Now().Add(c.apart)
			for _, take := range limiters {
				if allowed, err := take(n); err != nil || allowed != want {
					tb.Fatalf("take: allowed %v, error %v, want allowed %v", allowed, err, want)
				}
			}
			time.Sleep(time.Until(next))
		}
	}
	if c.apart > 0 {
		laps(int(2*c.rate.Interval/c.apart), 1, true)
	}
	laps(c.before, n, true)
	callsBefore, usecBefore := stats.ScriptStats(tb)
	laps(calls/len(limiters), 1, !c.exhausted)
	callsAfter, usecAfter := stats.ScriptStats(tb)
	return (usecAfter - usecBefore) / float64(callsAfter-callsBefore)
}

func (c scriptTime) sluiceTakes(tb testing.TB, rdb *redis.Client) takes {
	tb.Helper()
	client := sluice.New(redisengine.New(rdb, nil))
	all := make(takes, c.limiters)
	for i := range all {
		limiter := client.Limiter(fmt.Sprint("limiter:", i))
		if err := limiter.SetRate(tb.Context(), sluice.Config{Rate: c.rate}); err != nil {
			tb.Fatal(err)
		}
		all[i] = func(n int64) (bool, error) {
			d, err := limiter.TryAcquire(tb.Context(), n)
			return d.Allowed, err
		}
	}
	return all
}

func (c scriptTime) inlineTakes(tb testing.TB, rdb *redis.Client) takes {
	tb.Helper()
	client := sluice.New(redisengine.New(rdb, nil))
	limit := sluice.Limit{Rate: c.rate, Algorithm: c.algorithm}
	all := make(takes, c.limiters)
	for i := range all {
		key := fmt.Sprint("limiter:", i)
		all[i] = func(n int64) (bool, error) {
			o, err := client.Take(tb.Context(), limit.ChargeN(key, n))
			return o.Allowed, err
		}
	}
	return all
}

func (c scriptTime) redisRateTakes(tb testing.TB, rdb *redis.Client) takes {
	tb.Helper()
	limiter := redisrate.NewLimiter(rdb)
	limit := redisrate.Limit{Rate: int(c.rate.Permits), Burst: int(c.rate.Permits), Period: c.rate.Interval}
	all := make(takes, c.limiters)
	for i := range all {
		key := fmt.Sprint("limiter:", i)
		all[i] = func(n int64) (bool, error) {
			r, err := limiter.AllowN(tb.Context(), key, limit, int(n))
			if err != nil {
				return false, err
			}
			return r.Allowed > 0, nil
		}
	}
	return all
}

func median(of []float64) float64 {
	slices.Sort(of)
	return of[len(of)/2]
}
