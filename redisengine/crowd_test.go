package redisengine_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/sluice-rate/sluice"
	"github.com/sluice-rate/sluice/internal/redistest"
	"github.com/sluice-rate/sluice/redisengine"
)

const (
	slow     = 5 * time.Millisecond // no script may take longer
	attempts = 3                    // since other programs may have had the processor when one did
)

// crowds are limiters with small and large ledgers, which are full: each has been granted its rate, so many permits at a time.
// With -short the first must do.
var crowds = []struct {
	name  string
	rate  sluice.Rate
	batch int64
}{
	{"10 a minute", sluice.Per(10, time.Minute), 1},
	{"1000 a minute", sluice.Per(1000, time.Minute), 1},
	{"100000 a minute", sluice.Per(100_000, time.Minute), 25},
}

// TestCrowdIsCancelled has ten thousand callers wait and cancels all of them at once: no script call is slow, and nothing
// is left of them anywhere.
func TestCrowdIsCancelled(t *testing.T) {
	for i, test := range crowds {
		if testing.Short() && i > 0 {
			break
		}
		t.Run(test.name, func(t *testing.T) {
			c := newCrowd(t, test.rate, test.batch)
			before, goroutines := c.state(), runtime.NumGoroutine()
			var slowest time.Duration
			for range attempts {
				c.gather(func(int) bool { return true })
				slowest = c.cancelAll()
				c.wait()
				if after := c.state(); !slices.Equal(after, before) {
					t.Fatalf("%d lines of state after the crowd, want the %d of before", len(after), len(before))
				}
				if n := settledGoroutines(goroutines); n > goroutines {
					t.Errorf("%d goroutines after the crowd, want %d as before", n, goroutines)
				}
				if slowest <= slow || !*alone {
					return
				}
			}
			t.Errorf("a script took %v in each of %d attempts, want at most %v", slowest, attempts, slow)
		})
	}
}

// TestHalfACrowdIsCancelled cancels every other of ten thousand callers: the others move up within a few looks, and the first
// goes on when there is room.
func TestHalfACrowdIsCancelled(t *testing.T) {
	for i, test := range crowds {
		if testing.Short() && i > 0 {
			break
		}
		t.Run(test.name, func(t *testing.T) {
			var slowest time.Duration
			for range attempts {
				c := newCrowd(t, test.rate, test.batch)
				c.gather(func(i int) bool { return i%2 == 0 })
				slowest = c.cancelAll()
				c.checkMovedUp()
				c.checkFirstGoes()
				c.leave()
				c.wait()
				if slowest <= slow || !*alone {
					return
				}
			}
			t.Errorf("a script took %v in each of %d attempts, want at most %v", slowest, attempts, slow)
		})
	}
}

// checkMovedUp waits until nobody in line is dated later than he could be.
func (c *crowd) checkMovedUp() {
	c.t.Helper()
	start := time.Now()
	for {
		late, first, of := c.outOfPlace()
		if late == 0 {
			break
		}
		if since := time.Since(start); since > 3*sluice.LookPeriod {
			c.t.Errorf("%d of %d who wait, from the %d. on, are dated later than they could be, %v after the others have left", late, of, first+1, since.Round(time.Second))
			return
		}
		time.Sleep(100 * time.Millisecond)
	}
	c.t.Logf("all have moved up %v after the others have left", time.Since(start).Round(time.Millisecond))
}

// checkFirstGoes makes room for one, who goes on.
func (c *crowd) checkFirstGoes() {
	c.t.Helper()
	start := time.Now()
	if freed, err := c.limiter.Release(c.t.Context(), 1); err != nil || freed != 1 {
		c.t.Fatalf("Release(1) = %d, %v, want 1", freed, err)
	}
	select {
	case d := <-c.went:
		learned := time.Since(start)
		c.t.Logf("the first went %v after there was room", learned.Round(time.Millisecond))
		if learned > sluice.LookPeriod+tolerance || !d.Allowed {
			c.t.Errorf("the first went after %v as %+v, want allowed within %v", learned, d, sluice.LookPeriod)
		}
	case <-time.After(3 * sluice.LookPeriod):
		c.t.Error("there is room, and nobody goes on")
	}
	if n := len(c.went); n > 0 {
		c.t.Errorf("%d more went on, want none", n)
	}
}

