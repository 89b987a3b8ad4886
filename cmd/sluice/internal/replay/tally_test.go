package replay

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"time"
)

func TestTally_is_exact_while_there_are_few_keys(t *testing.T) {
	t.Parallel()
	y := newTally(3)
	for i, key := range []string{"a", "b", "a", "c", "a", "b", "a"} {
		c := y.of([]byte(key))
		if i%2 == 0 {
			y.refuse(c, int64(i), time.Duration(10-i)*time.Second)
		} else {
			c.allowed++
		}
	}
	all, refused := y.keys()
	if all != 3 || refused != 1 || y.above != nil {
		t.Errorf("%d keys, %d refused, want 3 and 1, exactly", all, refused)
	}
	want := []count{
		{key: "a", refused: 4, first: 0, last: 6, longest: 10 * time.Second},
		{key: "b", allowed: 2},
		{key: "c", allowed: 1},
	}
	for n := range 5 {
		got := y.top(n)
		if len(got) != min(n, 3) {
			t.Errorf("the top %d are %d", n, len(got))
		}
		for i, c := range got {
			if *c != want[i] {
				t.Errorf("the top %d: at %d is %+v, want %+v", n, i, *c, want[i])
			}
		}
	}
}

// TestTally_of_many_keys has keys with frequencies that fall like 1/n, as those of the web do, and a table for a few of them.
func TestTally_of_many_keys_stays_small_and_within_its_bounds(t *testing.T) {
	t.Parallel()
	const keys, limit, requests = 20_000, 500, 150_000
	y := newTally(limit)
	random := rand.New(rand.NewPCG(1, 2))
	truth, refusals := make(map[string]int64), make(map[string]int64)
	for i := range requests {
		key := fmt.Sprint("key", int(math.Exp(random.Float64()*math.Log(keys))))
		truth[key]++
		before := len(y.counts)
		c := y.of([]byte(key))
		if after := len(y.counts); after < before && after > limit/2+1 {
			t.Fatalf("only %d of %d keys have made room, want half", before-after, before)
		}
		if i%3 == 0 {
			refusals[key]++
			y.refuse(c, int64(i), time.Second)
		} else {
			c.allowed++
		}
		if len(y.counts) > limit {
			t.Fatalf("%d keys are kept, want at most %d", len(y.counts), limit)
		}
	}
	for key, n := range truth {
		c := y.counts[key]
		switch {
		case c == nil && n > 2*requests/limit:
			t.Errorf("%s with %d requests is not there", key, n)
		case c != nil && (c.requests() > n || c.requests()+c.missed < n || c.refused > refusals[key]):
			t.Errorf("%s has %d requests, at most %d missed, %d refused; the truth is %d and %d", key, c.requests(), c.missed, c.refused, n, refusals[key])
		}
	}
	all, refused := y.keys()
	near := func(what string, got int64, want int) {
		if off := math.Abs(float64(got)/float64(want) - 1); off > 0.02 {
			t.Errorf("%s: %d, want about %d", what, got, want)
		}
	}
	near("keys", all, len(truth))
	near("keys refused", refused, len(refusals))
	if got := y.top(1)[0]; got.key != "key1" || got.missed != 0 {
		t.Errorf("the first is %+v, want key1, of which nothing was missed", *got)
	}
}
