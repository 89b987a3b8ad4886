package redisengine

import (
	"context"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sluice-rate/sluice"
	"github.com/sluice-rate/sluice/internal/inline"
	"github.com/sluice-rate/sluice/internal/redistest"
)

// TestInlineTwin is TestTwin for limits that travel with the call: charges of all algorithms, one and several, that wait, that are sent twice,
// refunds, looks, peeks, limits that change under a name, a clock that jumps. Answers and stored bytes are compared after each step.
func TestInlineTwin(t *testing.T) {
	seed := *twinSeed
	if seed == 0 {
		seed = uint64(time.Now().UnixNano())
	}
	t.Logf("seed %d (repeat with -twin.seed)", seed)
	steps := *twinSteps / 4
	if testing.Short() {
		steps /= 10
	}
	server := redistest.Start(t)
	conn := redistest.Dial(t, server.Addr())
	const perHistory = 400
	for history := 0; history*perHistory < steps; history++ {
		w := newInlineTwins(t, conn, rand.New(rand.NewPCG(seed, uint64(history))), history)
		for range perHistory {
			w.step()
			if w.differ(); t.Failed() {
				for _, line := range w.log[max(0, len(w.log)-12):] {
					t.Log(line)
				}
				t.Fatalf("history %d", history)
			}
		}
	}
}

// lasting runs the scripts with keys that do not expire, since the test's clock is not the server's.
type lasting struct{ *redistest.Conn }

const expiring = `call('SET', KEYS[at], text, 'PX', string.format('%.0f', life))`

func (l lasting) Eval(ctx context.Context, script string, keys []string, args ...any) *redistest.Reply {
	if !strings.Contains(script, expiring) {
		panic("the script does not write as this test thinks")
	}
	return l.Conn.Eval(ctx, strings.ReplaceAll(script, expiring, `call('SET', KEYS[at], text)`), keys, args...)
}

func (l lasting) EvalSha(ctx context.Context, _ string, keys []string, args ...any) *redistest.Reply {
	return l.Conn.EvalSha(ctx, "0000000000000000000000000000000000000000", keys, args...) // NOSCRIPT
}

type inlineTwins struct {
	t    *testing.T
	ctx  context.Context
	conn *redistest.Conn
	rnd  *rand.Rand
	now  time.Time
	log  []string

	name   string
	engine *Engine
	states map[string]*inline.State // by Redis key
	kinds  map[string]inline.Limit
	limits []sluice.Limit
	past   []sluice.Call // that were granted
	crowd  bool
}

func newInlineTwins(t *testing.T, conn *redistest.Conn, rnd *rand.Rand, n int) *inlineTwins {
	w := &inlineTwins{
		t: t, ctx: t.Context(), conn: conn, rnd: rnd, name: fmt.Sprint("twin:", n), crowd: n%3 == 2,
		states: make(map[string]*inline.State), kinds: make(map[string]inline.Limit),
	}
	w.now = time.UnixMicro(1_790_000_000_000_000 + rnd.Int64N(1e9))
	w.engine = New(lasting{conn}, &Options{Now: func() time.Time { return w.now }})
	for range 1 + rnd.IntN(4) {
		w.limits = append(w.limits, w.randomLimit())
	}
	return w
}

func (w *inlineTwins) randomLimit() sluice.Limit {
	rates := []int64{1, 2, 3, 5, 10, 100, 700, 100_000}
	intervals := []time.Duration{time.Millisecond, 7 * time.Millisecond, time.Second, 5 * time.Second, time.Minute, 3 * time.Hour, 24 * time.Hour}
	l := sluice.Limit{Rate: sluice.Per(rates[w.rnd.IntN(len(rates))], intervals[w.rnd.IntN(len(intervals))]), Algorithm: sluice.Algorithm(w.rnd.IntN(4))}
	if w.crowd {
		l.Rate.Permits = 100_000
	}
	if l.Algorithm == sluice.TokenBucket && w.rnd.IntN(2) == 0 {
		l.Burst = 1 + w.rnd.Int64N(2*l.Rate.Permits)
	}
	if w.rnd.IntN(2) == 0 {
		l.Name = []string{"a", "b"}[w.rnd.IntN(2)]
	}
	return l
}

