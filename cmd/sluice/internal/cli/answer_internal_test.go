package cli

import (
	"math"
	"testing"
	"time"
)

func TestRoughly(t *testing.T) {
	for _, c := range []struct{ d, want time.Duration }{
		{1500 * time.Millisecond, 1500 * time.Millisecond},
		{time.Millisecond + time.Nanosecond, 2 * time.Millisecond},
		{math.MaxInt64, 200 * 365 * 24 * time.Hour}, // as time.Time.Sub gives for what it cannot hold
	} {
		if got := roughly(c.d); got != c.want {
			t.Errorf("roughly(%v) = %v, want %v", c.d, got, c.want)
		}
	}
}