// crowd is callers who wait for one limiter.
type crowd struct {
	t       *testing.T
	conn    *redistest.Conn // not the one by which the crowd takes
	limiter *sluice.Limiter
	rate    sluice.Rate
	grants  int // entries of the ledger without the crowd

	wg     sync.WaitGroup
	cancel context.CancelFunc // of those who are to be cancelled
	leave  context.CancelFunc // of all
	went   chan sluice.Decision
	failed atomic.Pointer[error] // of the first who got an error that was not his cancelling
}

func newCrowd(t *testing.T, rate sluice.Rate, batch int64) *crowd {
	t.Helper()
	server := redistest.Start(t, "--slowlog-log-slower-than", strconv.FormatInt(slow.Microseconds(), 10), "--slowlog-max-len", "1000")
	conn := redistest.Dial(t, server.Addr())
	client := sluice.New(redisengine.New(redistest.Dial(t, server.Addr()), nil))
	c := &crowd{t: t, conn: conn, rate: rate, limiter: client.Limiter("crowd"), went: make(chan sluice.Decision, crowdSize)}
	if _, err := c.limiter.TrySetRate(t.Context(), sluice.Config{Rate: rate}); err != nil {
		t.Fatal(err)
	}
	for n := int64(0); n < rate.Permits; n += batch {
		if d, err := c.limiter.TryAcquire(t.Context(), batch); err != nil || !d.Allowed {
			t.Fatalf("TryAcquire(%d) = %+v, %v, want allowed", batch, d, err)
		}
	}
	c.grants = int(conn.Int(t, "ZCARD", "{crowd}:permits"))
	return c
}

// gather has the whole crowd wait in line. victim says who is to be cancelled.
func (c *crowd) gather(victim func(i int) bool) {
	c.t.Helper()
	all, leave := context.WithCancel(c.t.Context())
	some, cancel := context.WithCancel(all)
	c.leave, c.cancel = leave, cancel
	c.conn.ResetStats(c.t)
	start := time.Now()
	c.t.Cleanup(func() { leave(); cancel(); c.wg.Wait() })
	for i := range crowdSize {
		ctx := all
		if victim(i) {
			ctx = some
		}
		c.wg.Go(func() {
			d, err := c.limiter.TryAcquireFor(ctx, 1, sluice.MaxInterval)
			if err == nil {
				c.went <- d
			} else if !errors.Is(err, context.Canceled) || errors.Is(err, sluice.ErrStoreUnavailable) {
				c.failed.CompareAndSwap(nil, &err)
			}
		})
	}
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(5 * time.Millisecond) {
		n := int(c.conn.Int(c.t, "ZCARD", "{crowd}:permits"))
		if n == c.grants+crowdSize {
			break
		}
		if time.Now().After(deadline) {
			c.t.Fatalf("%d in line, want %d", n-c.grants, crowdSize)
		}
	}
	calls, usec := c.conn.ScriptStats(c.t)
	c.t.Logf("%d callers in line after %v; %d script calls of %.0f µs", crowdSize, time.Since(start).Round(time.Millisecond), calls, usec/float64(calls))
	time.Sleep(sluice.LookPeriod * 3 / 2) // some looks while all are there
}

// wait waits until all have returned.
func (c *crowd) wait() {
	c.t.Helper()
	c.wg.Wait()
	if err := c.failed.Load(); err != nil {
		c.t.Errorf("TryAcquireFor = %v, want context.Canceled", *err)
	}
}

// cancelAll cancels those who are to be, waits until the ledger has forgotten them and for two looks more, and says what
// the slowest script took in all this; 0 if none was slow.
func (c *crowd) cancelAll() time.Duration {
	c.t.Helper()
	c.conn.ResetStats(c.t)
	in := c.conn.Int(c.t, "ZCARD", "{crowd}:permits")
	start := time.Now()
	c.cancel()
	for last := in; ; time.Sleep(5 * time.Millisecond) {
		n := c.conn.Int(c.t, "ZCARD", "{crowd}:permits")
		if n <= int64(c.grants+crowdSize/2) && n == last {
			break
		}
		last = n
	}
	took := time.Since(start)
	time.Sleep(2 * sluice.LookPeriod)
	calls, usec := c.conn.ScriptStats(c.t)
	logged := c.conn.Slowlog(c.t)
	c.t.Logf("%d entries left within %v; %d script calls of %.0f µs in the middle of which the slow log has %v",
		in-c.conn.Int(c.t, "ZCARD", "{crowd}:permits"), took.Round(time.Millisecond), calls, usec/float64(calls), logged)
	if len(logged) == 0 {
		return 0
	}
	return slices.Max(logged)
}

