package oracle_test

import (
	"testing"

	"github.com/sluice-rate/sluice/internal/oracle"
)

func TestExactWhenTheRateChanges(t *testing.T) {
	t.Parallel()
	look := oracle.Params{Look: 5000}
	run(t, []verdictCase{{
		name: "a raised rate helps from the moment it is raised", params: look,
		text: `
			change at=0 rate=1 interval=100000
			change at=50000 rate=2 interval=100000
			grant arrived=1000 at=1000 n=1
			grant arrived=50000 at=50000 n=1`,
	}, {
		name: "and not before", params: look,
		text: `
			change at=0 rate=1 interval=100000
			change at=50000 rate=2 interval=100000
			grant arrived=1000 at=1000 n=1
			grant arrived=49999 at=49999 n=1`,
		want: "1@49999 1@49999",
	}, {
		name: "a lowered rate binds who arrives after it, and counts what was used before", params: look,
		text: `
			change at=0 rate=3 interval=100000
			change at=50000 rate=2 interval=100000
			grant arrived=1000 at=1000 n=2
			grant arrived=50001 at=50001 n=1`,
		want: "1@50001 1@50001",
	}, {
		name: "a promise due within the look period after it stands", params: look,
		text: `
			change at=0 rate=3 interval=100000
			change at=50000 rate=2 interval=100000
			grant arrived=1000 at=1000 n=2
			grant arrived=2000 at=55000 n=1`,
	}, {
		name: "a promise due later does not", params: look,
		text: `
			change at=0 rate=3 interval=100000
			change at=50000 rate=2 interval=100000
			grant arrived=1000 at=1000 n=2
			grant arrived=2000 at=55001 n=1`,
		want: "1@55001 1@55001",
	}, {
		name: "with no look period no promise stands", params: oracle.Params{Look: -1},
		text: `
			change at=0 rate=3 interval=100000
			change at=50000 rate=2 interval=100000
			grant arrived=1000 at=1000 n=2
			grant arrived=2000 at=50001 n=1`,
		want: "1@50001 1@50001",
	}, {
		name: "a rate that was lowered and raised again within a look period", params: look,
		text: `
			change at=0 rate=3 interval=100000
			change at=50000 rate=1 interval=100000
			change at=52000 rate=2 interval=100000
			grant arrived=1000 at=1000 n=2
			grant arrived=2000 at=54000 n=1
			grant arrived=51000 at=54000 n=1`,
		want: "1@54000 1@54000",
	}, {
		name: "the first change holds from the beginning",
		text: `
			change at=50000 rate=1 interval=100000
			grant arrived=1000 at=1000 n=1
			grant arrived=50000 at=50000 n=1`,
		want: "1@50000 1@50000",
	}, {
		name: "a caller may go late under the rate that its date had", params: oracle.Params{Look: 5000, Slack: 1000},
		text: `
			change at=0 rate=3 interval=100000
			change at=50000 rate=2 interval=100000
			grant arrived=1000 at=1000 n=2
			grant arrived=2000 at=49900 went=50700 n=1`,
	}})
}

func TestExactWhenTheIntervalChanges(t *testing.T) {
	t.Parallel()
	look := oracle.Params{Look: 5000}
	run(t, []verdictCase{{
		name: "a longer interval keeps what is still in the window", params: look,
		text: `
			change at=0 rate=1 interval=10000
			change at=50000 rate=1 interval=100000
			grant arrived=40001 at=40001 n=1
			grant arrived=140000 at=140000 n=1`,
		want: "1@140000 1@140000",
	}, {
		name: "and does not bring back what has left", params: look,
		text: `
			change at=0 rate=1 interval=10000
			change at=50000 rate=1 interval=100000
			grant arrived=40000 at=40000 n=1
			grant arrived=60000 at=60000 n=1`,
	}, {
		name: "a shorter interval frees at once", params: look,
		text: `
			change at=0 rate=1 interval=100000
			change at=50000 rate=1 interval=10000
			grant arrived=40000 at=40000 n=1
			grant arrived=50000 at=50000 n=1
			grant arrived=59999 at=59999 n=1`,
		want: "1@59999 1@59999",
	}, {
		name: "what left in between stays gone", params: look,
		text: `
			change at=0 rate=1 interval=100000
			change at=50000 rate=1 interval=10000
			change at=60000 rate=1 interval=100000
			grant arrived=40000 at=40000 n=1
			grant arrived=65000 at=65000 n=1`,
	}, {
		name: "a promise stands under the old interval too", params: look,
		text: `
			change at=0 rate=1 interval=1000
			change at=50000 rate=1 interval=100000
			grant arrived=1 at=49500 n=1
			grant arrived=2 at=50500 n=1
			grant arrived=3 at=51500 n=1`,
	}, {
		name: "the old rate does not go with the new interval", params: look,
		text: `
			change at=0 rate=6 interval=100000
			change at=50000 rate=2 interval=1000
			grant arrived=1 at=1000 n=4
			grant arrived=2 at=52000 n=2
			grant arrived=3 at=52001 n=1`,
		want: "1@52001 1@52001",
	}, {
		name: "a reset forgets what is dated before it", params: look,
		text: `
			change at=0 rate=2 interval=100000
			change at=50000 rate=2 interval=100000 reset=true
			grant arrived=49000 at=49999 n=2
			grant arrived=50000 at=50000 n=1
			grant arrived=50001 at=50001 n=1
			grant arrived=50002 at=50002 n=1`,
		want: "1@50002 1@50002",
	}, {
		name: "a reset forgets what only rounding has dated after it", params: look,
		text: `
			change at=0 rate=1 interval=100000
			change at=50500 rate=1 interval=100000 reset=true
			grant arrived=50200 at=51000 n=1 atonce=true
			grant arrived=50700 at=51000 n=1 atonce=true`,
	}, {
		name: "but not before it", params: look,
		text: `
			change at=0 rate=1 interval=100000
			change at=50500 rate=1 interval=100000 reset=true
			grant arrived=50200 at=51000 n=1 atonce=true
			grant arrived=50300 at=51000 n=1 atonce=true
			grant arrived=50700 at=51000 n=1 atonce=true`,
		want: "1@50300 1@50300",
	}, {
		name: "a reset does not forget a waiter due after it", params: look,
		text: `
			change at=0 rate=1 interval=100000
			change at=50500 rate=1 interval=100000 reset=true
			grant arrived=10000 at=51000 n=1
			grant arrived=50700 at=51000 n=1`,
		want: "1@51000 1@51000",
	}})
}
