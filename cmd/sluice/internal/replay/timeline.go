package replay

import "time"

// timeline counts over time, in buckets of one width. When there would be too many, it takes the next width.
type timeline struct {
	zone    int64 // seconds east of UTC; buckets begin at whole widths of that time
	width   int   // index into widths
	first   int64 // number of the first bucket: local seconds over the width
	buckets []bucket

	until   int64 // the last bucket counts up to this moment
	current *bucket
}

type bucket struct{ allowed, refused int64 }

// maxBuckets is how many buckets a timeline keeps; maxRows is how many it shows.
const (
	maxBuckets = 360
	maxRows    = 20
)

const (
	minute = 60
	hour   = 60 * minute
	day    = 24 * hour
)

// widths of buckets, in seconds. What is kept in one width is shown in the same or in a later one that it divides; each divides some later one. The last is
// wide enough for all times that a log may have.
var widths = []int64{
	1, 2, 5, 10, 15, 30, minute, 2 * minute, 5 * minute, 10 * minute, 15 * minute, 30 * minute,
	hour, 2 * hour, 3 * hour, 6 * hour, 12 * hour, day, 2 * day, 7 * day, 14 * day, 28 * day, 84 * day, 168 * day, 336 * day, 3360 * day, 6720 * day,
}

// at is the bucket of a moment in Unix seconds, which is not before that of the last call.
func (t *timeline) at(moment int64) *bucket {
	if t.current != nil && moment < t.until {
		return t.current
	}
	if t.buckets == nil {
		t.first = t.number(moment)
	}
	for t.number(moment)-t.first >= maxBuckets {
		*t = t.in(t.next())
	}
	for int64(len(t.buckets)) <= t.number(moment)-t.first {
		t.buckets = append(t.buckets, bucket{})
	}
	t.current = &t.buckets[len(t.buckets)-1]
	t.until = t.begin(len(t.buckets))
	return t.current
}

// number is the number of the bucket that a moment falls into.
func (t *timeline) number(moment int64) int64 { return (moment + t.zone) / widths[t.width] }

// begin is the moment at which a bucket begins.
func (t *timeline) begin(i int) int64 { return (t.first+int64(i))*widths[t.width] - t.zone }

// step is the width of the buckets.
func (t *timeline) step() time.Duration { return time.Duration(widths[t.width]) * time.Second }

// next is the next width that this one divides.
func (t *timeline) next() int {
	next := t.width + 1
	for widths[next]%widths[t.width] != 0 {
		next++
	}
	return next
}

// in is the timeline in a larger width.
func (t *timeline) in(width int) timeline {
	w := timeline{zone: t.zone, width: width}
	if len(t.buckets) == 0 {
		return w
	}
	w.first = w.number(t.begin(0))
	for i, b := range t.buckets {
		n := w.number(t.begin(i)) - w.first
		for int64(len(w.buckets)) <= n {
			w.buckets = append(w.buckets, bucket{})
		}
		w.buckets[n].allowed += b.allowed
		w.buckets[n].refused += b.refused
	}
	return w
}

// shown is the timeline in the smallest width in which it has few enough rows.
func (t *timeline) shown() timeline {
	if len(t.buckets) <= maxRows {
		return *t
	}
	for width := t.width + 1; ; width++ {
		if widths[width]%widths[t.width] != 0 {
			continue
		}
		if w := t.in(width); len(w.buckets) <= maxRows {
			return w
		}
	}
}
