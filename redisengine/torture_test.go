package redisengine_test

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/sluice-rate/sluice"
	"github.com/sluice-rate/sluice/internal/oracle"
	"github.com/sluice-rate/sluice/internal/redistest"
	"github.com/sluice-rate/sluice/redisengine"
)

var (
	tortureGrants = flag.Int64("torture.grants", 0, "grants of TestTorture; 0: 60,000, or 15,000 under the race detector")
	tortureSeed   = flag.Uint64("torture.seed", 0, "seed of the torture tests; 0: by the clock")
)

// parts is how many processes work on one Redis. Each is this test binary again.
const parts = 8

// TestTorture has eight processes, whose clocks are up to an hour off, take permits from four limiters at once, in every
// way there is and faster than the rates allow, while the rate of one of them changes all the time. Every process
// writes down what it got and when it went on; an oracle that knows nothing of this library judges the whole.
//
// The rates are such that a million grants take about two minutes:
//
//	go test ./redisengine -run 'TestTorture$' -torture.grants 1000000 -timeout 20m -v
func TestTorture(t *testing.T) {
	if isPart() {
		tortured(t)
		return
	}
	grants := *tortureGrants
	if grants == 0 {
		grants = 60_000 / tortureEase / tortureEase
	}
	r := startTorture(t, redistest.Start(t))
	r.await(grants)
	r.stop()
	r.judge(grants)
}

// torture is one run: the server, the processes, and what their parent does and sees.
type torture struct {
	t      *testing.T
	seed   uint64
	server *redistest.Server
	conn   *redistest.Conn
	dir    string // where each process keeps its record
	parts  []*part
	began  time.Time
	took   time.Duration

	stopWork  context.CancelFunc // ends changes and audits
	work      sync.WaitGroup
	changes   map[string][]oracle.Change // of each limiter
	audits    int                        // states of limiters that were looked at in the midst of the work
	faultless bool                       // no call may fail
	victims   map[int]bool               // parts that are killed or stopped: what they did last may not be on record

	undisturbed sync.Mutex // held while the rates are changed, and while the server is away
}

// nobody is the victim when it is the server that fails.
const nobody = -1

// startTorture configures the limiters and starts the processes. The victims are parts that will be harmed; without any,
// nothing may fail.
func startTorture(t *testing.T, server *redistest.Server, victims ...int) *torture {
	t.Helper()
	r := &torture{
		t: t, seed: *tortureSeed, server: server, conn: redistest.Dial(t, server.Addr()), dir: t.TempDir(),
		changes: make(map[string][]oracle.Change), faultless: len(victims) == 0, victims: make(map[int]bool),
	}
	for _, v := range victims {
		r.victims[v] = true
	}
	if r.seed == 0 {
		r.seed = uint64(time.Now().UnixNano())
	}
	t.Logf("seed %d (repeat with -torture.seed)", r.seed)
	client := sluice.New(redisengine.New(r.conn, nil))
	for _, l := range limiters {
		if _, err := client.Limiter(l.name).TrySetRate(t.Context(), l.config); err != nil {
			t.Fatal(err)
		}
		r.changes[l.name] = []oracle.Change{{Rate: l.config.Rate.Permits, Interval: l.config.Rate.Interval.Microseconds()}}
	}
	r.conn.ResetStats(t)
	r.began = time.Now()
	for i := range parts {
		r.parts = append(r.parts, startPart(t, assignment{
			Part: i, Seed: r.seed, Addr: server.Addr(), Dir: r.dir, Faultless: r.faultless, Victim: r.victims[i],
		}))
	}
	ctx, cancel := context.WithCancel(t.Context())
	r.stopWork = cancel
	r.work.Go(func() { r.keepChanging(ctx) })
	r.work.Go(func() { r.keepAuditing(ctx) })
	t.Cleanup(func() { cancel(); r.work.Wait() })
	return r
}

