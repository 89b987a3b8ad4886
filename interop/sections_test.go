package interop

import (
	"context"
	"encoding/binary"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/sluice-rate/sluice/internal/redistest"
	"github.com/sluice-rate/sluice/interop/jvm"
)

// TestSections runs what testdata tells, on every version of Redisson that has what a section needs; in -short, on the oldest and the newest.
func TestSections(t *testing.T) {
	t.Parallel()
	all := sections(t, "testdata/*.txt")
	some := versions
	if testing.Short() {
		some = []string{versions[0], versions[len(versions)-1]}
	}
	for _, version := range some {
		t.Run(version, func(t *testing.T) {
			t.Parallel()
			runSections(t, redisson(t, version), all, newGopher)
		})
	}
}

// hire makes a client of Go's side.
type hire func(tb testing.TB, url, limiter string) *gopher

// runSections runs sections, many at a time: most of the time they wait.
func runSections(t *testing.T, d *jvm.Driver, all []section, hire hire) {
	server := redistest.Start(t)
	busy := make(chan struct{}, 16)
	clients := &pool{t: t, driver: d, url: server.URL()}
	for i, s := range all {
		if !s.applies(d.Version) {
			continue
		}
		t.Run(s.String(), func(t *testing.T) {
			t.Parallel()
			busy <- struct{}{}
			defer func() { <-busy }()
			st := &stage{t: t, driver: d, clients: clients, hire: hire, server: server, conn: redistest.Dial(t, server.Addr()), name: fmt.Sprintf("s%d", i),
				javas: make(map[string]*java), gophers: make(map[string]*gopher), going: make(map[string]going)}
			for _, s := range s.steps { // clients first: making one can take as long as a window
				st.client(s.who)
			}
			for _, s := range s.steps {
				st.step(s)
			}
		})
	}
}

// pool lends Java's clients to sections, one after another: a JVM bears no more than 64, and one that is closed right after it was opened complains.
type pool struct {
	t      *testing.T // of all the sections
	driver *jvm.Driver
	url    string
	mu     sync.Mutex
	free   []*java
}

// take lends a client until the test of a section ends. One that failed keeps it: it may have left something that goes on.
func (p *pool) take(t *testing.T) *java {
	t.Helper()
	p.mu.Lock()
	defer p.mu.Unlock()
	var j *java
	if n := len(p.free); n > 0 {
		j, p.free = p.free[n-1], p.free[:n-1]
	} else {
		j = open(p.t, p.driver, p.url)
	}
	t.Cleanup(func() {
		if t.Failed() {
			return
		}
		p.mu.Lock()
		defer p.mu.Unlock()
		p.free = append(p.free, j)
	})
	return j
}

// stage is where the steps of one section happen.
type stage struct {
	t       *testing.T
	driver  *jvm.Driver
	clients *pool // of Java's; nil: each stage opens its own
	hire    hire
	server  *redistest.Server
	conn    *redistest.Conn
	name    string
	javas   map[string]*java
	gophers map[string]*gopher
	going   map[string]going
	last    string // what came of the last step
}

// going is a step that goes on.
type going struct {
	begun time.Time
	end   chan outcome
}

type outcome struct {
	text string
	err  error
	took time.Duration
}

func (s *stage) step(st step) {
	s.t.Helper()
	if st.who == "" { // wait for what goes on
		g, ok := s.going[st.words[0]]
		if !ok {
			s.t.Fatalf("line %d: nothing goes on by the name of %s", st.line, st.words[0])
		}
		o := <-g.end
		want, within, timed := strings.Cut(st.want, " in ")
		s.judge(st, want, o.text, o.err)
		if timed && !fits(within, o.took.String()) {
			s.t.Fatalf("line %d: %s took %v, want %s", st.line, st.words[0], o.took, within)
		}
		return
	}
	words := make([]string, len(st.words))
	for i, w := range st.words {
		words[i] = s.fill(w)
	}
	if st.label != "" {
		g := going{time.Now(), make(chan outcome, 1)}
		s.going[st.label] = g
		do := s.does(st.who, words)
		go func() {
			text, err := do(s.t.Context())
			g.end <- outcome{text, err, time.Since(g.begun)}
		}()
		return
	}
	text, err := s.does(st.who, words)(s.t.Context())
	want := s.fill(st.want)
	s.last = text
	if !st.wants {
		if err != nil {
			s.t.Fatalf("line %d: %s %s: %v", st.line, st.who, strings.Join(words, " "), err)
		}
		return
	}
	s.judge(st, want, text, err)
}

func (s *stage) judge(st step, want, got string, err error) {
	s.t.Helper()
	if wrong := compare(want, got, err); wrong != "" {
		s.t.Fatalf("line %d: %s %s: %s\n%s", st.line, st.who, strings.Join(st.words, " "), wrong, s.keys())
	}
}

