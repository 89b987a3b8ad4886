package redisengine

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"strconv"
	"testing"
	"time"

	"github.com/sluice-rate/sluice"
	"github.com/sluice-rate/sluice/internal/ledger"
	"github.com/sluice-rate/sluice/internal/redistest"
)

var (
	twinSeed  = flag.Uint64("twin.seed", 0, "seed of TestTwin; 0: by the clock")
	twinSteps = flag.Int("twin.steps", 100_000, "steps of TestTwin")
)

// TestTwin walks the scripts and the Go arithmetic through the same random history and compares answers and states, bit
// for bit, after each step. The history has everything in it: takes of all kinds, returns, looks, changes of the rate, a
// clock that jumps, entries of peers with wrong clocks, and keys that get lost or are edited.
func TestTwin(t *testing.T) {
	seed := *twinSeed
	if seed == 0 {
		seed = uint64(time.Now().UnixNano())
	}
	t.Logf("seed %d (repeat with -twin.seed)", seed)
	steps := *twinSteps
	if testing.Short() {
		steps /= 10
	}
	server := redistest.Start(t)
	conn := redistest.Dial(t, server.Addr())
	const perHistory = 400
	for history := 0; history*perHistory < steps; history++ {
		w := newTwins(t, conn, rand.New(rand.NewPCG(seed, uint64(history))), history)
		for range perHistory {
			w.step()
			if w.differ(); t.Failed() {
				for _, line := range w.log[max(0, len(w.log)-20):] {
					t.Log(line)
				}
				t.Fatalf("history %d", history)
			}
		}
	}
}

type twins struct {
	t    *testing.T
	ctx  context.Context
	conn *redistest.Conn
	rnd  *rand.Rand
	key  sluice.Key
	now  time.Time
	log  []string

	engine *Engine
	state  ledger.State
	config sluice.Config

	receipts []sluice.Receipt
	patience map[sluice.Receipt]time.Duration
	crowd    bool // a history of many small takes under a high rate, so that the ledger has to be kept short
}

func newTwins(t *testing.T, conn *redistest.Conn, rnd *rand.Rand, n int) *twins {
	w := &twins{t: t, ctx: t.Context(), conn: conn, rnd: rnd, key: sluice.Key{Limiter: fmt.Sprint("twin:", n), Client: "c"}}
	w.patience = make(map[sluice.Receipt]time.Duration)
	w.now = time.UnixMicro(1_790_000_000_000_000 + rnd.Int64N(1e9))
	w.engine = New(conn, &Options{Now: func() time.Time { return w.now }})
	w.config = w.randomConfig()
	if n%4 == 3 {
		w.crowd = true
		w.config.Rate = sluice.Per(1_000_000, []time.Duration{500 * time.Millisecond, time.Minute, time.Hour}[rnd.IntN(3)])
	}
	w.configure(sluice.TrySet)
	return w
}

func (w *twins) randomConfig() sluice.Config {
	rates := []int64{1, 2, 5, 10, 100, 3000, 1_000_000}
	intervals := []time.Duration{time.Millisecond, 10 * time.Millisecond, time.Second, 1500 * time.Millisecond, 5 * time.Second, time.Minute}
	return sluice.Config{Rate: sluice.Per(rates[w.rnd.IntN(len(rates))], intervals[w.rnd.IntN(len(intervals))])}
}

func (w *twins) cfg() ledger.Config {
	return ledger.Config{Rate: w.config.Rate.Permits, Interval: w.config.Rate.Interval.Milliseconds()}
}

func (w *twins) believed() ledger.Belief {
	b := w.engine.beliefs.of(w.key)
	if b.rate == unknownRate {
		return ledger.Belief{}
	}
	return ledger.Belief{Config: ledger.Config{Rate: b.rate, Interval: b.interval}, Checked: b.checked}
}

func (w *twins) notef(format string, args ...any) {
	w.log = append(w.log, w.now.Format("15:04:05.000000 ")+fmt.Sprintf(format, args...))
}

func (w *twins) step() {
	if w.crowd {
		w.stepInCrowd()
		return
	}
	interval := int64(w.config.Rate.Interval / time.Microsecond)
	switch p := w.rnd.IntN(100); {
	case p < 30:
		w.now = w.now.Add(time.Duration(w.rnd.Int64N(interval/4+1)) * time.Microsecond)
	case p < 33:
		w.now = w.now.Add(time.Duration(w.rnd.Int64N(3*interval)) * time.Microsecond)
	case p < 34:
		w.now = w.now.Add(-time.Duration(w.rnd.Int64N(2*interval)) * time.Microsecond)
	}
	switch p := w.rnd.IntN(100); {
	case p < 60:
		w.take()
	case p < 80:
		w.giveBack()
	case p < 90:
		w.look()
	case p < 93:
		w.config = w.randomConfig()
		w.configure([]sluice.Change{sluice.Set, sluice.Update}[w.rnd.IntN(2)])
	default:
		w.sabotage()
	}
}