func (w *inlineTwins) notef(format string, args ...any) {
	w.log = append(w.log, w.now.Format("15:04:05.000000 ")+fmt.Sprintf(format, args...))
}

func (w *inlineTwins) step() {
	interval := int64(w.limits[w.rnd.IntN(len(w.limits))].Rate.Interval / time.Microsecond)
	switch p := w.rnd.IntN(100); {
	case w.crowd:
		w.now = w.now.Add(time.Duration(w.rnd.Int64N(interval/300+2)) * time.Microsecond)
	case p < 30:
		w.now = w.now.Add(time.Duration(w.rnd.Int64N(interval/4+1)) * time.Microsecond)
	case p < 33:
		w.now = w.now.Add(time.Duration(w.rnd.Int64N(3*interval)) * time.Microsecond)
	case p < 34:
		w.now = w.now.Add(-time.Duration(w.rnd.Int64N(2*interval)) * time.Microsecond)
	}
	switch p := w.rnd.IntN(100); {
	case p < 70:
		w.charge()
	case p < 82:
		w.refund()
	case p < 97:
		w.look()
	default: // the limit is changed: under its name what is used stays
		i := w.rnd.IntN(len(w.limits))
		w.limits[i] = w.randomLimit()
	}
}

func (w *inlineTwins) charges() []sluice.Charge {
	var charges []sluice.Charge
	for range 1 + w.rnd.IntN(2)*w.rnd.IntN(3) {
		l := w.limits[w.rnd.IntN(len(w.limits))]
		n := 1 + w.rnd.Int64N(3)
		if w.rnd.IntN(4) == 0 && !w.crowd {
			n = w.rnd.Int64N(l.Most() + 1)
		}
		if w.rnd.IntN(30) == 0 {
			n = l.Most() + 1
		}
		c := l.ChargeN(w.name+[]string{"", "x"}[w.rnd.IntN(8)/7], n)
		if !slices.ContainsFunc(charges, func(o sluice.Charge) bool { return o.Slot() == c.Slot() }) {
			charges = append(charges, c)
		}
	}
	return charges
}

func (w *inlineTwins) call() sluice.Call {
	if len(w.past) > 0 && w.rnd.IntN(20) == 0 {
		return w.past[w.rnd.IntN(len(w.past))] // one that is sent twice
	}
	c := sluice.Call{Charges: w.charges(), Receipt: randomReceipt(w.rnd), Peek: w.rnd.IntN(10) == 0}
	switch p := w.rnd.IntN(10); {
	case p < 3:
		c.MaxWait = time.Duration(w.rnd.Int64N(int64(4*c.Charges[0].Limit().Rate.Interval) + int64(time.Second))).Truncate(time.Microsecond)
	case p < 4:
		c.MaxWait = sluice.MaxInterval
	case p < 6:
		c.Units = 1 + w.rnd.Int64N(5)
	}
	return c
}

func randomReceipt(rnd *rand.Rand) sluice.Receipt {
	var id [16]byte
	for i := range id {
		id[i] = byte(rnd.Uint32())
	}
	return sluice.ReceiptFrom(id, 1)
}

// twin is the charges on copies of the states.
func (w *inlineTwins) twin(charges []sluice.Charge) (call inline.Call, keys []string) {
	for _, c := range charges {
		key := inlineKey(c.Slot())
		keys = append(keys, key)
		s := &inline.State{}
		if old := w.states[key]; old != nil {
			*s = *old
			s.Entries = slices.Clone(s.Entries)
		}
		l := c.Limit()
		made, _ := inline.Make(inline.Kind(l.Algorithm), l.Rate.Permits, l.Rate.Interval.Milliseconds(), l.Burst)
		call.Charges = append(call.Charges, inline.Charge{State: s, Limit: made, N: c.Permits()})
	}
	return call, keys
}