// fill puts names, keys and IDs in the place of words with a dollar sign.
func (s *stage) fill(w string) string {
	if !strings.Contains(w, "$") {
		return w
	}
	pairs := []string{"$name", s.name, "$new", s.name + "new", "$value", "{" + s.name + "}:value", "$permits", "{" + s.name + "}:permits", "$last", s.last}
	for _, side := range []string{"java2", "java3", "java"} {
		if strings.Contains(w, "$"+side) {
			pairs = append(pairs, "$"+side, s.java(side).id)
		}
	}
	for _, side := range []string{"go2", "go"} {
		if strings.Contains(w, "$"+side) {
			pairs = append(pairs, "$"+side, s.gopher(side).id)
		}
	}
	return strings.NewReplacer(pairs...).Replace(w)
}

// client makes the client of a side, if it is one that has clients.
func (s *stage) client(side string) {
	switch {
	case strings.HasPrefix(side, "java"):
		s.java(side)
	case strings.HasPrefix(side, "go"):
		s.gopher(side)
	}
}

func (s *stage) java(side string) *java {
	if s.javas[side] == nil {
		if s.clients == nil {
			s.javas[side] = open(s.t, s.driver, s.server.URL())
		} else {
			s.javas[side] = s.clients.take(s.t)
		}
	}
	return s.javas[side]
}

func (s *stage) gopher(side string) *gopher {
	if s.gophers[side] == nil {
		s.gophers[side] = s.hire(s.t, s.server.URL(), s.name)
	}
	return s.gophers[side]
}

// does is what a step does. Clients are made before it.
func (s *stage) does(who string, words []string) func(context.Context) (string, error) {
	switch {
	case strings.HasPrefix(who, "java"):
		j := s.java(who)
		name, words := s.onto(words)
		return func(ctx context.Context) (string, error) { return j.Call(ctx, j.client, name, words[0], words[1:]...) }
	case strings.HasPrefix(who, "go"):
		g := s.gopher(who)
		if name, rest := s.onto(words); name != s.name {
			g, words = s.hire(s.t, s.server.URL(), name), rest
		}
		return func(ctx context.Context) (string, error) { return g.call(ctx, words[0], words[1:]) }
	case who == "sleep":
		return func(context.Context) (string, error) {
			d, err := time.ParseDuration(words[0])
			time.Sleep(d)
			return "-", err
		}
	case who == "conserving":
		return func(context.Context) (string, error) { return "-", s.conserving() }
	}
	args := make([]any, len(words))
	for i, w := range words {
		args[i] = w
	}
	return func(ctx context.Context) (string, error) {
		v, err := s.conn.Do(ctx, args...)
		return plain(v), err
	}
}

// onto takes "@NAME" off the front of a step: it is then about that limiter.
func (s *stage) onto(words []string) (name string, rest []string) {
	if name, ok := strings.CutPrefix(words[0], "@"); ok {
		return name, words[1:]
	}
	return s.name, words
}

// plain is a reply of Redis as text.
func plain(v any) string {
	switch v := v.(type) {
	case nil:
		return "-"
	case []any:
		words := make([]string, len(v))
		for i := range v {
			words[i] = plain(v[i])
		}
		return strings.Join(words, " ")
	}
	return fmt.Sprint(v)
}

// conserving says how value and ledger disagree.
func (s *stage) conserving() error {
	rate := s.conn.Int(s.t, "HGET", s.name, "rate")
	value := s.conn.Int(s.t, "GET", "{"+s.name+"}:value")
	var held int64
	for _, m := range s.conn.Strings(s.t, "ZRANGE", "{"+s.name+"}:permits", 0, -1) {
		held += int64(binary.LittleEndian.Uint32([]byte(m[len(m)-4:])))
	}
	if value+held != rate {
		return fmt.Errorf("the value is %d and the ledger holds %d, want %d together", value, held, rate)
	}
	return nil
}

// keys is what Redis holds of the limiter, for a test that failed.
func (s *stage) keys() string {
	var b strings.Builder
	for _, command := range [][]any{
		{"HGETALL", s.name}, {"PTTL", s.name},
		{"GET", "{" + s.name + "}:value"}, {"PTTL", "{" + s.name + "}:value"},
		{"ZRANGE", "{" + s.name + "}:permits", 0, -1, "WITHSCORES"}, {"PTTL", "{" + s.name + "}:permits"},
		{"KEYS", "*{" + s.name + "*"},
	} {
		v, err := s.conn.Do(s.t.Context(), command...)
		if err != nil {
			v = err
		}
		fmt.Fprintf(&b, "%v: %q\n", command, plain(v))
	}
	return b.String()
}