// state is all that the server holds.
func (c *crowd) state() []string {
	c.t.Helper()
	lines := c.conn.Strings(c.t, "KEYS", "*")
	slices.Sort(lines)
	lines = append(lines, c.conn.Str(c.t, "GET", "{crowd}:value"))
	return append(lines, c.conn.Strings(c.t, "ZRANGE", "{crowd}:permits", 0, -1, "WITHSCORES")...)
}

// outOfPlace is how many of those who wait are dated later than they could be, by more than LookPeriod, each getting one permit as soon as the
// window has room for it behind those before him; with the place of the first of them, and how many wait.
func (c *crowd) outOfPlace() (late, first, of int) {
	c.t.Helper()
	list := c.conn.Strings(c.t, "ZRANGE", "{crowd}:permits", 0, -1, "WITHSCORES")
	type use struct{ date, permits int64 }
	var uses []use
	var oldest, held int64
	for i := 0; i < len(list); i += 2 {
		score, err := strconv.ParseFloat(list[i+1], 64)
		if err != nil {
			c.t.Fatal(err)
		}
		u := use{int64(score), permitsOf(list[i])}
		if i/2 >= c.grants {
			date := uses[len(uses)-1].date
			for ; held+u.permits > c.rate.Permits; oldest++ {
				date = max(date, uses[oldest].date+c.rate.Interval.Milliseconds())
				held -= uses[oldest].permits
			}
			if u.date-date > sluice.LookPeriod.Milliseconds() { // the places of one millisecond are few: equal dates spread a little
				if late++; late == 1 {
					first = i/2 - c.grants
				}
				u.date = date
			}
		}
		uses = append(uses, u)
		held += u.permits
	}
	return late, first, len(list)/2 - c.grants
}

// settledGoroutines waits a moment for the last goroutines to end, and counts those that have not.
func settledGoroutines(want int) int {
	for deadline := time.Now().Add(2 * time.Second); runtime.NumGoroutine() > want && time.Now().Before(deadline); {
		time.Sleep(5 * time.Millisecond)
	}
	return runtime.NumGoroutine()
}

// tolerance is what is added to a promised time for this machine, on which other programs run.
const tolerance = 250 * time.Millisecond

// TestWaiterLearnsOfChangesByOthers: whatever another process does that lets a waiter go on reaches him within a second.
func TestWaiterLearnsOfChangesByOthers(t *testing.T) {
	server := redistest.Start(t)
	rate := sluice.Per(10, time.Minute)
	changes := map[string]struct {
		change func(ctx context.Context, l *sluice.Limiter, held sluice.Receipt) error
		err    error
	}{
		"set rate": {change: func(ctx context.Context, l *sluice.Limiter, _ sluice.Receipt) error {
			return l.SetRate(ctx, sluice.Config{Rate: sluice.Per(11, time.Minute)})
		}},
		"update rate": {change: func(ctx context.Context, l *sluice.Limiter, _ sluice.Receipt) error {
			_, err := l.UpdateRate(ctx, sluice.Config{Rate: sluice.Per(20, time.Minute)})
			return err
		}},
		"release": {change: func(ctx context.Context, l *sluice.Limiter, _ sluice.Receipt) error {
			_, err := l.Release(ctx, 1)
			return err
		}},
		"refund": {change: func(ctx context.Context, l *sluice.Limiter, held sluice.Receipt) error {
			_, err := l.Refund(ctx, held)
			return err
		}},
		"delete": {err: sluice.ErrNotInitialized, change: func(ctx context.Context, l *sluice.Limiter, _ sluice.Receipt) error {
			_, err := l.Delete(ctx)
			return err
		}},
	}
	for name, test := range changes {
		for phase := range 5 { // of the period in which the waiter's process looks
			t.Run(fmt.Sprint(name, " ", phase), func(t *testing.T) {
				t.Parallel()
				waits := sluice.New(redisengine.New(redistest.Dial(t, server.Addr()), nil)).Limiter(t.Name())
				other := sluice.New(redisengine.New(redistest.Dial(t, server.Addr()), nil)).Limiter(t.Name())
				if _, err := other.TrySetRate(t.Context(), sluice.Config{Rate: rate}); err != nil {
					t.Fatal(err)
				}
				d, err := other.TryAcquire(t.Context(), rate.Permits)
				if err != nil || !d.Allowed {
					t.Fatalf("TryAcquire = %+v, %v, want allowed", d, err)
				}
				errs := make(chan error, 1)
				go func() { errs <- waits.Acquire(t.Context(), 1) }()
				time.Sleep(900*time.Millisecond + time.Duration(phase)*150*time.Millisecond)
				start := time.Now()
				if err := test.change(t.Context(), other, d.Receipt); err != nil {
					t.Fatal(err)
				}
				select {
				case err := <-errs:
					if !errors.Is(err, test.err) {
						t.Errorf("Acquire = %v, want %v", err, test.err)
					}
				case <-time.After(5 * time.Second):
					t.Fatal("the waiter has not noticed after 5s")
				}
				learned := time.Since(start)
				t.Logf("noticed after %v", learned.Round(time.Millisecond))
				if learned > sluice.LookPeriod+tolerance {
					t.Errorf("the waiter noticed after %v, want at most %v", learned, sluice.LookPeriod)
				}
			})
		}
	}
}

