package redisengine_test

import (
	"context"
	"flag"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/sluice-rate/sluice"
	"github.com/sluice-rate/sluice/internal/redistest"
	"github.com/sluice-rate/sluice/redisengine"
)

const (
	mostEntries = 2048
	mostBytes   = 300 << 10
	slowScript  = 5 * time.Millisecond
	// mergeEvery is about after how many grants the ledger is merged: that is the longest of all calls.
	mergeEvery = 1500
)

// alone lets the slowest of all scripts be judged. Where tests of other packages share the cores, any script can be interrupted.
var alone = flag.Bool("alone", false, "nothing else runs on this machine: no script at all may be slow")

// fullLedger is a limiter whose ledger is used up one permit a call, on a server that logs slow scripts.
type fullLedger struct {
	*testing.T
	conn    *redistest.Conn
	limiter *sluice.Limiter
	ahead   atomic.Int64 // how far the driven clock is ahead
}

func newFullLedger(t *testing.T, rate sluice.Rate) *fullLedger {
	server := redistest.Start(t, "--slowlog-log-slower-than", "5000", "--slowlog-max-len", "10000")
	f := &fullLedger{T: t, conn: redistest.Dial(t, server.Addr())}
	now := func() time.Time { return time.Now().Add(time.Duration(f.ahead.Load())) }
	f.limiter = sluice.New(redisengine.New(f.conn, &redisengine.Options{Now: now})).Limiter("x")
	if _, err := f.limiter.TrySetRate(t.Context(), sluice.Config{Rate: rate}); err != nil {
		t.Fatal(err)
	}
	return f
}

// use takes n permits, one a call.
func (f *fullLedger) use(n int64) {
	for range n {
		if d, err := f.limiter.TryAcquire(f.Context(), 1); err != nil || !d.Allowed {
			f.Errorf("TryAcquire = %+v, %v, want allowed", d, err)
			return
		}
	}
}

// TestMillionPermitsOneByOne uses up a million permits an hour, one a call, by eight callers, and looks at the ledger all the while:
// its memory does not grow with the rate, nor does the time of a script. With -short, and with the race detector, it is a
// hundred thousand.
//
// Callers and server share the machine's cores here, so a script can be interrupted; what counts is that those
// that merge, which take longest, are not slow as a rule. TestNoCallOnAFullLedgerIsSlow looks at the slowest of all.
func TestMillionPermitsOneByOne(t *testing.T) {
	const callers = 8
	permits := int64(1_000_000)
	if testing.Short() || tortureEase > 1 {
		permits /= 10
	}
	f := newFullLedger(t, sluice.Per(permits, time.Hour))
	done := make(chan struct{})
	var entries, bytes int64
	var sampler, users sync.WaitGroup
	sampler.Go(func() {
		for tick := time.Tick(20 * time.Millisecond); ; {
			select {
			case <-done:
				return
			case <-tick:
				entries, bytes = max(entries, f.entries()), max(bytes, f.memory())
			}
		}
	})
	start := time.Now()
	for range callers {
		users.Go(func() { f.use(permits / callers) })
	}
	users.Wait()
	close(done)
	sampler.Wait()

	slow := f.conn.Slowlog(t)
	calls, usec := f.conn.ScriptStats(t)
	t.Logf("%d permits in %v, %d calls of %.1f µs; at most %d entries and %d KB; %d scripts took longer than %v",
		permits, time.Since(start).Round(time.Millisecond), calls, usec/float64(calls), entries, bytes>>10, len(slow), slowScript)
	if d, err := f.limiter.TryAcquire(t.Context(), 1); err != nil || d.Allowed {
		t.Errorf("one permit more = %+v, %v, want refused", d, err)
	}
	if entries > mostEntries || entries == 0 {
		t.Errorf("the ledger had %d entries, want some, and at most %d", entries, mostEntries)
	}
	if bytes > mostBytes {
		t.Errorf("the limiter took %d bytes, want at most %d", bytes, mostBytes)
	}
	if merges := int(permits / mergeEvery); len(slow) > merges/4 {
		t.Errorf("%d scripts took longer than %v, of which about %d merged, want a quarter at most", len(slow), slowScript, merges)
	}
}

// TestNoCallOnAFullLedgerIsSlow has one caller who shares the cores with nobody: no script takes longer than 5 ms, be it one
// that merges or the first after a long idle. Other programs on the machine can interrupt one all the same, so it fails
// only if there is such a script in each of five attempts, and only with -alone.
func TestNoCallOnAFullLedgerIsSlow(t *testing.T) {
	var slow []time.Duration
	for range 5 {
		f := newFullLedger(t, sluice.Per(1_000_000, time.Hour))
		f.use(10 * mergeEvery)
		before := f.entries()
		f.ahead.Add(int64(2 * time.Hour))
		f.use(1)
		if after := f.entries(); before < 500 || after != 1 {
			t.Fatalf("the ledger had %d entries before a long idle and %d after, want many and one", before, after)
		}
		if slow = f.conn.Slowlog(t); len(slow) == 0 {
			return
		}
	}
	slices.Sort(slow)
	if !*alone {
		t.Logf("scripts took %v, but this test was not alone", slow)
		return
	}
	t.Errorf("scripts took %v, want at most %v, in each of five attempts", slow, slowScript)
}

func (f *fullLedger) entries() int64 {
	n, _ := f.conn.Do(context.Background(), "ZCARD", "{x}:permits")
	count, _ := n.(int64)
	return count
}

// memory is how many bytes the three keys take.
func (f *fullLedger) memory() (bytes int64) {
	for _, key := range []string{"x", "{x}:value", "{x}:permits"} {
		n, _ := f.conn.Do(context.Background(), "MEMORY", "USAGE", key, "SAMPLES", 0)
		count, _ := n.(int64)
		bytes += count
	}
	return bytes
}
