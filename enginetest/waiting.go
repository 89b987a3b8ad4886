package enginetest

import (
	"context"
	"errors"
	"math"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sluice-rate/sluice"
)

// waiting is the tests of callers who sleep out their waits.
func (h Harness) waiting(t *testing.T) {
	for _, c := range []struct {
		name string
		test func(s *stage)
	}{
		{"a hundred callers make a hundred calls (P6c)", herd},
		{"in the order in which they came", queue},
		{"cancelled, it gives its permit back (P20)", cancelled},
		{"a release wakes (P21)", woken(func(s *stage) error { return second(s.limiter.Release(s.Context(), 1)) }, nil)},
		{"a refund wakes (P21)", woken(func(s *stage) error { return second(s.limiter.Refund(s.Context(), s.first)) }, nil)},
		{"a higher rate wakes (P21)", woken(func(s *stage) error {
			return second(s.limiter.UpdateRate(s.Context(), sluice.Config{Rate: sluice.Per(100, time.Second)}))
		}, nil)},
		{"a rate set anew wakes (P21)", woken(func(s *stage) error {
			return s.limiter.SetRate(s.Context(), sluice.Config{Rate: sluice.Per(100, time.Second)})
		}, nil)},
		{"a limiter that is deleted wakes", woken(func(s *stage) error {
			return second(s.limiter.Delete(s.Context()))
		}, sluice.ErrNotInitialized)},
		{"no time to wait (P22)", noTime},
		{"a wait has no margin (P23)", noMargin},
		{"a deadline that cannot be kept", deadline},
		{"a reservation that is waited out", reservation},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if h.InProcess {
				synctest.Test(t, func(t *testing.T) { c.test(h.stage(t, time.Second, 0)) })
			} else {
				c.test(h.stage(t, 100*time.Millisecond, 2*time.Second))
			}
		})
	}
}

// stage is where callers wait: in a bubble, where each wait has its exact length, or in real time.
type stage struct {
	*testing.T
	*counter
	client   *sluice.Client
	limiter  *sluice.Limiter
	interval time.Duration  // short in real time
	late     time.Duration  // how much later than its time a thing may happen
	first    sluice.Receipt // of what is taken at first
}

func (h Harness) stage(t *testing.T, interval, late time.Duration) *stage {
	engine, _ := h.New(t, nil)
	s := &stage{T: t, counter: &counter{Engine: engine}, interval: interval, late: late}
	s.client = sluice.New(s.counter)
	s.limiter = s.client.Limiter("x")
	return s
}

// one is a limiter of one permit in an interval, which is taken.
func (s *stage) one(interval time.Duration) {
	s.Helper()
	_, err := s.limiter.TrySetRate(s.Context(), sluice.Config{Rate: sluice.Per(1, interval)})
	must(s, err)
	d, err := s.limiter.TryAcquire(s.Context(), 1)
	must(s, err)
	s.first = d.Receipt
}

// took sees that something took so long, and not longer than an engine that does I/O has to.
func (s *stage) took(what string, start time.Time, want time.Duration) {
	s.Helper()
	// The wait counts from when the store granted what came before, and start is when the caller heard of that. That a caller
	// never goes before his date is judged by the dates, in the torture test.
	early := 2 * time.Millisecond
	if s.late > 0 {
		early = want / 4
	}
	if got := time.Since(start); got < want-early || got > want+s.late {
		s.Errorf("%s takes %v, want %v", what, got, want)
	}
}

// inLine waits until so many wait.
func (s *stage) inLine(n int) {
	s.Helper()
	await(s, "callers wait in line", func() bool {
		waiting := 0
		for e, err := range s.limiter.Ledger(s.Context()) {
			must(s, err)
			if e.Kind == sluice.KindReservation {
				waiting++
			}
		}
		return waiting >= n
	})
}

// counter is an engine that counts the calls of those who decide, when they have their answers.
type counter struct {
	sluice.Engine
	takes, looks, returns atomic.Int64
}

func (c *counter) Take(ctx context.Context, takes []sluice.Take) ([]sluice.Answer, error) {
	defer c.takes.Add(1)
	return c.Engine.Take(ctx, takes)
}

