package demo

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/sluice-rate/sluice"
)

// witness is an engine that writes down what the engine in it decides. Each worker has a client of its own, as if it were a
// process of its own; the client's id says who asks.
type witness struct {
	sluice.Engine
	rate  sluice.Rate
	begin time.Time

	mu    sync.Mutex
	log   []event
	holds []*hold // those that count, in the order in which they were asked for
	spans []span  // those that have counted
}

// hold is a grant as long as it counts: from its date until the interval has passed, or it was given back.
type hold struct {
	id       [16]byte
	who      string
	permits  int64
	asked    time.Duration
	from, to time.Duration
	began    bool // its date has come
}

// span is from when until when permits counted. It is empty for a place in line that was given up.
type span struct {
	from, to time.Duration
	permits  int64
}

// Take decides, and notes the answers.
func (w *witness) Take(ctx context.Context, takes []sluice.Take) ([]sluice.Answer, error) {
	w.mu.Lock() // held over the decision, so that the log has the ledger's order; the engine is in this process
	defer w.mu.Unlock()
	answers, err := w.Engine.Take(ctx, takes)
	for i, a := range answers {
		if a.Err == nil {
			w.decided(takes[i].Key.Client, a.Decision)
		}
	}
	return answers, err
}

func (w *witness) decided(who string, d sluice.Decision) {
	now := d.At.Sub(w.begin)
	w.settle(now)
	e := event{at: now, who: who, kind: took, permits: d.Permits, wait: d.Wait}
	switch {
	case !d.Allowed:
		e.kind, e.wait = refused, d.RetryAfter
	case d.Wait > 0:
		e.kind = queued
	}
	if d.Allowed {
		h := &hold{id: d.Receipt.ID(), who: who, permits: d.Permits, asked: now, began: d.Wait == 0}
		h.date(d.At.Add(d.Wait).Sub(w.begin), w.rate)
		w.holds = append(w.holds, h)
	}
	w.note(e)
}

// date sets when the hold begins. The ledger rounds it up to the millisecond.
func (h *hold) date(from time.Duration, rate sluice.Rate) {
	h.from = (from + time.Millisecond - 1).Truncate(time.Millisecond)
	h.to = h.from + rate.Interval
}

// GiveBack gives back, and notes what that freed.
func (w *witness) GiveBack(ctx context.Context, key sluice.Key, returns []sluice.Return) ([]int64, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	freed, err := w.Engine.GiveBack(ctx, key, returns)
	now := time.Since(w.begin)
	w.settle(now)
	for i, n := range freed {
		h := w.find(returns[i].Receipt)
		if n == 0 || h == nil {
			continue
		}
		e := event{at: now, who: h.who, kind: gaveBack, permits: n}
		if !h.began {
			e.kind = left
		}
		w.end(h, n, now)
		w.note(e)
	}
	return freed, err
}

// Look looks, and notes who has moved up.
func (w *witness) Look(ctx context.Context, key sluice.Key, receipts []sluice.Receipt) ([]sluice.Sight, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	sights, err := w.Engine.Look(ctx, key, receipts)
	now := time.Since(w.begin)
	w.settle(now)
	for i, s := range sights {
		h := w.find(receipts[i])
		if h == nil || h.began || s.Gone {
			continue
		}
		before := h.from
		h.date(s.At.Sub(w.begin), w.rate)
		if gain := before - h.from; gain > 10*time.Millisecond {
			w.note(event{at: now, who: h.who, kind: movedUp, permits: h.permits, wait: gain})
		}
	}
	return sights, err
}

// settle notes what has come about by itself until now, in order: turns, and permits that came back. What came back goes before
// the turn that it made possible.
func (w *witness) settle(now time.Duration) {
	for {
		var next *hold
		var e event
		for _, h := range w.holds {
			due := event{at: h.to, who: h.who, kind: returned, permits: h.permits, wait: w.rate.Interval}
			if !h.began {
				due.at, due.kind, due.wait = h.from, turn, h.from-h.asked
			}
			if due.at <= now && (next == nil || due.at < e.at || due.at == e.at && due.kind > e.kind) {
				next, e = h, due
			}
		}
		if next == nil {
			return
		}
		if e.kind == turn {
			next.began = true
		} else {
			w.end(next, next.permits, e.at)
		}
		w.note(e)
	}
}

// end takes permits out of a hold.
func (w *witness) end(h *hold, permits int64, at time.Duration) {
	w.spans = append(w.spans, span{h.from, max(h.from, at), permits})
	if h.permits -= permits; h.permits == 0 {
		w.holds = slices.DeleteFunc(w.holds, func(other *hold) bool { return other == h })
	}
}

func (w *witness) note(e event) {
	e.free = w.rate.Permits
	for _, h := range w.holds {
		e.free = max(0, e.free-h.permits)
	}
	w.log = append(w.log, e)
}

func (w *witness) find(r sluice.Receipt) *hold {
	for _, h := range w.holds {
		if h.id == r.ID() {
			return h
		}
	}
	return nil
}
