package redisengine_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/sluice-rate/sluice"
	"github.com/sluice-rate/sluice/internal/oracle"
	"github.com/sluice-rate/sluice/internal/redistest"
)

// record is the file in which a process notes what happened to one limiter. It is flushed often, so that one that
// is killed leaves most of it.
type record struct {
	*limiterSpec
	t       *testing.T
	mu      sync.Mutex
	w       *bufio.Writer
	grants  []oracle.Grant   // of the last moments, whose dates may yet turn out to be others
	sighted map[string]int64 // the date that a receipt had when the store last moved it or said so
}

// unsure is for how long a date may turn out to be another. A look lets a waiter move up to now; the caller learns of it
// a round trip later, and may have gone on in the meantime, at the date that it knew. The date that counts is the store's.
const unsure = 3 * time.Second

// unsureVictim is the same for a process that will be killed, and takes its last moments with it.
const unsureVictim = 200 * time.Millisecond

func recordName(dir string, l *limiterSpec, part int) string {
	return filepath.Join(dir, fmt.Sprintf("%s.%s.txt", l.name, clientID(part)))
}

func newRecord(t *testing.T, a assignment, l *limiterSpec) *record {
	t.Helper()
	f, err := os.Create(recordName(a.Dir, l, a.Part))
	if err != nil {
		t.Fatal(err)
	}
	r := &record{limiterSpec: l, t: t, w: bufio.NewWriterSize(f, 1<<16), sighted: make(map[string]int64)}
	wait := unsure
	if a.Victim {
		wait = unsureVictim
	}
	ctx, stop := context.WithCancel(context.Background())
	go func() { // until the test ends
		for ctx.Err() == nil {
			time.Sleep(50 * time.Millisecond)
			r.flush(time.Now().Add(-wait))
		}
	}()
	t.Cleanup(func() {
		stop()
		r.flush(time.Now())
		if err := f.Close(); err != nil {
			t.Error(err)
		}
	})
	return r
}

func (r *record) write(e oracle.Event) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if g, ok := e.(oracle.Grant); ok {
		r.grants = append(r.grants, g)
		return
	}
	r.put(e)
}

// put writes to the file. The caller holds mu.
func (r *record) put(e oracle.Event) {
	if err := oracle.Write(r.w, e); err != nil {
		r.t.Error(err)
	}
}

// flush writes the grants of callers who went on before a moment.
func (r *record) flush(before time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for len(r.grants) > 0 && r.grants[0].Went < before.UnixMicro() {
		g := r.grants[0]
		r.grants = r.grants[1:]
		if at, ok := r.sighted[g.ID]; ok && !g.AtOnce {
			g.At = at
		}
		delete(r.sighted, g.ID)
		r.put(g)
	}
	_ = r.w.Flush() // an error stays and shows at the next write
}

// recorder is an engine that notes where looks see reservations.
type recorder struct {
	sluice.Engine
	records map[string]*record // by the name of the limiter
}

// Take has takes finish that are under way when the process stops, on limiters whose callers are not cancelled before
// that: what the store says is free can then be compared with the record at once.
func (r recorder) Take(ctx context.Context, takes []sluice.Take) ([]sluice.Answer, error) {
	if !slices.Contains(r.records[takes[0].Key.Limiter].acts, cancel) {
		ctx = context.WithoutCancel(ctx)
	}
	return r.Engine.Take(ctx, takes)
}

func (r recorder) Look(ctx context.Context, key sluice.Key, receipts []sluice.Receipt) ([]sluice.Sight, error) {
	seen, err := r.Engine.Look(ctx, key, receipts)
	if err != nil {
		return nil, err
	}
	record := r.records[key.Limiter]
	record.mu.Lock()
	defer record.mu.Unlock()
	for i, receipt := range receipts {
		if !seen[i].Gone {
			record.sighted[idOf(receipt)] = seen[i].At.UnixMicro()
		}
	}
	return seen, nil
}

// idOf names a grant; what is left of one that was given back in part has the same name.
func idOf(r sluice.Receipt) string { return fmt.Sprintf("%x", r.ID()) }

// summary is what a process says in the end.
type summary struct {
	Unknown map[string]int64 // of each limiter, how many takes it does not know to have run or not
	Failed  int64
	Clock   time.Duration   // how far off its clock was
	Control []time.Duration // how late a plain timer and a round trip were, each time
}

func (s summary) write(t *testing.T, a assignment) {
	t.Helper()
	text, err := json.Marshal(s)
	if err == nil {
		err = os.WriteFile(filepath.Join(a.Dir, fmt.Sprintf("summary.%d.json", a.Part)), text, 0o600)
	}
	if err != nil {
		t.Error(err)
	}
}

func readSummary(t *testing.T, dir string, part int) (s summary) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, fmt.Sprintf("summary.%d.json", part)))
	if err == nil {
		err = json.Unmarshal(text, &s)
	}
	if err != nil {
		t.Error(err)
	}
	return s
}

// metronome measures how late this machine lets a caller go who waits for a moment without any limiter: it asks the
// server something, sleeps a little and sees how long both took beyond the sleep.
type metronome struct {
	late []time.Duration
	done chan struct{}
}

func newMetronome(ctx context.Context, addr string) *metronome {
	m := &metronome{done: make(chan struct{})}
	go func() { // until ctx ends
		defer close(m.done)
		conn := redistest.Connect(addr)
		defer conn.Close()
		const beat = 5 * time.Millisecond
		for ctx.Err() == nil {
			start := time.Now()
			_, err := conn.Do(ctx, "PING")
			time.Sleep(beat)
			if err == nil {
				m.late = append(m.late, time.Since(start)-beat)
			}
		}
	}()
	return m
}

func (m *metronome) stop() []time.Duration {
	<-m.done
	return m.late
}
