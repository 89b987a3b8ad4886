package oracle

// tally sums what was added at places 0..n-1, from a place on. It is a Fenwick
// tree over the places counted from the end: adding and summing take O(log n).
type tally []int64

func newTally(n int) tally { return make(tally, n+1) }

// add adds n at a place.
func (t tally) add(place int, n int64) {
	for i := len(t) - 1 - place; i < len(t); i += i & -i {
		t[i] += n
	}
}

// from is the sum of what was added at this place and all behind it.
func (t tally) from(place int) int64 {
	var sum int64
	for i := len(t) - 1 - place; i > 0; i -= i & -i {
		sum += t[i]
	}
	return sum
}
