package interop

import (
	"slices"
	"testing"
	"time"

	"github.com/sluice-rate/sluice/internal/oracle"
)

// shares is who got what.
type shares struct {
	javas, goers []grant
	lead, lag    time.Duration // of Java's clock
}

// real are all grants as they happened: each counts from the moment at which its permits were used.
func (s *shares) real() []grant {
	all := slices.Concat(s.javas, s.goers)
	slices.SortFunc(all, func(a, b grant) int { return int(a.at - b.at) })
	return all
}

// excess is how many permits more than the rate the fullest window holds, and in how many windows there are more. A window is looked at where a grant
// ends it: it holds what has begun by then and is not older than the interval, by the dates that old gives.
func excess(grants []grant, interval time.Duration, old func(grant) int64) (most int64, windows int) {
	byAge := slices.Clone(grants)
	slices.SortFunc(byAge, func(a, b grant) int { return int(old(a) - old(b)) })
	var held int64
	for _, g := range grants {
		held += g.permits
		for old(byAge[0]) <= g.at-interval.Microseconds() {
			held -= byAge[0].permits
			byAge = byAge[1:]
		}
		if over := held - loadRate; over > 0 {
			windows++
			most = max(most, over)
		}
	}
	return most, windows
}

// What makes a grant old: when it happened, or what the ledger says.
func happened(g grant) int64 { return g.at }
func dated(g grant) int64    { return min(g.ledger, (g.at+999)/1000*1000) }

// judged asks the oracle, which knows nothing of this.
func judged(grants []grant, interval time.Duration) oracle.Findings {
	h := oracle.History{Changes: []oracle.Change{{Rate: loadRate, Interval: interval.Microseconds()}}}
	for _, g := range grants {
		h.Grants = append(h.Grants, oracle.Grant{Arrived: g.arrived, At: g.at, Permits: g.permits})
	}
	slices.SortFunc(h.Grants, func(a, b oracle.Grant) int { return int(a.Arrived - b.Arrived) })
	return oracle.Exact(h)
}

// report says what was found, and judges it.
//
// Java reads its clock, and its script runs some time later: the grant is younger than the ledger says. And a Java whose clock is ahead by s takes what has
// left its own window out of the ledger, which is s too early, also ours. So the windows that are judged strictly end when a grant happens, begin by
// the dates in the ledger, and are shorter by s: those hold no more than the rate, whatever Java does. What they do hold more is nobody's clock's.
func (s *shares) report(t *testing.T, version string, ahead, took time.Duration, answer string) {
	t.Helper()
	all := s.real()
	lead := max(0, s.lead)
	most, windows := excess(all, loadInterval, happened)
	unexplained, _ := excess(all, loadInterval-lead, dated)
	found := judged(all, loadInterval)
	rest := judged(all, loadInterval-lead-s.lag-time.Millisecond)
	permits := func(grants []grant) (n int64) {
		for _, g := range grants {
			n += g.permits
		}
		return n
	}
	j, g := permits(s.javas), permits(s.goers)
	t.Logf(`Redisson %s, Java's clock ahead by %v, %v:
  permits                        %d by Java, %d by Go, together %.1f %% of the rate
  Java's date before the grant   %v at most; Java's clock ahead of Redis' by %v at most
  windows above the rate         %d of %d by the oracle, by %d permits at most
  not explained by Java's clock  %d permits
  longest that Go got nothing    %v
  Java says                      %s`,
		version, ahead, took, j, g, 100*float64(j+g)/(took.Seconds()*loadRate), s.lag, lead, found.Count, len(all), most,
		unexplained, s.longestPause(), answer)
	if unexplained > 0 {
		t.Errorf("%d permits above the rate that Java's clock does not explain", unexplained)
	}
	if rest.Count > 0 {
		t.Errorf("windows that are shorter by what Java's clock is off are too full:\n%v", rest)
	}
	if (found.Count > 0) != (windows > 0) { // they differ in the order of one microsecond
		t.Errorf("the oracle finds %d windows above the rate, the count here is %d", found.Count, windows)
	}
}

// longestPause is the longest time without a grant to Go.
func (s *shares) longestPause() (longest time.Duration) {
	grants := slices.Clone(s.goers)
	slices.SortFunc(grants, func(a, b grant) int { return int(a.at - b.at) })
	for i := 1; i < len(grants); i++ {
		longest = max(longest, time.Duration(grants[i].at-grants[i-1].at)*time.Microsecond)
	}
	return longest
}

// TestLoadJudge: one permit too many is found.
func TestLoadJudge(t *testing.T) {
	t.Parallel()
	var all []grant
	for i := range int64(3 * loadRate) {
		all = append(all, grant{arrived: i * 1000, at: i * 1000, ledger: i * 1000, permits: 1})
	}
	if most, windows := excess(all, loadInterval, happened); most != 0 || windows != 0 || judged(all, loadInterval).Count != 0 {
		t.Errorf("%d permits too many in %d windows of a right history: %v", most, windows, judged(all, loadInterval))
	}
	all[1500].permits++
	if most, windows := excess(all, loadInterval, happened); most != 1 || windows != loadRate || judged(all, loadInterval).Count != loadRate {
		t.Errorf("%d permits too many in %d windows, the oracle finds %d, want 1 in %d", most, windows, judged(all, loadInterval).Count, loadRate)
	}
}
