package replay

import (
	"math/rand/v2"
	"testing"
)

func TestTimeline_keeps_every_count_in_few_buckets(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	for range 50 {
		begin := int64(1_796_000_000) + random.Int64N(1e6)
		l := timeline{zone: []int64{0, 3600, -5 * 3600, 19800}[random.IntN(4)]}
		step := int64(1) << random.IntN(24) // up to half a year
		moment := begin
		var refused int64
		moments := make(map[int64]int64)
		for range 500 {
			l.at(moment).refused++
			refused++
			moments[moment]++
			moment += random.Int64N(step)
			if len(l.buckets) > maxBuckets {
				t.Fatalf("%d buckets", len(l.buckets))
			}
		}
		for _, l := range []timeline{l, l.shown()} {
			var sum int64
			for i, b := range l.buckets {
				sum += b.refused
				for moment, n := range moments {
					if moment >= l.begin(i) && moment < l.begin(i+1) {
						b.refused -= n
					}
				}
				if b.refused != 0 {
					t.Fatalf("bucket %d of %v counts %d more than happened in it", i, l.step(), b.refused)
				}
			}
			if sum != refused {
				t.Fatalf("%d in all buckets, want %d", sum, refused)
			}
			if (l.begin(0)+l.zone)%widths[l.width] != 0 {
				t.Fatalf("a bucket of %v begins at %d", l.step(), l.begin(0))
			}
		}
		if n := len(l.shown().buckets); n > maxRows {
			t.Fatalf("%d rows", n)
		}
	}
}

func TestTimeline_is_as_fine_as_there_is_room_for(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ seconds, step int64 }{
		{0, 1}, {19, 1}, {20, 2}, {40, 5}, {359, 30}, {hour - 1, 5 * minute}, {day - 1, 2 * hour}, {7*day - 1, 12 * hour}, {365*day - 1, 28 * day}, {200 * 365 * day, 6720 * day},
	} {
		const begin = 20_000 * day
		var l timeline
		for i := range int64(1000) {
			l.at(begin+i*tt.seconds/999).allowed++
		}
		if got := widths[l.shown().width]; got != tt.step {
			t.Errorf("%d seconds are shown in steps of %d, want %d", tt.seconds, got, tt.step)
		}
	}
}