func (c *counter) Look(ctx context.Context, key sluice.Key, receipts []sluice.Receipt) ([]sluice.Sight, error) {
	defer c.looks.Add(1)
	return c.Engine.Look(ctx, key, receipts)
}

func (c *counter) GiveBack(ctx context.Context, key sluice.Key, returns []sluice.Return) ([]int64, error) {
	defer c.returns.Add(1)
	return c.Engine.GiveBack(ctx, key, returns)
}

// herd: Redisson asks 5,150 times to serve a hundred who wait.
func herd(s *stage) {
	const n = 100
	interval := s.interval / 10
	_, err := s.limiter.TrySetRate(s.Context(), sluice.Config{Rate: sluice.Per(1, interval)})
	must(s, err)
	start := time.Now()
	var wg sync.WaitGroup
	for range n {
		wg.Go(func() {
			if err := s.limiter.Acquire(s.Context(), 1); err != nil {
				s.Error(err)
			}
		})
	}
	wg.Wait()
	s.took("to serve a hundred", start, (n-1)*interval)
	if takes := s.takes.Load(); takes != n {
		s.Errorf("%d takes for %d callers, want as many", takes, n)
	}
	if looks, most := s.looks.Load(), int64(2*time.Since(start)/sluice.LookPeriod)+1; looks > most {
		s.Errorf("%d looks, want at most %d", looks, most)
	}
}

// queue lets five come one after the other.
func queue(s *stage) {
	s.one(s.interval)
	dates := make([]time.Time, 5)
	var wg sync.WaitGroup
	for i := range dates {
		wg.Go(func() {
			d, err := s.limiter.TryAcquireFor(s.Context(), 1, time.Hour)
			if err != nil || !d.Allowed {
				s.Errorf("caller %d: %+v, %v, want a permit", i, d, err)
			}
			dates[i] = d.Date
		})
		await(s, "he stands in line", func() bool { return s.takes.Load() == int64(i+2) })
	}
	wg.Wait()
	for i := 1; i < len(dates); i++ {
		if gap := dates[i].Sub(dates[i-1]); gap != s.interval {
			s.Errorf("caller %d is served %v after the one before, want %v", i, gap, s.interval)
		}
	}
}

// cancelled: a caller of Redisson who is interrupted goes on asking, and takes a permit that nobody uses.
func cancelled(s *stage) {
	s.one(time.Hour)
	ctx, cancel := context.WithCancel(s.Context())
	done := make(chan error, 1)
	go func() { done <- s.limiter.Acquire(ctx, 1) }()
	s.inLine(1)
	cancel()
	start := time.Now()
	if err := <-done; !errors.Is(err, context.Canceled) {
		s.Errorf("Acquire = %v, want the context's error", err)
	}
	s.took("to leave", start, 0)
	var kinds []sluice.Kind
	for e, err := range s.limiter.Ledger(s.Context()) {
		must(s, err)
		kinds = append(kinds, e.Kind)
	}
	if len(kinds) != 1 || kinds[0] != sluice.KindGrant {
		s.Errorf("the ledger holds %v, want the first grant alone", kinds)
	}
	if takes := s.takes.Load(); takes != 2 {
		s.Errorf("%d takes, want 2", takes)
	}
	if returns := s.returns.Load(); returns != 1 {
		s.Errorf("%d calls to give back, want 1", returns)
	}
	if err := s.limiter.Acquire(ctx, 1); !errors.Is(err, context.Canceled) || s.takes.Load() != 2 {
		s.Errorf("Acquire with a context that has ended = %v after %d takes, want its error and none", err, s.takes.Load()-2)
	}
}

// woken lets a caller wait who would have to for an hour, and does something that makes room. In Redisson he sleeps on.
func woken(do func(s *stage) error, want error) func(s *stage) {
	return func(s *stage) {
		s.one(time.Hour)
		done := make(chan error, 1)
		go func() { done <- s.limiter.Acquire(s.Context(), 1) }()
		s.inLine(1)
		start := time.Now()
		must(s, do(s))
		if err := <-done; !errors.Is(err, want) {
			s.Errorf("Acquire = %v, want %v", err, want)
		}
		if took := time.Since(start); took > sluice.LookPeriod+s.late {
			s.Errorf("it wakes after %v, want at most %v", took, sluice.LookPeriod)
		}
	}
}

