package enginetest

import (
	"sync"
	"testing"
	"time"

	"github.com/sluice-rate/sluice"
	"github.com/sluice-rate/sluice/internal/ledger"
)

// clock is a store clock that moves when it is told to.
type clock struct {
	mu    sync.Mutex
	start time.Time
	time  time.Time
}

func newClock() *clock {
	start := time.Date(2026, time.October, 1, 12, 34, 56, 0, time.UTC)
	return &clock{start: start, time: start}
}

func (c *clock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.time
}

func (c *clock) move(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.time = c.time.Add(d)
}

func (c *clock) since() time.Duration { return c.now().Sub(c.start) }

// world is what a scenario, or a test that drives the clock, acts on.
type world struct {
	testing.TB
	clock  *clock
	engine sluice.Engine
	keys   Keys
	at     string // where the scenario is, for messages

	name    string // of the limiter
	client  string // who asks in this step
	skew    map[string]time.Duration
	clients map[string]*sluice.Client

	takes        map[string]sluice.Take // by label
	calls        map[string]sluice.Call
	reservations map[string]*sluice.Reservation
	labels       map[[16]byte]string // by the ID of the entry

	kept       map[string]kept
	meddled    bool      // the keys were edited, and no decision of ours has seen it yet
	driftUntil time.Time // an edit that shows in nothing is found by an audit until then
	stepped    bool      // the clock was set back, and has not moved since: what it made wrong is mended in any case
	keepAlive  bool      // of the last configuration: refusals write then
}

func newWorld(t testing.TB, h Harness) *world {
	w := &world{
		TB: t, clock: newClock(), name: "x", client: "self",
		skew: make(map[string]time.Duration), clients: make(map[string]*sluice.Client),
		takes: make(map[string]sluice.Take), calls: make(map[string]sluice.Call), kept: make(map[string]kept), reservations: make(map[string]*sluice.Reservation), labels: make(map[[16]byte]string),
	}
	w.engine, w.keys = h.New(t, w.clock.now)
	return w
}

// limiter is the limiter that the step means, in the hands of its client.
func (w *world) limiter() *sluice.Limiter { return w.of(w.client).Limiter(w.name) }

// of is the client of a name, made when it is first named.
func (w *world) of(name string) *sluice.Client {
	if w.clients[name] == nil {
		now := func() time.Time { return w.clock.now().Add(w.skew[name]) }
		w.clients[name] = sluice.New(w.engine, sluice.WithClientID(name), sluice.WithClock(now))
	}
	return w.clients[name]
}

func (w *world) key() sluice.Key { return sluice.Key{Limiter: w.name, Client: w.client} }

// receiptFor is a receipt such as Acquire makes for a caller of this patience.
func receiptFor(n int64, patience time.Duration) sluice.Receipt {
	m := ledger.NewMember(n, patience, false)
	return sluice.ReceiptFrom(m.ID, m.Permits)
}

// ask asks the engine for one take.
func (w *world) ask(t sluice.Take) (sluice.Decision, error) {
	answers, err := w.engine.Take(w.Context(), []sluice.Take{t})
	if err == nil {
		err = answers[0].Err
	}
	if err != nil {
		return sluice.Decision{}, err
	}
	return answers[0].Decision, nil
}

// call names a decision, so that later steps can mean it.
func (w *world) call(label string, d sluice.Decision, maxWait time.Duration) {
	if label == "" || !d.Allowed {
		return
	}
	w.takes[label] = sluice.Take{Key: w.key(), Receipt: d.Receipt, MaxWait: maxWait}
	w.labels[d.Receipt.ID()] = label
}

// pass lets time pass. TTLs in Redis run by its own clock, which stands still in comparison, so they are moved by hand.
func (w *world) pass(d time.Duration) {
	w.clock.move(d)
	if w.keys != nil {
		w.age(d)
	}
}
