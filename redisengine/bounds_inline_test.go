package redisengine_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/sluice-rate/sluice"
	"github.com/sluice-rate/sluice/internal/redistest"
	"github.com/sluice-rate/sluice/redisengine"
)

// TestTenGrantsTakeAtMost170Bytes, key and all, by MEMORY USAGE, however long the window and however the grants lie in it.
func TestTenGrantsTakeAtMost170Bytes(t *testing.T) {
	server := redistest.Start(t)
	conn := redistest.Dial(t, server.Addr())
	now := time.Now()
	c := sluice.New(redisengine.New(conn, &redisengine.Options{Now: func() time.Time { return now }}))
	for _, interval := range []time.Duration{10 * time.Second, time.Minute, time.Hour, 24 * time.Hour, 30 * 24 * time.Hour} {
		for name, gap := range map[string]func(i int) time.Duration{
			"at once":       func(int) time.Duration { return 0 },
			"evenly":        func(int) time.Duration { return interval / 11 },
			"in two crowds": func(i int) time.Duration { return time.Duration(i/5%2*(1-i%5%2)) * interval / 4 },
		} {
			limit := sluice.Limit{Rate: sluice.Per(1000, interval)}
			key := "user:1234567"
			if err := c.Reset(t.Context(), limit.Charge(key)); err != nil {
				t.Fatal(err)
			}
			var last sluice.Outcome
			for i := range 10 {
				now = now.Add(gap(i))
				o, err := c.Take(t.Context(), limit.Charge(key))
				if err != nil || !o.Allowed {
					t.Fatalf("Take = %+v, %v, want allowed", o, err)
				}
				last = o
			}
			if last.Remaining != 990 {
				t.Errorf("%s in %v: %d remain after ten, want 990", name, interval, last.Remaining)
			}
			bytes, err := conn.Do(t.Context(), "MEMORY", "USAGE", fmt.Sprintf("sl:{%s}:s%d", key, interval.Milliseconds()))
			if err != nil {
				t.Fatal(err)
			}
			if n, ok := bytes.(int64); !ok || n > 170 {
				t.Errorf("%s in %v: the key takes %v bytes, want at most 170", name, interval, bytes)
			}
		}
	}
}
