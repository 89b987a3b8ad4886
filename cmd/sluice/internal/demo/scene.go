package demo

import (
	"context"
	"slices"
	"time"

	"github.com/sluice-rate/sluice"
)

// scene is one moment of the demo: all that a display needs.
type scene struct {
	now     time.Duration
	rate    sluice.Rate
	free    int64
	ledger  []entry // oldest first
	workers []state
	log     []event // all that has happened so far
}

// entry is a grant in the ledger.
type entry struct {
	id      [16]byte
	who     string
	permits int64
	from    time.Duration
	waits   bool // its date has not come yet
}

// state is how a worker fares.
type state struct {
	name    string
	last    kind          // what happened to it last, but for permits that came back
	permits int64         // how many that was about
	since   time.Duration // when it was
	until   time.Duration // when its turn comes, or may come
	tally
}

// tally is what has happened to a worker so far, in numbers.
type tally struct {
	taken    int64         // permits, those given back included
	unused   int64         // permits given back
	refusals int           // calls
	inLine   time.Duration // until its turn came
}

// scene reads the ledger and the log as they are now, both in the same moment: no worker gets in between.
func (w *witness) scene(ctx context.Context, limiter *sluice.Limiter) (scene, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	free, err := limiter.Available(ctx)
	if err != nil {
		return scene{}, err
	}
	var grants []sluice.Entry
	for e, err := range limiter.Ledger(ctx) {
		if err != nil {
			return scene{}, err
		}
		grants = append(grants, e)
	}
	s := scene{now: time.Since(w.begin), rate: w.rate, free: free}
	w.settle(s.now)
	for _, g := range grants {
		e := entry{id: g.Receipt.ID(), permits: g.Permits, from: g.At.Sub(w.begin), waits: g.Kind == sluice.KindReservation}
		if h := w.find(g.Receipt); h != nil {
			e.who = h.who
		}
		s.ledger = append(s.ledger, e)
	}
	s.log = slices.Clone(w.log)
	for _, worker := range workers {
		s.workers = append(s.workers, w.state(worker.name))
	}
	return s, nil
}

// state is how a worker fares. The caller holds mu.
func (w *witness) state(name string) state {
	s := state{name: name, last: -1}
	for _, e := range w.log {
		if e.who == name {
			s.see(e)
		}
	}
	for _, h := range w.holds {
		if h.who == name && !h.began {
			s.since, s.until = h.asked, h.from
		}
	}
	return s
}

func (s *state) see(e event) {
	switch e.kind {
	case took, turn:
		s.taken += e.permits
	case gaveBack:
		s.unused += e.permits
	case refused:
		s.refusals++
	}
	switch e.kind {
	case turn:
		s.inLine += e.wait
	case returned, movedUp:
		return
	}
	s.last, s.permits, s.since, s.until = e.kind, e.permits, e.at, e.at+e.wait
}

func (w *witness) goesHome(name string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	now := time.Since(w.begin)
	w.settle(now)
	w.note(event{at: now, who: name, kind: wentHome})
}