func (w *inlineTwins) store(call inline.Call, keys []string) {
	for i, c := range call.Charges {
		switch {
		case !c.Wrote:
		case c.State.Empty():
			delete(w.states, keys[i])
		default:
			w.states[keys[i]], w.kinds[keys[i]] = c.State, c.Limit
		}
	}
}

func (w *inlineTwins) charge() {
	calls := make([]sluice.Call, 1+w.rnd.IntN(2)*w.rnd.IntN(4))
	for i := range calls {
		calls[i] = w.call()
	}
	got, err := w.engine.Charge(w.ctx, calls)
	if err != nil {
		w.t.Fatal(err)
	}
	for i, c := range calls {
		call, keys := w.twin(c.Charges)
		call.Tag, call.Units, call.Patience, call.Peek = inline.TagOf(c.Receipt.ID()), c.Units, c.MaxWait.Microseconds(), c.Peek
		want := call.Take(w.now.UnixMicro())
		w.store(call, keys)
		w.notef("charge %v units %d wait %v peek %v: %+v", bill(c.Charges), c.Units, c.MaxWait, c.Peek, want)
		o := got[i].Outcome
		if (got[i].Err != nil) != (want.Status == inline.TooMany) {
			w.t.Errorf("charge %d: error %v, want status %v", i, got[i].Err, want.Status)
		}
		if want.Status == inline.TooMany {
			continue
		}
		wait := o.Wait
		if !o.Allowed {
			wait = o.RetryAfter
		}
		if o.Allowed != (want.Status == inline.Granted) || wait.Microseconds() != want.Wait || o.Units != want.Units {
			w.t.Errorf("charge %d: the script says %v, %v units, wait %v; want %+v", i, o.Allowed, o.Units, wait, want)
		}
		for k, p := range o.Parts {
			own := p.RetryAfter.Microseconds()
			if o.Allowed {
				own = want.Parts[k].Wait // an outcome that is granted does not say
			}
			if part := (inline.Part{Wait: own, Remaining: p.Remaining, Reset: p.ResetAfter.Microseconds()}); part != want.Parts[k] {
				w.t.Errorf("charge %d part %d: the script says %+v, want %+v", i, k, part, want.Parts[k])
			}
		}
		if o.Allowed && !c.Peek {
			w.past = append(w.past, c)
		}
	}
	if n := len(w.past); n > 700 {
		w.past = w.past[n-500:]
	}
}

func (w *inlineTwins) refund() {
	if len(w.past) == 0 {
		return
	}
	c := w.past[w.rnd.IntN(len(w.past))]
	receipts := []sluice.Receipt{c.Receipt}
	for range w.rnd.IntN(2) * w.rnd.IntN(5) {
		receipts = append(receipts, w.past[w.rnd.IntN(len(w.past))].Receipt)
	}
	got, err := w.engine.Refund(w.ctx, c.Charges, receipts)
	if err != nil {
		w.t.Fatal(err)
	}
	call, keys := w.twin(c.Charges)
	for i, r := range receipts {
		call.Tag = inline.TagOf(r.ID())
		want := call.Refund(w.now.UnixMicro())
		w.notef("refund of %v: %d", bill(c.Charges), want)
		if got[i] != want {
			w.t.Errorf("refund %d: the script says %d, want %d", i, got[i], want)
		}
	}
	w.store(call, keys)
}

func (w *inlineTwins) look() {
	if len(w.past) == 0 {
		return
	}
	c := w.past[w.rnd.IntN(len(w.past))]
	receipts := []sluice.Receipt{c.Receipt}
	for range w.rnd.IntN(10) {
		receipts = append(receipts, w.past[w.rnd.IntN(len(w.past))].Receipt)
	}
	got, err := w.engine.LookAt(w.ctx, c.Charges, receipts)
	if err != nil {
		w.t.Fatal(err)
	}
	call, keys := w.twin(c.Charges)
	for i, r := range receipts {
		call.Tag = inline.TagOf(r.ID())
		want := call.Look(w.now.UnixMicro())
		w.notef("look at %v: %+v", bill(c.Charges), want)
		if got[i].Gone != (want.Status == inline.Gone) || !got[i].Gone && got[i].Wait.Microseconds() != want.Wait {
			w.t.Errorf("look %d: the script says %+v, want %+v", i, got[i], want)
		}
	}
	w.store(call, keys)
}

