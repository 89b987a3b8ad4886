package oracle_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/sluice-rate/sluice/internal/oracle"
)

// verdictCase is a tiny history in text and every violation in it, as
// "law@moment", in the order of the report.
type verdictCase struct {
	name   string
	params oracle.Params
	text   string
	want   string
}

// run judges each history.
func run(t *testing.T, cases []verdictCase) {
	t.Helper()
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			h := parse(t, c.text)
			h.Params = c.params
			r := oracle.Judge(h)
			if got := verdict(r); got != c.want {
				t.Errorf("Judge = %q, want %q\n%v", got, c.want, r)
			}
		})
	}
}

func parse(t *testing.T, text string) oracle.History {
	t.Helper()
	h, err := oracle.Read(strings.NewReader(strings.TrimSpace(text) + "\n"))
	if err != nil {
		t.Fatal(err)
	}
	return h
}

func verdict(r oracle.Report) string {
	var all []string
	for _, f := range []oracle.Findings{r.Record, r.Exact, r.ExactWent, r.Conserving, r.Fair, r.Once} {
		for _, v := range f.List {
			all = append(all, fmt.Sprintf("%d@%d", v.Law, v.At))
		}
	}
	return strings.Join(all, " ")
}

// moments are those of the violations, sorted.
func moments(f oracle.Findings) []int64 {
	var all []int64
	for _, v := range f.List {
		all = append(all, v.At)
	}
	slices.Sort(all)
	return all
}

func TestExact(t *testing.T) {
	t.Parallel()
	run(t, []verdictCase{{
		name: "nothing happened",
		text: `change at=0 rate=1 interval=1000000`,
	}, {
		name: "no configuration",
		text: `grant arrived=1 at=1 n=1`,
		want: "0@0",
	}, {
		name: "a grant of nothing and a rate of nothing",
		text: `
			change at=0 rate=0 interval=1000000
			grant arrived=1 at=1 n=0`,
		want: "0@0 0@1",
	}, {
		name: "two grants one interval apart do not meet",
		text: `
			change at=0 rate=1 interval=1000000
			grant arrived=5 at=5 n=1
			grant arrived=1000005 at=1000005 n=1`,
	}, {
		name: "one microsecond less and they do, by date and by going",
		text: `
			change at=0 rate=1 interval=1000000
			grant arrived=5 at=5 n=1
			grant arrived=1000004 at=1000004 n=1`,
		want: "1@1000004 1@1000004",
	}, {
		name: "each grant that overfills is counted, not those before",
		text: `
			change at=0 rate=3 interval=1000
			grant arrived=1 at=1 went=1 n=2
			grant arrived=2 at=2 went=2 n=1
			grant arrived=3 at=3 went=3 n=1
			grant arrived=1001 at=1001 went=1001 n=2`,
		want: "1@3 1@1001 1@3 1@1001",
	}, {
		name: "grants of one date are summed in the order of arrival",
		text: `
			change at=0 rate=2 interval=1000000
			grant arrived=3 at=1000 went=1000 n=1 id=third
			grant arrived=1 at=1000 went=1000 n=1 id=first
			grant arrived=2 at=1000 went=1000 n=1 id=second`,
		want: "1@1000 1@1000",
	}, {
		name: "one grant larger than the rate",
		text: `
			change at=0 rate=2 interval=1000000
			grant arrived=1 at=1 n=3`,
		want: "1@1 1@1",
	}, {
		name: "a date before the arrival",
		text: `
			change at=0 rate=2 interval=1000000
			grant arrived=10 at=9 went=11 n=1`,
		want: "1@10",
	}, {
		name: "made at once, dated by rounding up: the window ends at the arrival",
		text: `
			change at=0 rate=1 interval=1000000
			grant arrived=500 at=1000 atonce=true n=1
			grant arrived=1001000 at=1001000 atonce=true n=1
			grant arrived=2000900 at=2001000 atonce=true n=1`,
		want: "1@2000900 1@2000900",
	}})
}

func TestExactWent(t *testing.T) {
	t.Parallel()
	const pair = `
		change at=0 rate=1 interval=1000000
		grant arrived=1 at=10000 went=10300 n=1
		grant arrived=2 at=1010000 went=1010100 n=1`
	run(t, []verdictCase{{
		name: "a late caller comes too near to the next",
		text: pair, want: "1@1010100",
	}, {
		name: "slack forgives as much as it says", params: oracle.Params{Slack: 200},
		text: pair,
	}, {
		name: "and no more", params: oracle.Params{Slack: 199},
		text: pair, want: "1@1010100",
	}, {
		name: "slack of an interval judges nothing", params: oracle.Params{Slack: 1000000},
		text: pair,
	}, {
		name: "a waiter goes early", params: oracle.Params{Slack: 5000},
		text: `
			change at=0 rate=1 interval=1000000
			grant arrived=1 at=10000 went=9999 n=1`,
		want: "1@9999",
	}, {
		name: "who did not wait may go from the arrival on, not from the rounded date",
		text: `
			change at=0 rate=2 interval=1000000
			grant arrived=1500 at=2000 went=1600 n=1
			grant arrived=2500 at=3000 went=2499 n=1`,
		want: "1@2499",
	}, {
		name: "who is not known to have gone went at the date",
		text: `
			change at=0 rate=1 interval=1000000
			grant arrived=1 at=10000 went=10300 n=1
			grant arrived=2 at=1010000 n=1`,
		want: "1@1010000",
	}})
}
