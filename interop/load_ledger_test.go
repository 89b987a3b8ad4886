package interop

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/sluice-rate/sluice"
	"github.com/sluice-rate/sluice/internal/redistest"
	"github.com/sluice-rate/sluice/interop/jvm"
)

// TestLoadLedger has the same load as TestLoad, and follows every entry of the ledger from the command that added it to the one that took it
// out. So each permit above the rate is laid to the call of Java's that is its reason, or to us.
//
//	go -C interop test -run 'TestLoadLedger$' -load.seconds 60 -v .
func TestLoadLedger(t *testing.T) {
	if playsPart(t) {
		return
	}
	for _, version := range []string{versions[0], versions[len(versions)-1]} {
		for _, ahead := range []time.Duration{0, 200 * time.Millisecond} {
			t.Run(fmt.Sprintf("%s/%v_ahead", version, ahead), func(t *testing.T) { // one after another: they need the machine
				followLoad(t, version, ahead)
			})
		}
	}
}

// ledgerTime is shorter than TestLoad's, which proves what lasts.
func ledgerTime() time.Duration {
	switch {
	case *loadSeconds > 0:
		return time.Duration(*loadSeconds) * time.Second
	case testing.Short():
		return 3 * time.Second
	}
	return 10 * time.Second
}

func followLoad(t *testing.T, version string, ahead time.Duration) {
	if err := jvm.Missing(); err != nil {
		missing(t, err.Error())
	}
	took := ledgerTime()
	d, err := jvm.Start(version, jvm.Options{Env: shifted(t, ahead)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if text := d.Complaints(); text != "" {
			t.Errorf("Redisson complained:\n%s", text)
		}
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	})
	checkClock(t, d, ahead)
	server := redistest.Start(t)
	j := open(t, d, server.URL())
	g := newGopher(t, server.URL(), "load")
	if _, err := g.limiter.TrySetRate(t.Context(), sluice.Config{Rate: sluice.Per(loadRate, loadInterval)}); err != nil {
		t.Fatal(err)
	}
	followed := follow(t, server.Addr(), "load")
	if _, err := d.Do(t.Context(), "load", j.client, "load", "4", "300", "both", "1000"); err != nil { // what runs for the first time is slow
		t.Fatal(err)
	}
	time.Sleep(2*loadInterval + ahead)

	begin := time.Now().UnixMicro() // Redis runs on this machine
	parts := startParts(t, server.URL(), took)
	answer, err := d.Do(t.Context(), "load", j.client, "load", strconv.Itoa(loadThreads), strconv.FormatInt(took.Milliseconds(), 10), "both", "500")
	if err != nil {
		t.Fatal(err)
	}
	gos := parts()
	r := followed()
	run := &ledgerRun{version: version, ahead: ahead, took: took, answer: answer, replay: r, history: historyOf(r, gos, begin)}
	run.judge(t)
	if _, err := g.limiter.TryAcquire(t.Context(), 1); err != nil {
		t.Fatal(err)
	}
	st := &stage{t: t, conn: redistest.Dial(t, server.Addr()), name: "load"}
	if err := st.conserving(); err != nil {
		t.Error(err)
	}
}

// ledgerRun is one run, to be judged.
type ledgerRun struct {
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
func (l *ledgerRun) judge(t *testing.T) {
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
