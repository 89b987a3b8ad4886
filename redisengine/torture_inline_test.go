package redisengine_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/sluice-rate/sluice"
	"github.com/sluice-rate/sluice/internal/oracle"
	"github.com/sluice-rate/sluice/internal/redistest"
	"github.com/sluice-rate/sluice/redisengine"
)

const (
	inlineClients = 16 // each with a connection and a clock of its own
	inlineCallers = 8  // of each client

	inlineTime      = 20 * time.Second
	inlineShortTime = 3 * time.Second
)

// inlineKey is a key and what its callers do. Each call charges the key under all its limits, times 1, 2, 3 and so on, so that what a refund
// frees tells under which of them the grant was still there.
type inlineKey struct {
	name    string
	limits  []sluice.Limit
	most    int64 // permits in one charge, times its place
	cancels bool  // some callers leave while they wait: what they took returns a little later, unseen
}

var inlineKeys = []inlineKey{
	{name: "hot", limits: []sluice.Limit{{Rate: sluice.Per(2400/tortureEase, time.Second)}}, most: 3},
	{name: "short", limits: []sluice.Limit{{Rate: sluice.Per(25, 25*time.Millisecond)}}, most: 4},
	{name: "both", limits: []sluice.Limit{{Rate: sluice.Per(60, 100*time.Millisecond)}, {Rate: sluice.Per(2000/tortureEase, 2*time.Second)}}, most: 3},
	{name: "named", limits: []sluice.Limit{{Rate: sluice.Per(300, time.Second), Name: "a"}, {Rate: sluice.Per(700, time.Second), Name: "b"}}, most: 2},
	{name: "left", limits: []sluice.Limit{{Rate: sluice.Per(200, 500*time.Millisecond)}}, most: 3, cancels: true},
}

// charges are those of a call for n permits.
func (k *inlineKey) charges(n int64) []sluice.Charge {
	charges := make([]sluice.Charge, len(k.limits))
	for i, l := range k.limits {
		charges[i] = l.ChargeN(k.name, n*int64(i+1))
	}
	return charges
}

// TestTortureInline has many clients, whose clocks are up to an hour off, take under limits that travel with the call faster than the rates
// allow: at once and waiting, one charge and two, with refunds, and with callers who leave. The oracle judges by the store's dates.
func TestTortureInline(t *testing.T) {
	seed := *tortureSeed
	if seed == 0 {
		seed = uint64(time.Now().UnixNano())
	}
	t.Logf("seed %d (repeat with -torture.seed)", seed)
	length := inlineTime
	if testing.Short() {
		length = inlineShortTime
	}
	server := redistest.Start(t)
	conn := redistest.Dial(t, server.Addr())
	conn.ResetStats(t)
	ctx, stop := context.WithTimeout(t.Context(), length)
	defer stop()

	var callers sync.WaitGroup
	records := make([]*inlineRecord, len(inlineKeys))
	for i := range records {
		records[i] = newInlineRecord(&inlineKeys[i])
	}
	for c := range inlineClients {
		rng := rand.New(rand.NewPCG(seed, uint64(c)))
		off := time.Duration(rng.Int64N(int64(2*time.Hour))) - time.Hour
		client := sluice.New(redisengine.New(redistest.Dial(t, server.Addr()), nil), sluice.WithClock(func() time.Time { return time.Now().Add(off) }))
		for n := range inlineCallers {
			who := &inlineCaller{
				t: t, client: client, record: records[(c+n)%len(records)],
				rng: rand.New(rand.NewPCG(seed^uint64(c)<<32, uint64(n))), who: fmt.Sprintf("%d.%d", c, n),
			}
			callers.Go(func() { who.live(ctx) })
		}
	}
	callers.Wait()
	calls, usec := conn.ScriptStats(t)
	t.Logf("%.0f script calls a second of %.0f µs", float64(calls)/length.Seconds(), usec/float64(calls))
	judgeInline(t, sluice.New(redisengine.New(conn, nil)), records)
}

// inlineCaller is one goroutine that takes.
type inlineCaller struct {
	t      *testing.T
	client *sluice.Client
	record *inlineRecord
	rng    *rand.Rand
	who    string
	last   []inlineGrant // that were not given back
}