// await waits until the processes have been granted so much together.
func (r *torture) await(grants int64) {
	r.t.Helper()
	patience := time.Minute + time.Duration(grants)*time.Millisecond
	for deadline := time.Now().Add(patience); r.granted() < grants; time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			r.t.Fatalf("%d grants after %v, want %d", r.granted(), patience, grants)
		}
		for i, p := range r.parts {
			if p.gone() && !r.victims[i] {
				r.t.Fatalf("part %d has ended:\n%s", i, p.output())
			}
		}
	}
}

func (r *torture) granted() (sum int64) {
	for _, p := range r.parts {
		sum += p.grants.Load()
	}
	return sum
}

// stop ends the changes, then the processes: all who wait are cancelled.
func (r *torture) stop() {
	r.t.Helper()
	r.took = time.Since(r.began)
	r.stopWork()
	r.work.Wait()
	for _, p := range r.parts {
		p.stop()
	}
	for i, p := range r.parts {
		if err := p.wait(); err != nil && !r.victims[i] {
			r.t.Errorf("part %d: %v\n%s", i, err, p.output())
		}
	}
}

// keepChanging changes the rate of the limiters that have other rates: up, down, to other intervals, and now and then
// with a reset. Nobody else changes anything, so this is the whole record; the moments are the store's own.
func (r *torture) keepChanging(ctx context.Context) {
	rng := rand.New(rand.NewPCG(r.seed, parts))
	client := sluice.New(redisengine.New(stampedConn{r.conn}, nil))
	for {
		select {
		case <-ctx.Done():
			return
		case <-time.After(time.Duration(200+rng.IntN(1000)) * time.Millisecond):
		}
		for _, l := range limiters {
			if len(l.others) == 0 {
				continue
			}
			config := sluice.Config{Rate: l.others[rng.IntN(len(l.others))]}
			c := oracle.Change{Rate: config.Rate.Permits, Interval: config.Rate.Interval.Microseconds()}
			if last := r.changes[l.name][len(r.changes[l.name])-1]; c.Rate == last.Rate && c.Interval == last.Interval {
				continue // it would change nothing
			}
			r.undisturbed.Lock()
			call, at := withStamp(context.WithoutCancel(ctx))
			var err error
			if c.Reset = rng.IntN(5) == 0; c.Reset {
				err = client.Limiter(l.name).SetRate(call, config)
			} else {
				_, err = client.Limiter(l.name).UpdateRate(call, config)
			}
			r.undisturbed.Unlock()
			if err != nil {
				r.t.Errorf("change of %s: %v", l.name, err)
				return
			}
			c.At = *at
			r.changes[l.name] = append(r.changes[l.name], c)
		}
	}
}

// keepAuditing looks at the raw keys in the midst of the work: after each script the value and the permits of the
// ledger make the rate, and the ledger holds at most so many grants and an entry for each who waits.
func (r *torture) keepAuditing(ctx context.Context) {
	for ctx.Err() == nil {
		for _, l := range limiters {
			for _, id := range l.clients() {
				problem, err := audit(ctx, r.conn, l.name, id)
				if err != nil && ctx.Err() == nil && r.faultless {
					r.t.Errorf("%s%s: %v", l.name, id, err)
					return
				}
				if problem != "" {
					r.t.Errorf("%s%s: %s", l.name, id, problem)
					return
				}
				if err == nil {
					r.audits++
				}
			}
		}
		select {
		case <-ctx.Done():
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// files are the records that the processes have left of a limiter; those of one client, if it counts apart.
func (r *torture) files(l *limiterSpec, id string) []string {
	r.t.Helper()
	pattern := "*"
	if id != "" {
		pattern = id
	}
	names, err := filepath.Glob(filepath.Join(r.dir, fmt.Sprintf("%s.%s.txt", l.name, pattern)))
	if err != nil || len(names) == 0 {
		r.t.Fatalf("no records of %s %s: %v", l.name, id, err)
	}
	return names
}
