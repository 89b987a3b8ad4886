package legacy_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/sluice-rate/sluice"
	"github.com/sluice-rate/sluice/internal/redistest"
	"github.com/sluice-rate/sluice/legacy"
)

func TestLimiter(t *testing.T) {
	runAll(t, map[string]func(t *testing.T, s *store){
		"decisions":                        testDecisions,
		"the edge of a window":             testEdge,
		"TrySetRate":                       testTrySetRate,
		"TrySetRate fills what is missing": testTrySetRateFills,
		"keep-alive and other nonsense":    testNonsense,
		"names":                            testNames,
		"without configuration":            testWithoutConfiguration,
		"reads write nothing":              testReadsWriteNothing,
		"clients":                          testClients,
		"Delete":                           testDelete,
		"a wait on a real server":          testWait,
		"one round trip":                   testTrips,
	})
}

// runAll runs tests, each with an empty store.
func runAll(t *testing.T, tests map[string]func(t *testing.T, s *store)) {
	p := startPool(t, redistest.Release{})
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, p.store(t))
		})
	}
}

func testDecisions(t *testing.T, s *store) {
	rate := sluice.Per(10, 10*time.Minute)
	l := s.limiter("x", rate)
	before := time.Now().Add(-time.Minute)
	check := func(n int64, want sluice.Decision, resets time.Duration) {
		t.Helper()
		d, err := l.TryAcquire(t.Context(), n)
		s.must(err)
		if d.ResetAfter > resets+time.Millisecond || d.ResetAfter < resets-5*time.Second {
			t.Errorf("TryAcquire(%d): the window ends in %v, want %v", n, d.ResetAfter, resets)
		}
		if d.At.Before(before) || d.At.After(time.Now().Add(time.Minute)) {
			t.Errorf("TryAcquire(%d) was decided at %v", n, d.At)
		}
		want.Permits, want.Limit, want.ResetAfter, want.At = n, rate, d.ResetAfter, d.At
		if want.Allowed {
			want.Date = d.At
		} else {
			want.RetryAfter = d.ResetAfter
		}
		if d != want {
			t.Errorf("TryAcquire(%d) = %+v, want %+v", n, d, want)
		}
	}
	check(4, sluice.Decision{Allowed: true, Remaining: 6}, 10*time.Minute)
	s.pass(3 * time.Minute)
	check(7, sluice.Decision{Remaining: 6}, 7*time.Minute)
	check(6, sluice.Decision{Allowed: true, Remaining: 0}, 7*time.Minute)
	check(1, sluice.Decision{Remaining: 0}, 7*time.Minute)
	if d, err := l.TryAcquireFor(t.Context(), 1, time.Minute); err != nil || d.Allowed || d.RetryAfter < 6*time.Minute {
		t.Errorf("TryAcquireFor(1m) = %+v, %v, want refused for 7m", d, err)
	}
	s.do("SET", "{x}:value", "-3", "KEEPTTL") // Redisson before 3.10.7 granted more than the rate
	check(1, sluice.Decision{Remaining: 0}, 7*time.Minute)
	s.pass(7 * time.Minute)
	check(10, sluice.Decision{Allowed: true, Remaining: 0}, 10*time.Minute)

	for range 2 { // in a window, and without one
		var exceeds *sluice.ExceedsRateError
		if _, err := l.TryAcquire(t.Context(), 11); !errors.As(err, &exceeds) || exceeds.Limiter != "x" || exceeds.Permits != 11 || exceeds.Rate != rate {
			t.Errorf("TryAcquire(11) = %v, want an ExceedsRateError", err)
		}
		if err := l.Acquire(t.Context(), 11); !errors.Is(err, sluice.ErrExceedsRate) {
			t.Errorf("Acquire(11) = %v, want ErrExceedsRate", err)
		}
		s.pass(10 * time.Minute)
	}
	s.want(map[string]string{"x": "hash rate=10 interval=600000 type=0"})
}

