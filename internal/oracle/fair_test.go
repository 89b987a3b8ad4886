package oracle_test

import "testing"

func TestFair(t *testing.T) {
	t.Parallel()
	run(t, []verdictCase{{
		name: "waiters in order, two on one date",
		text: `
			change at=0 rate=9 interval=100000
			grant arrived=1 at=20000 n=1
			grant arrived=2 at=20000 n=1
			grant arrived=3 at=30000 n=1`,
	}, {
		name: "a later waiter passes",
		text: `
			change at=0 rate=9 interval=100000
			grant arrived=1 at=20000 n=1
			grant arrived=2 at=19999 n=1`,
		want: "5@19999",
	}, {
		name: "everybody who passes is counted once",
		text: `
			change at=0 rate=9 interval=100000
			grant arrived=1 at=30000 n=1
			grant arrived=2 at=29000 n=1
			grant arrived=3 at=28000 n=1
			grant arrived=4 at=30000 n=1`,
		want: "5@29000 5@28000",
	}, {
		name: "one that did not wait passes a waiter",
		text: `
			change at=0 rate=9 interval=100000
			grant arrived=1 at=30000 n=1
			grant arrived=20000 at=20000 n=1`,
		want: "5@20000",
	}, {
		name: "known as made at once, it passes at its arrival",
		text: `
			change at=0 rate=9 interval=100000
			grant arrived=1 at=20500 n=1
			grant arrived=20300 at=21000 n=1
			grant arrived=20400 at=21000 n=1 atonce=true`,
		want: "5@20400",
	}, {
		name: "rounding alone turns two dates round",
		text: `
			change at=0 rate=9 interval=100000
			grant arrived=20100 at=21000 n=1
			grant arrived=20200 at=20600 n=1`,
	}, {
		name: "a cancelled waiter does not count, one partly cancelled does",
		text: `
			change at=0 rate=9 interval=100000
			grant arrived=1 at=30000 n=2 id=gone
			grant arrived=2 at=20000 n=2 id=half
			grant arrived=3 at=10000 n=1
			return at=9000 id=gone n=1
			return at=9001 id=gone n=1
			return at=9002 id=half n=1`,
		want: "5@10000",
	}, {
		name: "a waiter refunded after its date does",
		text: `
			change at=0 rate=9 interval=100000
			grant arrived=1 at=30000 n=1 id=a
			grant arrived=2 at=20000 n=1
			return at=30001 id=a n=1`,
		want: "5@20000",
	}, {
		name: "arrived in one microsecond, no order is known",
		text: `
			change at=0 rate=9 interval=100000
			grant arrived=1 at=30000 n=1
			grant arrived=1 at=20000 n=1
			grant arrived=2 at=25000 n=1`,
		want: "5@25000",
	}})
}