func (w *twins) stepInCrowd() {
	w.now = w.now.Add(time.Duration(w.rnd.Int64N(int64(w.config.Rate.Interval) / 400)).Truncate(time.Microsecond))
	switch p := w.rnd.IntN(100); {
	case p < 93:
		w.take()
	case p < 97:
		w.giveBack()
	case p < 98:
		w.look()
	case p < 99: // a peer whose clock is behind writes among what has been merged
		behind := w.rnd.Int64N(w.config.Rate.Interval.Milliseconds())
		w.notef("a peer who is %d ms behind takes 400", behind)
		for range 400 {
			w.foreign(1, w.now.UnixMilli()-behind)
		}
	default:
		w.sabotage()
	}
}

func (w *twins) permits() int64 {
	if w.crowd {
		return 1 + w.rnd.Int64N(3)
	}
	limit := min(w.config.Rate.Permits, 1<<20)
	if w.rnd.IntN(20) == 0 {
		return min(limit+1, sluice.MaxPermits)
	}
	if w.rnd.IntN(2) == 0 {
		return 1 + w.rnd.Int64N(limit)
	}
	return 1 + w.rnd.Int64N(min(limit, 3))
}

func (w *twins) take() {
	takes := make([]sluice.Take, 1+w.rnd.IntN(3)*w.rnd.IntN(30))
	if w.crowd {
		takes = make([]sluice.Take, 1+w.rnd.IntN(2)*w.rnd.IntN(60))
	}
	for i := range takes {
		var patience time.Duration
		if w.rnd.IntN(2) == 0 {
			patience = time.Duration(w.rnd.Int64N(int64(10*w.config.Rate.Interval) + int64(3*time.Second)))
		}
		if w.rnd.IntN(10) == 0 {
			patience = sluice.MaxInterval
		}
		m := ledger.NewMember(w.permits(), patience, w.rnd.IntN(4) == 0)
		receipt := sluice.ReceiptFrom(m.ID, m.Permits)
		if len(w.receipts) > 0 && w.rnd.IntN(20) == 0 {
			receipt = w.receipts[w.rnd.IntN(len(w.receipts))] // a take that is sent twice
			patience = min(patience, w.patience[receipt])
		}
		w.patience[receipt] = patience
		takes[i] = sluice.Take{Key: w.key, Receipt: receipt, MaxWait: patience.Truncate(time.Microsecond)}
	}
	requests := make([]ledger.Request, len(takes))
	for i, take := range takes {
		requests[i] = ledger.Request{Member: w.member(take.Receipt), MaxWait: take.MaxWait.Microseconds()}
	}
	want, _ := w.state.Take(w.cfg(), w.now.UnixMicro(), w.believed(), requests)
	got, err := w.engine.Take(w.ctx, takes)
	w.check(err)
	for i := range want {
		w.notef("take %d of %d: %v", requests[i].Permits, w.config.Rate.Permits, want[i])
		d := got[i].Decision
		switch {
		case want[i].Status == ledger.TooMany:
			if got[i].Err == nil {
				w.t.Errorf("take %d: no error, want one", i)
			}
			continue
		case got[i].Err != nil:
			w.t.Errorf("take %d: %v", i, got[i].Err)
			continue
		}
		wait := d.Wait
		if !d.Allowed {
			wait = d.RetryAfter
		}
		answer := ledger.Answer{Status: ledger.Refused, Wait: wait.Microseconds(), Remaining: d.Remaining, Reset: d.ResetAfter.Microseconds()}
		if d.Allowed {
			answer.Status = ledger.Granted
			w.receipts = append(w.receipts, d.Receipt)
		}
		if answer != want[i] {
			w.t.Errorf("take %d: the script says %+v, want %+v", i, answer, want[i])
		}
	}
	if n := len(w.receipts); n > 300 {
		w.receipts = w.receipts[n-200:]
	}
}

func (w *twins) member(r sluice.Receipt) ledger.Member {
	return ledger.Member{ID: r.ID(), Permits: uint32(r.Permits())}
}

func (w *twins) giveBack() {
	returns := make([]sluice.Return, 1+w.rnd.IntN(2)*w.rnd.IntN(20))
	batch := make([]ledger.Return, len(returns))
	for i := range returns {
		if len(w.receipts) == 0 || w.rnd.IntN(5) == 0 {
			returns[i].Permits = w.permits()
		} else {
			returns[i].Receipt = w.receipts[w.rnd.IntN(len(w.receipts))]
			returns[i].Permits = 1 + w.rnd.Int64N(returns[i].Receipt.Permits())
		}
		batch[i] = ledger.Return{Member: w.member(returns[i].Receipt), Back: returns[i].Permits}
	}
	want, _ := w.state.GiveBack(w.cfg(), w.now.UnixMicro(), w.believed(), batch)
	got, err := w.engine.GiveBack(w.ctx, w.key, returns)
	w.check(err)
	w.notef("give back %d: %v", len(returns), want)
	if fmt.Sprint(got) != fmt.Sprint(want) {
		w.t.Errorf("give back: the script says %v, want %v", got, want)
	}
}

