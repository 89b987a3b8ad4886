package interop

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"
)

// loadRun is one run, to be judged.
type loadRun struct {
	*replay
	*history
	version     string
	ahead, took time.Duration
	answer      string // of Java's
}

// judge says what was found, and judges it.
//
// How much can be above the rate? No more than what was forgotten early and is still in the window; its sum is the bound. It was used at the
// beginning of the window, within the time by which Java's clock is off: 200 of 1,000 a second for 200 ms, if all goes evenly, and 250 where
// Java keeps the ledger to 800 ms for long, since then all goes by a rate of 1,250. A burst may be the whole rate, and never more.
func (l *loadRun) judge(t *testing.T) {
	t.Helper()
	java, procs := l.shares()
	total := java.permits
	for _, p := range procs {
		total += p.permits
	}
	var off int64
	for _, u := range l.uses {
		off = max(off, u.early())
	}
	most, windows := above(l.uses, rightly)
	rest, restWindows := above(l.uses, really)
	found, unexplained := exact(l.uses, rightly), exact(l.uses, really)
	bound := forgotten(l.uses)

	var lines strings.Builder
	for i, p := range procs[:loadWorkers] {
		fmt.Fprintf(&lines, "\n  process %d of Go                %v", i, p)
	}
	t.Logf(`Redisson %s, Java's clock ahead by %v, %v:
  permits                        %d: %.1f %% by Java, %.1f %% by Go; %.1f %% of the rate
  Java                           %d permits; none for %v at most%s
  Acquire of all processes       %d permits; %d reservations given back
  Java's clock when a script ran %v ahead at most, %v behind at most
  forgotten early                %d permits taken out by Java, %d dated early by Java; by %v at most
  windows above the rate         %d of %d by the oracle, by %d permits at most
  bound                          %d permits of a window were forgotten early at most; if all went evenly %.0f
  not explained by Java          %d permits in %d windows (oracle: %d)
  Java's entries pulled back     %d; added twice %d
  Java says                      %s`,
		l.version, l.ahead, l.took, total, percentOf(java.permits, total), percentOf(total-java.permits, total),
		100*float64(total)/(l.took.Seconds()*loadRate), java.permits, java.pause, &lines, procs[loadWorkers].permits, l.back, l.lead, l.lag,
		l.skewed, l.lagging, time.Duration(off)*time.Microsecond, found.Count, len(l.uses), most,
		bound, evenly(off), rest, restWindows, unexplained.Count, l.pulled, l.again, l.answer)

	if unexplained.Count > 0 || rest > 0 {
		t.Errorf("%d permits above the rate are not explained by Java:\n%v", rest, unexplained)
	}
	if most > bound || most > loadRate {
		t.Errorf("%d permits above the rate, want at most %d", most, min(bound, loadRate))
	}
	if found.Count != windows {
		t.Errorf("the oracle finds %d windows above the rate, the count here is %d", found.Count, windows)
	}
	for i, text := range append(l.faults, l.odd...) {
		if i < 10 {
			t.Error(text)
		}
	}
	if !strings.Contains(l.answer, "threw=0 ") {
		t.Errorf("Java threw: %s", l.answer)
	}
	// Neither side has forgotten something, and the monitor has not either.
	if said := regexp.MustCompile(`granted=(\d+)`).FindStringSubmatch(l.answer); said == nil || said[1] != strconv.Itoa(java.grants) {
		t.Errorf("the monitor saw %d grants to Java, which says %s", java.grants, l.answer)
	}
	if l.untold != 0 {
		t.Errorf("the ledger has %d grants to Go more than its processes know of", l.untold)
	}
	l.starving(t, java, procs, total)
}

func evenly(off int64) float64 { return loadRate * float64(off) / float64(intervalMicros) }

func percentOf(part, all int64) float64 { return 100 * float64(part) / float64(max(1, all)) }