// noTime: -1 ms means for ever in Redisson.
func noTime(s *stage) {
	s.one(time.Hour)
	for _, patience := range []time.Duration{-1 * time.Millisecond, -2 * time.Millisecond, -1, 0, math.MinInt64} {
		start := time.Now()
		d, err := s.limiter.TryAcquireFor(s.Context(), 1, patience)
		if err != nil || d.Allowed || d.RetryAfter <= 59*time.Minute {
			s.Errorf("TryAcquireFor(%v) = %+v, %v, want a refusal for an hour", patience, d, err)
		}
		s.took("a refusal", start, 0)
	}
}

// noMargin: Redisson sleeps and then refuses what would have been there one or two milliseconds later.
func noMargin(s *stage) {
	s.one(s.interval)
	start := time.Now()
	time.Sleep(s.interval / 2)
	patience := s.interval / 2
	if s.late > 0 {
		patience = s.interval // time goes on by itself
	}
	d, err := s.limiter.TryAcquireFor(s.Context(), 1, patience)
	if err != nil || !d.Allowed {
		s.Errorf("TryAcquireFor(%v) = %+v, %v, want the permit", patience, d, err)
	}
	if s.late == 0 && d.Wait != patience {
		s.Errorf("the wait is told as %v, want %v", d.Wait, patience)
	}
	s.took("from the first permit to the second", start, s.interval)
}

func deadline(s *stage) {
	s.one(time.Hour)
	ctx, cancel := context.WithTimeout(s.Context(), time.Minute)
	defer cancel()
	start := time.Now()
	err := s.limiter.Acquire(ctx, 1)
	var limited *sluice.LimitedError
	if !errors.As(err, &limited) || !errors.Is(err, sluice.ErrLimited) || !errors.Is(err, context.DeadlineExceeded) {
		s.Fatalf("Acquire = %v, want a *LimitedError for the deadline", err)
	}
	if limited.Limiter != "x" || limited.Permits != 1 || limited.RetryAfter <= 59*time.Minute {
		s.Errorf("the error is %+v, want one permit of x in an hour", limited)
	}
	s.took("a refusal", start, 0)
	if takes := s.takes.Load(); takes != 2 {
		s.Errorf("%d takes, want 2", takes)
	}
}

func reservation(s *stage) {
	s.one(s.interval)
	r, err := s.limiter.Reserve(s.Context(), 1, time.Minute)
	must(s, err)
	if !r.Allowed || r.Delay() <= 0 || r.Delay() > s.interval+time.Millisecond { // dates are rounded up
		s.Fatalf("Reserve = %+v for %v, want a permit within %v", r.Decision, r.Delay(), s.interval)
	}
	start, delay := time.Now(), r.Delay()
	must(s, r.Wait(s.Context()))
	s.took("the wait", start, delay)

	r, err = s.limiter.Reserve(s.Context(), 1, time.Minute)
	must(s, err)
	ctx, cancel := context.WithCancel(s.Context())
	cancel()
	if err := r.Wait(ctx); !errors.Is(err, context.Canceled) {
		s.Errorf("Wait = %v, want the context's error", err)
	}
	must(s, r.Cancel(s.Context()))
	if refused, err := s.limiter.Reserve(s.Context(), 1, 0); err != nil || refused.Allowed {
		s.Errorf("Reserve = %+v, %v, want a refusal", refused, err)
	} else if err := refused.Wait(s.Context()); !errors.Is(err, sluice.ErrLimited) {
		s.Errorf("Wait without a reservation = %v, want ErrLimited", err)
	}
	for e, err := range s.limiter.Ledger(s.Context()) {
		must(s, err)
		if e.Kind == sluice.KindReservation {
			s.Errorf("a cancelled reservation is left: %+v", e)
		}
	}
}
