package redisengine_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/sluice-rate/sluice"
	"github.com/sluice-rate/sluice/internal/oracle"
	"github.com/sluice-rate/sluice/internal/redistest"
	"github.com/sluice-rate/sluice/redisengine"
)

// limiterSpec is a limiter and what its callers do.
type limiterSpec struct {
	name    string
	config  sluice.Config
	others  []sluice.Rate // to which it is changed in the course of the run
	callers int           // in each process
	most    int64         // permits in one call
	acts    []act         // one of these is drawn for each call
	refund  int           // of a hundred grants so many are given back, whole or in part
	release int           // after so many of a hundred grants some permits are given back without a receipt
}

type act int

const (
	try     act = iota
	acquire     // wait for as long as it takes
	patient     // wait, but not for long
	cancel      // wait, and be cancelled soon
	reserve     // and wait for it, or cancel it
)

// limiters are of different natures. The callers of each want more than its rate, so that lines form.
var limiters = []*limiterSpec{
	// More grants in the window than a ledger holds, so they are merged. No reservations: the cancel of one can come after it
	// was merged and gives nothing back then, and what is free could not be compared with the record.
	{name: "hot", config: config(24_000/tortureEase, 2*time.Second), callers: 24, most: 5,
		acts: []act{try, acquire, acquire, acquire, acquire, acquire, patient, patient}, refund: 2},
	// A short window, and a line that is many windows long.
	{name: "small", config: config(10, 10*time.Millisecond), callers: 14, most: 5,
		acts: []act{try, acquire, acquire, acquire, patient, cancel}, refund: 3},
	// A budget for each process. Permits are released, and so none are refunded: of two grants of one millisecond the oracle
	// does not know which one a release has met.
	{name: "own", config: sluice.Config{Rate: sluice.Per(700/tortureEase, 500*time.Millisecond), Mode: sluice.PerClient}, callers: 14, most: 5,
		acts: []act{try, acquire, acquire, acquire, acquire, patient, reserve}, release: 2},
	// A rate that goes up and down, and waits that are longer than a look period, so that dates move.
	{name: "varied", config: config(1600, time.Second), callers: 80, most: 5,
		others: []sluice.Rate{
			sluice.Per(3000, time.Second), sluice.Per(600, time.Second), sluice.Per(700, 500*time.Millisecond), sluice.Per(200, 250*time.Millisecond),
			sluice.Per(5000, 2*time.Second), sluice.Per(4, 20*time.Millisecond), sluice.Per(2500, time.Second), sluice.Per(1200, 2*time.Second),
		},
		acts: []act{try, acquire, acquire, acquire, acquire, patient, cancel, reserve}, refund: 3},
}

const mostCallers = 100 // of one limiter in one process

func config(permits int64, interval time.Duration) sluice.Config {
	return sluice.Config{Rate: sluice.Per(permits, interval)}
}

// clients are those who count apart; "" is all together.
func (l *limiterSpec) clients() []string {
	if l.config.Mode == sluice.Overall {
		return []string{""}
	}
	ids := make([]string, parts)
	for i := range ids {
		ids[i] = clientID(i)
	}
	return ids
}

func clientID(part int) string { return fmt.Sprint("part", part) }