// TestClientsShareOneLine: callers of several processes queue, and go on in the order in which they came, each at the
// moment at which the window has room for it.
func TestClientsShareOneLine(t *testing.T) {
	server := redistest.Start(t)
	rate := sluice.Per(4, 150*time.Millisecond)
	asked := make(chan struct{}, 1)
	var clients []*sluice.Limiter
	for range 3 {
		engine := redisengine.New(redistest.Dial(t, server.Addr()), nil)
		clients = append(clients, sluice.New(tellTakes{engine, asked}).Limiter("line"))
	}
	if _, err := clients[0].TrySetRate(t.Context(), sluice.Config{Rate: rate}); err != nil {
		t.Fatal(err)
	}
	turns := make([]turn, 40)
	var wg sync.WaitGroup
	for i := range turns {
		wg.Go(func() {
			n := int64(1 + i*7%4)
			d, err := clients[i%len(clients)].TryAcquireFor(t.Context(), n, time.Minute)
			turns[i] = turn{n, d, time.Now()}
			if err != nil || !d.Allowed {
				t.Errorf("turn %d = %+v, %v, want allowed", i, d, err)
			}
		})
		<-asked // it is in the line now
	}
	wg.Wait()

	var late []time.Duration
	for i, at := range schedule(rate, turns) {
		is := turns[i]
		if got := is.d.Date.UnixMicro(); got != at {
			t.Errorf("turn %d for %d permits came at %d, want %d", i, is.permits, got, at)
		}
		if is.went.Before(is.d.Date) {
			t.Errorf("turn %d went %v before its date", i, is.d.Date.Sub(is.went))
		}
		late = append(late, is.went.Sub(is.d.Date))
	}
	slices.Sort(late)
	t.Logf("late by %v in the middle, %v at most", quantile(late, 0.5), quantile(late, 1))
}

// tellTakes is an engine that says when a take has been decided.
type tellTakes struct {
	sluice.Engine
	asked chan<- struct{}
}

func (e tellTakes) Take(ctx context.Context, takes []sluice.Take) ([]sluice.Answer, error) {
	answers, err := e.Engine.Take(ctx, takes)
	e.asked <- struct{}{}
	return answers, err
}

type turn struct {
	permits int64
	d       sluice.Decision
	went    time.Time
}

// schedule is when each turn should come, in microseconds, given when it was asked for: the first moment, not before the turn
// ahead of it, at which the window has room. A turn that comes at once is kept as coming at the end of its millisecond.
func schedule(rate sluice.Rate, turns []turn) (dates []int64) {
	interval := rate.Interval.Microseconds()
	var kept []int64
	for i, is := range turns {
		asked := is.d.At.UnixMicro()
		free := func(at int64) bool {
			held := is.permits
			for j := range i {
				if kept[j] > at-interval {
					held += turns[j].permits
				}
			}
			return held <= rate.Permits
		}
		line := i > 0 && kept[i-1] > asked+1000
		if now := asked / 1000 * 1000; !line && free(now) {
			dates, kept = append(dates, asked), append(kept, (asked+999)/1000*1000)
			continue
		}
		at := (asked + 999) / 1000 * 1000
		for _, k := range kept {
			if ahead := kept[i-1]; !free(at) || at < ahead {
				at = max(at, ahead, k+interval)
			}
		}
		dates, kept = append(dates, at), append(kept, at)
	}
	return dates
}