// Ten per 500 ms can be 19 within 40 ms: that is what a fixed window is. Here an hour stands for a millisecond, so that this machine's
// pace does not matter.
func testEdge(t *testing.T, s *store) {
	l := s.limiter("x", sluice.Per(10, 500*time.Hour))
	take(t, l, 1)
	s.pass(470 * time.Hour)
	take(t, l, 9)
	if d, err := l.TryAcquire(t.Context(), 1); err != nil || d.Allowed {
		t.Errorf("TryAcquire(1) = %+v, %v, want refused: the window's ten are used up", d, err)
	}
	s.pass(40 * time.Hour)
	take(t, l, 10)
}

func testTrySetRate(t *testing.T, s *store) {
	l := s.limiter("x", sluice.Per(3, 5*time.Second))
	take(t, l, 2)
	if done, err := l.TrySetRate(t.Context(), sluice.Config{Rate: sluice.Per(9, time.Minute), Mode: sluice.PerClient}); err != nil || done {
		t.Errorf("TrySetRate over a configuration = %v, %v, want false", done, err)
	}
	if c, err := l.Config(t.Context()); err != nil || c != (sluice.Config{Rate: sluice.Per(3, 5*time.Second)}) {
		t.Errorf("Config = %+v, %v, want that of the first", c, err)
	}
	if exists, err := l.Exists(t.Context()); err != nil || !exists {
		t.Errorf("Exists = %v, %v, want true", exists, err)
	}
	s.want(map[string]string{"x": "hash rate=3 interval=5000 type=0", "{x}:value": "string 1 for a time"})
}

// What Redisson's three HSETNX do to a configuration that lacks a field.
func testTrySetRateFills(t *testing.T, s *store) {
	for _, c := range []struct {
		fields []any
		want   string
		done   bool
	}{
		{[]any{"rate", 5}, "hash rate=5 interval=1000 type=0", true},
		{[]any{"interval", 70}, "hash interval=70 rate=9 type=0", true},
		{[]any{"type", 1}, "hash type=1 rate=9 interval=1000", false},
		{[]any{"rate", 5, "type", 1}, "hash rate=5 type=1 interval=1000", false},
		{[]any{"rate", 5, "interval", 70}, "hash rate=5 interval=70 type=0", true},
		{[]any{"other", "text"}, "hash other=text rate=9 interval=1000 type=0", true},
		{[]any{"keepAliveTime", 0}, "hash keepAliveTime=0 rate=9 interval=1000 type=0", true},
	} {
		s.clear()
		s.do(append([]any{"HSET", "x"}, c.fields...)...)
		done, err := s.client.Limiter("x").TrySetRate(t.Context(), sluice.Config{Rate: sluice.Per(9, time.Second)})
		if err != nil || done != c.done {
			t.Errorf("TrySetRate over %v = %v, %v, want %v", c.fields, done, err, c.done)
		}
		s.want(map[string]string{"x": c.want})
	}
}

func testNonsense(t *testing.T, s *store) {
	l := s.client.Limiter("x")
	for field, c := range map[string]sluice.Config{
		"keep-alive":    {Rate: sluice.Per(1, time.Second), KeepAlive: time.Hour},
		"rate.permits":  {Rate: sluice.Per(0, time.Second)},
		"rate.interval": {Rate: sluice.Per(1, time.Microsecond)},
		"mode":          {Rate: sluice.Per(1, time.Second), Mode: 7},
	} {
		var invalid *sluice.InvalidError
		if done, err := l.TrySetRate(t.Context(), c); done || !errors.As(err, &invalid) || invalid.Field != field {
			t.Errorf("TrySetRate(%+v) = %v, %v, want an InvalidError about the %s", c, done, err, field)
		}
	}
	for _, n := range []int64{0, -1, sluice.MaxPermits + 1} {
		for name, err := range map[string]error{
			"TryAcquire":    second(l.TryAcquire(t.Context(), n)),
			"TryAcquireFor": second(l.TryAcquireFor(t.Context(), n, time.Hour)),
			"Acquire":       l.Acquire(t.Context(), n),
		} {
			var invalid *sluice.InvalidError
			if !errors.As(err, &invalid) || invalid.Field != "permits" {
				t.Errorf("%s(%d) = %v, want an InvalidError about the permits", name, n, err)
			}
		}
	}
	if n := s.trips.Load(); n != 0 {
		t.Errorf("there were %d trips, want none", n)
	}
}