type inlineGrant struct {
	receipt sluice.Receipt
	permits int64
}

// live takes until ctx ends. A call that is under way then is finished, so that all that the store has granted is on record.
func (c *inlineCaller) live(ctx context.Context) {
	for ctx.Err() == nil && !c.t.Failed() {
		if err := c.take(); err != nil {
			c.t.Errorf("%s, caller %s: %v", c.record.name, c.who, err)
		}
		if len(c.last) > 0 && c.rng.IntN(25) == 0 {
			if err := c.refund(); err != nil {
				c.t.Errorf("%s, caller %s: %v", c.record.name, c.who, err)
			}
		}
	}
}

func (c *inlineCaller) take() error {
	ctx, leave := context.WithTimeout(context.Background(), time.Minute)
	defer leave()
	n, patience := 1+c.rng.Int64N(c.record.most), time.Duration(0)
	switch c.rng.IntN(8) {
	case 0: // at once
	case 1:
		patience = time.Duration(c.rng.Int64N(int64(100 * time.Millisecond)))
	default:
		patience = 1500 * time.Millisecond
		if c.record.cancels && c.rng.IntN(3) == 0 {
			defer time.AfterFunc(time.Duration(c.rng.Int64N(int64(time.Second))), leave).Stop()
		}
	}
	o, err := c.client.TakeFor(ctx, patience, c.record.charges(n)...)
	went := time.Now().UnixMicro()
	switch {
	case errors.Is(err, context.Canceled) && c.record.cancels:
		return nil
	case err != nil:
		return err
	case !o.Allowed:
		time.Sleep(min(o.RetryAfter, 20*time.Millisecond))
		return nil
	}
	c.record.granted(o, n, went, c.who)
	c.last = append(c.last, inlineGrant{o.Receipt, n})
	c.last = c.last[max(0, len(c.last)-10):]
	return nil
}

// refund gives back one of the last grants, if it is still there.
func (c *inlineCaller) refund() error {
	i := c.rng.IntN(len(c.last))
	g := c.last[i]
	c.last = append(c.last[:i:i], c.last[i+1:]...)
	freed, err := c.client.Refund(context.Background(), g.receipt, c.record.charges(g.permits)...)
	if err == nil {
		err = c.record.returned(g, freed, time.Now().UnixMicro())
	}
	return err
}

// inlineRecord is what happened to the limits of a key.
type inlineRecord struct {
	*inlineKey
	mu        sync.Mutex
	histories []oracle.History // of each limit
}

func newInlineRecord(k *inlineKey) *inlineRecord {
	r := &inlineRecord{inlineKey: k}
	for _, l := range k.limits {
		interval := l.Rate.Interval.Microseconds()
		r.histories = append(r.histories, oracle.History{
			// Grants are merged by the 250th part of an interval, and what was really used is not judged, but that nobody goes early.
			Params:  oracle.Params{Merge: interval/250 + 2*oracle.Grain, Slack: interval},
			Changes: []oracle.Change{{Rate: l.Rate.Permits, Interval: interval}},
		})
	}
	return r
}

func (r *inlineRecord) granted(o sluice.Outcome, n, went int64, who string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	date := (o.Date.UnixMicro() + oracle.Grain - 1) / oracle.Grain * oracle.Grain // what is taken at once is kept at the end of its millisecond
	for i := range r.histories {
		h := &r.histories[i]
		h.Grants = append(h.Grants, oracle.Grant{
			Arrived: o.At.UnixMicro(), At: date, Went: went, Permits: n * int64(i+1), ID: idOf(o.Receipt), Who: who, AtOnce: o.Wait == 0,
		})
	}
}

// returned notes a refund under those of the limits that make the sum of what it freed.
func (r *inlineRecord) returned(g inlineGrant, freed, at int64) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	for i := len(r.histories) - 1; i >= 0; i-- {
		if n := g.permits * int64(i+1); freed >= n {
			freed -= n
			r.histories[i].Returns = append(r.histories[i].Returns, oracle.Return{At: at, ID: idOf(g.receipt), Permits: n})
		}
	}
	if freed != 0 {
		return fmt.Errorf("%d permits too many came back of %v", freed, g)
	}
	return nil
}