// tortured is the test in each of the processes: callers who take until the parent closes our input.
func tortured(t *testing.T) {
	var a assignment
	if err := json.Unmarshal([]byte(os.Getenv(assignmentEnv)), &a); err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(a.Seed, uint64(a.Part)))
	off := time.Duration(rng.Int64N(int64(2*time.Hour))) - time.Hour
	conn := redistest.Connect(a.Addr)
	defer conn.Close()
	records := make(map[string]*record)
	for _, spec := range limiters {
		records[spec.name] = newRecord(t, a, spec)
	}
	client := sluice.New(recorder{redisengine.New(stampedConn{conn}, nil), records}, sluice.WithClientID(clientID(a.Part)),
		sluice.WithClock(func() time.Time { return time.Now().Add(off) }))
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	go func() { // until the parent closes it, or is gone
		_, _ = io.Copy(io.Discard, os.Stdin)
		stop()
	}()

	l := load{assignment: a, t: t}
	var callers sync.WaitGroup
	for i, spec := range limiters {
		for n := range spec.callers {
			c := &caller{
				load: &l, limiterSpec: spec, limiter: client.Limiter(spec.name), record: records[spec.name],
				rng: rand.New(rand.NewPCG(a.Seed^uint64(a.Part)<<32, uint64(i*mostCallers+n))),
				who: fmt.Sprintf("%d.%d", a.Part, n),
			}
			callers.Go(func() { c.live(ctx) })
		}
	}
	control := newMetronome(ctx, a.Addr)
	for ctx.Err() == nil {
		fmt.Printf("%s%d\n", progress, l.granted.Load())
		select {
		case <-ctx.Done():
		case <-time.After(20 * time.Millisecond):
		}
	}
	callers.Wait()
	fmt.Printf("%s%d\n", progress, l.granted.Load())
	summary{Unknown: l.unknown(), Failed: l.failures.Load(), Clock: off, Control: control.stop()}.write(t, a)
}

// load is what the callers of one process share.
type load struct {
	assignment
	t        *testing.T
	granted  atomic.Int64
	failures atomic.Int64 // calls that failed since the server did not answer
	lost     sync.Map     // of each limiter, how many takes were cancelled before the answer came: they may have run
}

func (l *load) lose(limiter string) {
	n, _ := l.lost.LoadOrStore(limiter, new(atomic.Int64))
	n.(*atomic.Int64).Add(1)
}

// unknown is of how many takes of each limiter it is not known whether they ran.
func (l *load) unknown() map[string]int64 {
	all := make(map[string]int64)
	l.lost.Range(func(limiter, n any) bool {
		all[limiter.(string)] = n.(*atomic.Int64).Load()
		return true
	})
	return all
}

// caller is one goroutine that takes.
type caller struct {
	*load
	*limiterSpec
	limiter *sluice.Limiter
	record  *record
	rng     *rand.Rand
	who     string

	receipts []sluice.Receipt // of the last grants, oldest first, that were not given back
}

// live takes until ctx ends. For the first interval it takes its time, as much as the rate gives to each: a window that is
// taken in one burst returns in one burst for ever, and lines are short then.
func (c *caller) live(ctx context.Context) {
	rate := c.config.Rate
	share := rate.Interval * time.Duration(int64(c.callers*parts)*(c.most+1)) / time.Duration(rate.Permits) // twice its share
	if c.config.Mode == sluice.PerClient {
		share /= parts
	}
	for start := time.Now(); time.Since(start) < rate.Interval && ctx.Err() == nil; {
		c.rest(ctx, time.Duration(c.rng.Int64N(int64(share))))
		if err := c.act(ctx); err != nil {
			c.fail(ctx, err)
		}
	}
	for ctx.Err() == nil && !c.t.Failed() {
		if err := c.act(ctx); err != nil {
			c.fail(ctx, err)
		}
	}
}

func (c *caller) act(ctx context.Context) error {
	n := 1 + c.rng.Int64N(c.most)
	var patience time.Duration
	switch c.acts[c.rng.IntN(len(c.acts))] {
	case try:
		d, err := c.limiter.TryAcquire(ctx, n)
		return c.took(ctx, d, err)
	case acquire:
		patience = sluice.MaxInterval
	case patient:
		patience = time.Duration(c.rng.Int64N(int64(time.Second)))
	case cancel:
		var enough context.CancelFunc
		ctx, enough = context.WithCancel(ctx)
		defer enough()
		timer := time.AfterFunc(time.Duration(c.rng.Int64N(int64(200*time.Millisecond))), enough)
		defer timer.Stop()
		patience = sluice.MaxInterval
	case reserve:
		return c.reserve(ctx, n)
	}
	d, err := c.limiter.TryAcquireFor(ctx, n, patience)
	return c.took(ctx, d, err)
}