// Names whose keys would lie in two slots of a cluster are refused, on every server.
func testNames(t *testing.T, s *store) {
	for _, name := range []string{"", "a{b", "a{}b", "{}x", "a}b", "x}", "}x"} {
		l := s.client.Limiter(name)
		if l.Name() != name {
			t.Errorf("Name = %q, want %q", l.Name(), name)
		}
		for method, err := range errorsOf(t, l) {
			var invalid *sluice.InvalidError
			if !errors.As(err, &invalid) || invalid.Field != "name" {
				t.Errorf("%s of %q = %v, want an InvalidError about the name", method, name, err)
			}
		}
	}
	if n := s.trips.Load(); n != 0 {
		t.Errorf("there were %d trips, want none", n)
	}
}

// errorsOf calls every method.
func errorsOf(t *testing.T, l *legacy.Limiter) map[string]error {
	ctx := t.Context()
	return map[string]error{
		"TrySetRate":    second(l.TrySetRate(ctx, sluice.Config{Rate: sluice.Per(10, time.Minute)})),
		"TryAcquire":    second(l.TryAcquire(ctx, 1)),
		"TryAcquireFor": second(l.TryAcquireFor(ctx, 1, time.Hour)),
		"Acquire":       l.Acquire(ctx, 1),
		"Available":     second(l.Available(ctx)),
		"Config":        second(l.Config(ctx)),
		"Exists":        second(l.Exists(ctx)),
		"Delete":        second(l.Delete(ctx)),
	}
}

func testWithoutConfiguration(t *testing.T, s *store) {
	l := s.client.Limiter("x")
	for name, err := range map[string]error{
		"TryAcquire":    second(l.TryAcquire(t.Context(), 1)),
		"TryAcquireFor": second(l.TryAcquireFor(t.Context(), 1, time.Hour)),
		"Acquire":       l.Acquire(t.Context(), 1),
		"Available":     second(l.Available(t.Context())),
		"Config":        second(l.Config(t.Context())),
	} {
		if !errors.Is(err, sluice.ErrNotInitialized) || !strings.Contains(err.Error(), `"x"`) {
			t.Errorf("%s = %v, want ErrNotInitialized, with the name", name, err)
		}
	}
	if exists, err := l.Exists(t.Context()); err != nil || exists {
		t.Errorf("Exists = %v, %v, want false", exists, err)
	}
	if existed, err := l.Delete(t.Context()); err != nil || existed {
		t.Errorf("Delete = %v, %v, want false", existed, err)
	}
	s.want(map[string]string{})
}

func testReadsWriteNothing(t *testing.T, s *store) {
	l := s.limiter("x", sluice.Per(10, 10*time.Minute))
	read := func(want int64) {
		t.Helper()
		if n, err := l.Available(t.Context()); err != nil || n != want {
			t.Errorf("Available = %d, %v, want %d", n, err, want)
		}
		s.must(second(l.Config(t.Context())))
		s.must(second(l.Exists(t.Context())))
	}
	read(10) // the server knows the scripts now, which some count as a write
	for _, c := range []struct {
		value string
		want  int64
	}{{"", 10}, {"4", 4}, {"0", 0}, {"-3", 0}, {"11", 10}} {
		if c.value != "" {
			s.do("SET", "{x}:value", c.value, "PX", 600_000)
		}
		before, offset := s.keys(), s.conn.ReplOffset(t)
		read(c.want)
		if now := s.conn.ReplOffset(t); now != offset {
			t.Errorf("reads of the value %q wrote something", c.value)
		}
		s.want(before)
	}
	before, offset := s.keys(), s.conn.ReplOffset(t)
	s.must(second(l.TryAcquire(t.Context(), 10))) // the value is 11 of 10
	take := s.keys()
	if s.conn.ReplOffset(t) == offset || take["{x}:value"] == before["{x}:value"] {
		t.Errorf("a grant wrote nothing: else this test shows nothing")
	}
	offset = s.conn.ReplOffset(t)
	if d, err := l.TryAcquire(t.Context(), 1); err != nil || d.Allowed {
		t.Errorf("TryAcquire(1) = %+v, %v, want refused", d, err)
	}
	if s.conn.ReplOffset(t) != offset {
		t.Error("a refusal wrote something")
	}
}

