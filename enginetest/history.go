package enginetest

import (
	"flag"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/sluice-rate/sluice"
)

var seed = flag.Uint64("enginetest.seed", 0, "seed of the random histories; 0: by the clock")

func random(t *testing.T) *rand.Rand {
	n := *seed
	if n == 0 {
		n = uint64(time.Now().UnixNano())
	}
	t.Logf("seed %d (repeat with -enginetest.seed)", n)
	return rand.New(rand.NewPCG(n, 0))
}

// history lets callers take, wait, reserve, give back and send twice at random, and judges what they were told: no window holds
// more than the rate (law 1), the ledger holds just what was granted (2), those who wait keep their order (5), and
// what was sent twice is charged once (6).
func (h Harness) history(t *testing.T) {
	rnd := random(t)
	w := newWorld(t, h)
	for i, rate := range []sluice.Rate{sluice.Per(1, 10*time.Millisecond), sluice.Per(10, time.Second), sluice.Per(100, 7*time.Second)} {
		w.name = string(rune('a' + i))
		_, err := w.limiter().TrySetRate(t.Context(), sluice.Config{Rate: rate})
		must(t, err)
		past := &past{world: w, rnd: rnd, rate: rate}
		for range 500 {
			w.clock.move(time.Duration(rnd.Int64N(int64(rate.Interval)/4/1000)) * time.Microsecond)
			past.look()
			past.step()
			past.count()
		}
		past.judge()
	}
}

// past is what callers were told.
type past struct {
	*world
	rnd   *rand.Rand
	rate  sluice.Rate
	holds []*hold // in the order in which they came
}

// hold is one grant.
type hold struct {
	take    sluice.Take
	date    time.Time
	movable bool // its owner waits and looks
}

func (p *past) step() {
	switch p.rnd.IntN(10) {
	case 0, 1:
		if h := p.any(); h != nil {
			p.resend(h)
		}
	case 2:
		if h := p.any(); h != nil {
			p.refund(h)
		}
	default:
		p.take()
	}
}

// any is a grant of those that still count.
func (p *past) any() *hold {
	live := p.live()
	if len(live) == 0 {
		return nil
	}
	return live[p.rnd.IntN(len(live))]
}

// live is the grants that have not left the window.
func (p *past) live() (live []*hold) {
	oldest := p.clock.now().Truncate(time.Millisecond).Add(-p.rate.Interval)
	for _, h := range p.holds {
		if h.date.After(oldest) {
			live = append(live, h)
		}
	}
	return live
}

func (p *past) take() {
	n := 1 + p.rnd.Int64N(min(p.rate.Permits, 20))
	t := sluice.Take{Key: p.key()}
	h := &hold{}
	switch p.rnd.IntN(3) {
	case 0:
		t.Receipt = receiptFor(n, 0)
	case 1:
		h.movable, t.MaxWait = true, time.Duration(p.rnd.Int64N(3*int64(p.rate.Interval)))
		t.Receipt = receiptFor(n, t.MaxWait)
	case 2:
		t.MaxWait = time.Duration(p.rnd.Int64N(3 * int64(p.rate.Interval)))
		r, err := p.limiter().Reserve(p.Context(), n, t.MaxWait)
		must(p, err)
		t.Receipt = r.Receipt
		p.granted(h, t, r.Decision)
		return
	}
	d, err := p.ask(t)
	must(p, err)
	p.granted(h, t, d)
}

func (p *past) granted(h *hold, t sluice.Take, d sluice.Decision) {
	if !d.Allowed {
		return
	}
	h.take, h.date = t, roundUp(d.Date)
	if d.Wait == 0 {
		for _, other := range p.holds {
			if other.date.After(roundUp(d.At)) {
				p.Errorf("law 5: at %v %d permits pass one who waits for %v", p.clock.since(), d.Permits, other.date.Sub(d.At))
			}
		}
	}
	p.holds = append(p.holds, h)
}

// roundUp dates a grant as the ledger does, where no two are nearer than a millisecond.
func roundUp(t time.Time) time.Time {
	return t.Add(time.Millisecond - time.Nanosecond).Truncate(time.Millisecond)
}

func (p *past) resend(h *hold) {
	d, err := p.ask(h.take)
	must(p, err)
	if !d.Allowed || h.date.After(p.clock.now()) && !d.Date.Equal(h.date) {
		p.Errorf("law 6: at %v a take that had been granted for %v is sent again: %+v", p.clock.since(), h.date.Sub(p.clock.start), d)
	}
}

func (p *past) refund(h *hold) {
	freed, err := p.limiter().Refund(p.Context(), h.take.Receipt)
	must(p, err)
	if freed != h.take.Receipt.Permits() {
		p.Errorf("law 2: at %v a refund of %d frees %d", p.clock.since(), h.take.Receipt.Permits(), freed)
	}
	p.holds = slices.DeleteFunc(p.holds, func(other *hold) bool { return other == h })
}

// look tells those who wait where they are.
func (p *past) look() {
	var waiting []*hold
	var receipts []sluice.Receipt
	for _, h := range p.holds {
		if h.movable && h.date.After(p.clock.now()) {
			waiting, receipts = append(waiting, h), append(receipts, h.take.Receipt)
		}
	}
	if len(waiting) == 0 {
		return
	}
	sights, err := p.engine.Look(p.Context(), p.key(), receipts)
	must(p, err)
	for i, s := range sights {
		switch h := waiting[i]; {
		case s.Gone:
			p.Errorf("law 5: at %v one who waits for %v is gone", p.clock.since(), h.date.Sub(p.clock.now()))
		case s.At.After(h.date):
			p.Errorf("law 5: at %v one who waits is moved back from %v to %v", p.clock.since(), h.date, s.At)
		case i > 0 && s.At.Before(sights[i-1].At):
			p.Errorf("law 5: at %v one who waits for %v is passed by one for %v", p.clock.since(), sights[i-1].Wait, s.Wait)
		default:
			h.date = s.At
		}
	}
}

// count compares the ledger with what was granted.
func (p *past) count() {
	var want, got int64
	for _, h := range p.live() {
		want += h.take.Receipt.Permits()
	}
	for e, err := range p.limiter().Ledger(p.Context()) {
		must(p, err)
		got += e.Permits
	}
	if got != want {
		p.Fatalf("law 2: at %v the ledger holds %d, want the %d that were granted", p.clock.since(), got, want)
	}
}

// judge sums up each window that ends with a grant.
func (p *past) judge() {
	slices.SortFunc(p.holds, func(a, b *hold) int { return a.date.Compare(b.date) })
	for i, last := range p.holds {
		var used int64
		for _, h := range p.holds[:i+1] {
			if h.date.After(last.date.Add(-p.rate.Interval)) {
				used += h.take.Receipt.Permits()
			}
		}
		if used > p.rate.Permits {
			p.Errorf("law 1: %d permits in the window that ends at %v, want at most %v", used, last.date.Sub(p.clock.start), p.rate)
		}
	}
	p.Logf("%v: %d grants", p.rate, len(p.holds))
}
