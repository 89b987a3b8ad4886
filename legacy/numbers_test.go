package legacy_test

import (
	"errors"
	"testing"
	"time"

	"github.com/sluice-rate/sluice"
)

// TestNumbers: what is stored was changed by hand, or is as big as can be.
func TestNumbers(t *testing.T) {
	runAll(t, map[string]func(t *testing.T, s *store){
		"a rate that was lowered by hand": testLowered,
		"a rate that was raised by hand":  testRaised,
		"an interval that was changed":    testIntervalChanged,
		"big numbers":                     testBigNumbers,
		"Java's Long.MAX_VALUE":           testLongMax,
	})
}

func testLowered(t *testing.T, s *store) {
	l := s.limiter("x", sluice.Per(10, 10*time.Minute))
	take(t, l, 2)
	s.do("HSET", "x", "rate", 5)
	if _, err := l.TryAcquire(t.Context(), 6); !errors.Is(err, sluice.ErrExceedsRate) {
		t.Errorf("TryAcquire(6) of 5 = %v, want ErrExceedsRate, though the value is 8", err)
	}
	if n, err := l.Available(t.Context()); err != nil || n != 5 {
		t.Errorf("Available = %d, %v, want the new rate", n, err)
	}
	if d := take(t, l, 1); d.Remaining != 4 || d.Limit.Permits != 5 {
		t.Errorf("TryAcquire(1) = %+v, want 4 left of 5", d)
	}
	s.want(map[string]string{"x": "hash rate=5 interval=600000 type=0", "{x}:value": "string 4 for a time"})
	s.wantLife("{x}:value", 10*time.Minute)
	take(t, l, 4)
	s.do("SET", "{x}:value", "1000000000000", "KEEPTTL") // garbage, or a rate that was
	var granted int
	for range 20 {
		if d, err := l.TryAcquire(t.Context(), 1); err == nil && d.Allowed {
			granted++
		}
	}
	if granted != 5 {
		t.Errorf("%d were granted of a value far above the rate, want 5", granted)
	}
}

// As in Redisson, the window that is under way keeps what it began with.
func testRaised(t *testing.T, s *store) {
	l := s.limiter("x", sluice.Per(5, 10*time.Minute))
	take(t, l, 2)
	s.do("HSET", "x", "rate", 10)
	if d, err := l.TryAcquire(t.Context(), 4); err != nil || d.Allowed || d.Remaining != 3 {
		t.Errorf("TryAcquire(4) = %+v, %v, want refused with 3 left", d, err)
	}
	s.pass(10 * time.Minute)
	take(t, l, 10)
}

func testIntervalChanged(t *testing.T, s *store) {
	l := s.limiter("x", sluice.Per(5, 10*time.Minute))
	take(t, l, 5)
	s.do("HSET", "x", "interval", 1000)
	if d, err := l.TryAcquire(t.Context(), 1); err != nil || d.Allowed || d.RetryAfter < 9*time.Minute || d.Limit.Interval != time.Second {
		t.Errorf("TryAcquire(1) = %+v, %v, want refused until the window ends", d, err)
	}
	s.pass(10 * time.Minute)
	take(t, l, 5)
	s.wantLife("{x}:value", time.Second)
}

func testBigNumbers(t *testing.T, s *store) {
	for _, rate := range []int64{sluice.MaxRate, sluice.MaxRate - 1, 999_999_999_999_999, 123_451_234_512_345} {
		s.clear()
		l := s.limiter("x", sluice.Per(rate, sluice.MaxInterval))
		for i := range int64(3) {
			if d := take(t, l, 1); d.Remaining != rate-1-i || d.Limit != sluice.Per(rate, sluice.MaxInterval) || d.ResetAfter < sluice.MaxInterval-time.Minute {
				t.Errorf("TryAcquire(1) of %d = %+v, want %d left", rate, d, rate-1-i)
			}
		}
		if d := take(t, l, sluice.MaxPermits); d.Remaining != rate-3-sluice.MaxPermits {
			t.Errorf("TryAcquire(2^32-1) of %d = %+v", rate, d)
		}
		if n, err := l.Available(t.Context()); err != nil || n != rate-3-sluice.MaxPermits {
			t.Errorf("Available of %d = %d, %v", rate, n, err)
		}
		if value := s.conn.Int(t, "GET", "{x}:value"); value != rate-3-sluice.MaxPermits {
			t.Errorf("the value of %d is %d", rate, value)
		}
	}
}

// Java's way to say that there is no limit: exact in the store, and as much as can be said here.
func testLongMax(t *testing.T, s *store) {
	s.do("HSET", "x", "rate", "9223372036854775807", "interval", "3600000", "type", "0")
	l := s.client.Limiter("x")
	if d := take(t, l, 1); d.Limit.Permits != sluice.MaxRate || d.Remaining != sluice.MaxRate {
		t.Errorf("TryAcquire(1) = %+v, want all that can be said", d)
	}
	take(t, l, sluice.MaxPermits)
	if n, err := l.Available(t.Context()); err != nil || n != sluice.MaxRate {
		t.Errorf("Available = %d, %v, want all that can be said", n, err)
	}
	s.want(map[string]string{
		"x":         "hash rate=9223372036854775807 interval=3600000 type=0",
		"{x}:value": "string 9223372032559808511 for a time",
	})
}