func (c *caller) reserve(ctx context.Context, n int64) error {
	patience := time.Minute
	if len(c.others) > 0 {
		patience = sluice.LookPeriod // a firm date stands under a lower rate: let it be near enough to stand in any case
	}
	r, err := c.limiter.Reserve(ctx, n, patience)
	if err != nil {
		return err
	}
	if c.rng.IntN(3) == 0 {
		c.rest(ctx, min(r.Delay(), time.Duration(c.rng.Int64N(int64(100*time.Millisecond)))))
		return r.Cancel(context.WithoutCancel(ctx))
	}
	if r.Allowed {
		err = r.Wait(ctx)
	}
	return c.took(ctx, r.Decision, err)
}

// took notes a grant, and sometimes gives permits back; whoever is refused rests.
func (c *caller) took(ctx context.Context, d sluice.Decision, err error) error {
	went := time.Now().UnixMicro()
	if err != nil {
		return err
	}
	if !d.Allowed {
		c.rest(ctx, min(d.RetryAfter, 50*time.Millisecond))
		return nil
	}
	id := idOf(d.Receipt)
	c.record.write(oracle.Grant{
		Arrived: d.At.UnixMicro(), At: d.Date.UnixMicro(), Went: went, Permits: d.Permits, ID: id, Who: c.who, AtOnce: d.Wait == 0,
	})
	c.granted.Add(1)
	if c.Victim {
		return nil
	}
	c.receipts = append(c.receipts, d.Receipt)
	c.receipts = c.receipts[max(0, len(c.receipts)-30):]
	if c.rng.IntN(100) < c.refund {
		if err := c.giveBack(ctx); err != nil {
			return err
		}
	}
	if c.Faultless && c.rng.IntN(100) < c.release {
		call, at := withStamp(context.WithoutCancel(ctx))
		freed, err := c.limiter.Release(call, 1+c.rng.Int64N(c.most))
		if err != nil {
			return err
		}
		if freed > 0 {
			c.record.write(oracle.Release{At: *at, Permits: freed})
		}
	}
	return nil
}

// giveBack gives one of the last grants back, whole or in part. It may have left the window by then, or have been merged.
func (c *caller) giveBack(ctx context.Context) error {
	i := c.rng.IntN(len(c.receipts))
	receipt := c.receipts[i]
	c.receipts = slices.Delete(c.receipts, i, i+1)
	n := 1 + c.rng.Int64N(receipt.Permits())
	call, at := withStamp(context.WithoutCancel(ctx))
	freed, _, err := c.limiter.RefundN(call, receipt, n)
	if err != nil {
		freed, *at = n, time.Now().UnixMicro() // it may have run; to say that it has makes no window fuller
	}
	if freed > 0 {
		c.record.write(oracle.Return{At: *at, ID: idOf(receipt), Permits: freed})
	}
	return err
}

// fail sorts errors: that a caller was cancelled is none, nor that the rate has become too low for him.
func (c *caller) fail(ctx context.Context, err error) {
	switch {
	case errors.Is(err, context.Canceled):
		if errors.Is(err, sluice.ErrStoreUnavailable) {
			c.lose(c.name)
		}
	case errors.Is(err, sluice.ErrExceedsRate):
		c.rest(ctx, 20*time.Millisecond)
	case errors.Is(err, sluice.ErrStoreUnavailable) && (!c.Faultless || errors.Is(err, context.DeadlineExceeded)):
		// The library gives up a look after a second, which a machine that stands still can take.
		c.lose(c.name)
		c.failures.Add(1)
		c.rest(ctx, 20*time.Millisecond)
	default:
		c.t.Errorf("%s, caller %s: %v", c.name, c.who, err)
	}
}

func (c *caller) rest(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}