// differ compares what is stored.
func (w *inlineTwins) differ() {
	w.t.Helper()
	for key, want := range w.states {
		raw, err := w.conn.Do(w.ctx, "GET", key)
		if err != nil {
			w.t.Fatal(err)
		}
		text, _ := raw.(string)
		got, err := parseInline(text)
		if err != nil {
			w.t.Errorf("%s: %v: %q", key, err, text)
			return
		}
		waits := slices.ContainsFunc(want.Entries, func(e inline.Entry) bool { return e.Flags&inline.Reserved != 0 })
		is, ought := *got, *want
		if !waits {
			is.Written, ought.Written = 0, 0
		}
		if w.kinds[key].Kind == inline.Bucket {
			is.Sum, ought.Sum = 0, 0
		}
		if a, b := fmt.Sprintf("%+v", is), fmt.Sprintf("%+v", ought); a != b && !(len(is.Entries) == 0 && len(ought.Entries) == 0 && is.Debt == ought.Debt) {
			w.t.Errorf("%s is\n%v, want\n%v", key, a, b)
			return
		}
	}
}

// parseInline reads the bytes: see lua/inline_bytes.lua.
func parseInline(text string) (*inline.State, error) {
	b := []byte(text)
	bad := fmt.Errorf("not a state")
	take := func(n int) (v int64) {
		if len(b) < n {
			b, v = nil, -1
			return
		}
		for i := n - 1; i >= 0; i-- {
			v = v<<8 | int64(b[i])
		}
		b = b[n:]
		return v
	}
	varint := func() int64 {
		v, n := binary.Uvarint(b)
		if n <= 0 {
			n = len(b)
		}
		b = b[n:]
		return int64(v)
	}
	var s inline.State
	if len(b) < 7 {
		return &s, bad
	}
	format := take(1)
	date, unit := take(6), int64(1)<<(format%32)
	var counted, sum, last, claimed int64
	if format&32 != 0 {
		sum, last, counted = take(7), date+take(6), take(2)
	}
	if format&64 != 0 {
		s.Written, claimed = take(6), take(2)
	}
	if format&128 != 0 {
		s.Debt, s.Mark, s.Cost = take(7), take(7), take(7)
	}
	for first := true; len(b) > 0; first = false {
		e := inline.Entry{Permits: 1}
		v := varint()
		if !first {
			date += v / 2 * unit
		}
		e.Date = date
		if v%2 == 0 {
			v = varint()
			e.Permits, e.Flags = v/8, uint8(v%8)
		}
		if e.Flags&inline.Merged == 0 {
			if len(b) < 5 {
				return &s, bad
			}
			copy(e.Tag[:], b)
			b = b[5:]
		}
		s.Entries = append(s.Entries, e)
		s.Sum += e.Permits
	}
	if format&64 != 0 && claimed != int64(len(s.Entries)) {
		return &s, fmt.Errorf("the header claims %d entries, but there are %d", claimed, len(s.Entries))
	}
	if format&32 != 0 && (counted != int64(len(s.Entries)) || format&128 == 0 && sum != s.Sum || last != date) {
		return &s, fmt.Errorf("the header counts %d entries with %d permits until %d, but there are %d, %d, %d", counted, sum, last, len(s.Entries), s.Sum, date)
	}
	return &s, nil
}

func bill(charges []sluice.Charge) string {
	var parts []string
	for _, c := range charges {
		parts = append(parts, fmt.Sprintf("%d of %s under %v", c.Permits(), c.Key(), c.Limit()))
	}
	return strings.Join(parts, " and ")
}