func testClients(t *testing.T, s *store) {
	other := legacy.New(s.conn, nil)
	if id := other.ID(); len(id) != 36 || id == legacy.New(s.conn, nil).ID() || s.client.ID() != clientID {
		t.Errorf("the clients' IDs are %q and %q, want a UUID for the first", id, s.client.ID())
	}
	for _, mode := range []sluice.Mode{sluice.Overall, sluice.PerClient} {
		s.clear()
		mine, theirs := s.client.Limiter("x"), other.Limiter("x")
		s.must(second(mine.TrySetRate(t.Context(), sluice.Config{Rate: sluice.Per(3, time.Hour), Mode: mode})))
		if c, err := theirs.Config(t.Context()); err != nil || c.Mode != mode {
			t.Errorf("Config of the other = %+v, %v, want %v", c, err, mode)
		}
		take(t, mine, 3)
		d, err := theirs.TryAcquire(t.Context(), 2)
		if err != nil || d.Allowed != (mode == sluice.PerClient) {
			t.Errorf("%v: TryAcquire(2) of another client = %+v, %v", mode, d, err)
		}
		if n, err := theirs.Available(t.Context()); err != nil || n != d.Remaining {
			t.Errorf("%v: Available of another client = %d, %v, want %d", mode, n, err, d.Remaining)
		}
		if mode == sluice.PerClient {
			s.must(second(mine.Delete(t.Context())))
			s.want(map[string]string{"{x}:value:" + other.ID(): "string 1 for a time"})
		}
	}
}

func testDelete(t *testing.T, s *store) {
	l := s.limiter("x", sluice.Per(3, time.Hour))
	take(t, l, 2)
	s.do("SET", "{x}:value:"+clientID, "text") // of another mode, and garbage
	s.do("SET", "{x}:value:other", "5")
	if existed, err := l.Delete(t.Context()); err != nil || !existed {
		t.Errorf("Delete = %v, %v, want true", existed, err)
	}
	s.want(map[string]string{"{x}:value:other": "string 5"})
	s.do("RPUSH", "x", "a")
	s.do("SET", "{x}:value", "5")
	if existed, err := l.Delete(t.Context()); err != nil || !existed {
		t.Errorf("Delete of garbage = %v, %v, want true", existed, err)
	}
	s.limiter("x", sluice.Per(3, time.Hour))
}

// The wait is long enough, to the millisecond: who waits for the end of a window asks once more, and not in vain.
func testWait(t *testing.T, s *store) {
	l := s.limiter("x", sluice.Per(1, 20*time.Millisecond))
	take(t, l, 1)
	for range 20 {
		before, start := s.trips.Load(), time.Now()
		s.must(l.Acquire(t.Context(), 1))
		if n := s.trips.Load() - before; n > 2 {
			t.Errorf("Acquire made %d trips in %v, want at most 2", n, time.Since(start))
		}
	}
}

func testTrips(t *testing.T, s *store) {
	l := s.limiter("x", sluice.Per(10, time.Hour))
	for range 2 {
		s.trips.Store(0)
		for method, err := range errorsOf(t, l) {
			if err != nil && !errors.Is(err, sluice.ErrNotInitialized) {
				t.Errorf("%s: %v", method, err)
			}
		}
	}
	if n := s.trips.Load(); n != 8 {
		t.Errorf("eight methods made %d trips, want one each once the server knows the scripts", n)
	}
}
