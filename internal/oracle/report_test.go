package oracle_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/sluice-rate/sluice/internal/oracle"
)

func TestReportSaysWhatWasJudged(t *testing.T) {
	t.Parallel()
	h := parse(t, `
		change at=0 rate=2 interval=100000
		grant arrived=1000 at=1000 went=1200 n=2 id=a who=ann
		grant arrived=2000 at=101000 went=100000 n=1 id=b who=bob
		grant arrived=3000 at=90000 n=1 id=c
		grant arrived=4000 at=99000 n=1 id=d
		return at=5000 id=d n=1
		claim at=102000 free=0`)
	const want = `5 violations
4 grants (3 waited, 1 cancelled) of 5 permits (1 returned, 0 released), 1 configurations, 1 claims
3 windows by date, fullest 3 of 2 in [-9999, 90001); 3 by going, fullest 4 of 2 in [1, 100001)
exact by date: 1 violations
law 1 at 90000: 3 of 2 in [-9999, 90001): opened by grant arrived=1000 at=1000 went=1200 n=2 id=a who=ann; overfilled by grant arrived=3000 at=90000 n=1 id=c
exact by going: 3 violations
law 1 at 100000: went 1000 early: grant arrived=2000 at=101000 went=100000 n=1 id=b who=bob
law 1 at 90000: 3 of 2 in [-9999, 90001): opened by grant arrived=1000 at=1000 went=1200 n=2 id=a who=ann; overfilled by grant arrived=3000 at=90000 n=1 id=c
law 1 at 100000: 4 of 2 in [1, 100001): opened by grant arrived=1000 at=1000 went=1200 n=2 id=a who=ann; overfilled by grant arrived=2000 at=101000 went=100000 n=1 id=b who=bob
fair: 1 violations
law 5 at 90000: passed a waiter by 11000: grant arrived=3000 at=90000 n=1 id=c went before grant arrived=2000 at=101000 went=100000 n=1 id=b who=bob
`
	if got := oracle.Judge(h).String(); got != want {
		t.Errorf("report is\n%swant\n%s", got, want)
	}
}

func TestEachJudgementAloneSaysTheSame(t *testing.T) {
	t.Parallel()
	seeds(t, 200, func(t *testing.T, rng *rand.Rand) {
		h := chaos(rng)
		r := oracle.Judge(h)
		for _, alone := range []struct {
			judge func(oracle.History) oracle.Findings
			want  oracle.Findings
		}{
			{oracle.Exact, r.Exact}, {oracle.ExactWent, r.ExactWent}, {oracle.Fair, r.Fair},
			{oracle.Conserving, r.Conserving}, {oracle.Once, r.Once},
		} {
			if got := alone.judge(h); fmt.Sprint(got) != fmt.Sprint(alone.want) {
				t.Errorf("alone %v, want %v", got, alone.want)
			}
		}
	})
	for _, judge := range []func(oracle.History) oracle.Findings{
		oracle.Exact, oracle.ExactWent, oracle.Fair, oracle.Conserving, oracle.Once,
	} {
		if f := judge(oracle.History{}); f.Count != 1 || f.List[0].Law != 0 {
			t.Errorf("without a configuration %v, want a violation of law 0", f)
		}
	}
}

func TestAMillionViolationsAreCountedNotListed(t *testing.T) {
	t.Parallel()
	h := oracle.History{Changes: []oracle.Change{{Rate: 1, Interval: oracle.Second}}}
	for i := range int64(100_001) {
		h.Grants = append(h.Grants, oracle.Grant{Arrived: i, At: i, Permits: 1})
	}
	f := oracle.Exact(h)
	if f.Count != 100_000 || len(f.List) != 20 || !strings.HasSuffix(f.String(), "and 99980 more\n") {
		t.Errorf("Exact = %d violations, %d listed: %v", f.Count, len(f.List), f)
	}
	h.Params.List = 3
	if f := oracle.Exact(h); f.Count != 100_000 || len(f.List) != 3 {
		t.Errorf("Exact = %d violations, %d listed, want 3", f.Count, len(f.List))
	}
}