func (w *twins) look() {
	if len(w.receipts) == 0 {
		return
	}
	receipts := make([]sluice.Receipt, 1+w.rnd.IntN(10))
	members := make([]ledger.Member, len(receipts))
	for i := range receipts {
		receipts[i] = w.receipts[w.rnd.IntN(len(w.receipts))]
		members[i] = w.member(receipts[i])
	}
	want, _ := w.state.Look(w.cfg(), w.now.UnixMicro(), w.believed(), members)
	got, err := w.engine.Look(w.ctx, w.key, receipts)
	w.check(err)
	w.notef("look %d", len(receipts))
	for i, s := range got {
		if s.Settled != want[i].Settled || s.Gone != want[i].Gone || !s.Gone && s.Wait.Microseconds() != want[i].Wait {
			w.t.Errorf("look %d: the script says %+v, want %+v", i, s, want[i])
		}
	}
}

func (w *twins) configure(how sluice.Change) {
	current, err := w.engine.Inspect(w.ctx, w.key, sluice.Page{})
	w.check(err)
	if _, err := w.engine.Configure(w.ctx, w.key, how, w.config); err != nil {
		w.t.Error(err)
	}
	w.notef("configure %v %v", how, w.config.Rate)
	if !current.Exists || current.Config != w.config {
		w.state.Reconfigure(w.cfg(), w.now.UnixMicro(), how != sluice.Set)
	}
}

// sabotage does to both what a peer, an eviction or a hand could do.
func (w *twins) sabotage() {
	value, permits := pair(w.key, sluice.Overall)
	switch w.rnd.IntN(6) {
	case 0:
		w.notef("value lost")
		w.conn.Do(w.ctx, "DEL", value)
		w.state.Known, w.state.Value = false, 0
	case 1:
		w.notef("ledger lost")
		w.conn.Do(w.ctx, "DEL", permits)
		w.state = ledger.State{Known: w.state.Known, Value: w.state.Value}
	case 2:
		off := w.state.Value + w.rnd.Int64N(5) - 2
		w.notef("value %d", off)
		w.conn.Do(w.ctx, "SET", value, off)
		w.state.Known, w.state.Value = true, off
	case 3, 4:
		n := w.permits()
		at := w.now.UnixMilli() + w.rnd.Int64N(4*w.config.Rate.Interval.Milliseconds()+100) - w.config.Rate.Interval.Milliseconds()
		w.notef("a peer dates %d at %d", n, at-w.now.UnixMilli())
		w.foreign(n, at)
	case 5:
		rate := w.randomConfig().Rate.Permits
		w.notef("rate %d by hand", rate)
		w.conn.Do(w.ctx, "HSET", w.key.Limiter, "rate", rate)
		w.config.Rate.Permits = rate
	}
}

// foreign adds an entry as a Java peer does.
func (w *twins) foreign(n, at int64) {
	m := ledger.Member{Permits: uint32(n)}
	for i := range m.ID {
		m.ID[i] = byte(w.rnd.Uint32())
	}
	_, permits := pair(w.key, sluice.Overall)
	w.conn.Do(w.ctx, "ZADD", permits, at, m.Append(nil))
	w.state.Add(at*1024, m)
}

func (w *twins) check(err error) {
	w.t.Helper()
	if err != nil {
		w.t.Fatal(err)
	}
}

// differ compares the two states.
func (w *twins) differ() {
	w.t.Helper()
	value, permits := pair(w.key, sluice.Overall)
	raw, err := w.conn.Pipeline(w.ctx, [][]any{{"GET", value}, {"ZRANGE", permits, 0, -1, "WITHSCORES"}})
	w.check(err)
	want := any(nil)
	if w.state.Known {
		want = strconv.FormatInt(w.state.Value, 10)
	}
	if raw[0] != want {
		w.t.Errorf("value is %v, want %v", raw[0], want)
	}
	list, _ := raw[1].([]any)
	if len(list)/2 != len(w.state.Entries) {
		w.t.Errorf("%d entries, want %d", len(list)/2, len(w.state.Entries))
		for i := range min(len(list)/2, len(w.state.Entries)) {
			if e := w.state.Entries[i]; list[2*i].(string) != string(e.Append(nil)) {
				w.t.Errorf("the first that differs is %d: %x at %v, want %x at %v", i, list[2*i], list[2*i+1], e.Append(nil), float64(e.Score)/1024)
				break
			}
		}
		return
	}
	for i, e := range w.state.Entries {
		score, _ := strconv.ParseFloat(list[2*i+1].(string), 64)
		if m := list[2*i].(string); m != string(e.Append(nil)) || int64(score*1024) != e.Score {
			w.t.Errorf("entry %d is %x at %v, want %x at %v", i, m, score, e.Append(nil), float64(e.Score)/1024)
			return
		}
	}
}
