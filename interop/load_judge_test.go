package interop

import (
	"fmt"
	"strings"
	"testing"
)

// evenUses are three intervals of one permit a millisecond: just the rate.
func evenUses() (uses []use) {
	for i := range int64(3 * loadRate) {
		uses = append(uses, use{at: i * 1000, gone: i*1000 + intervalMicros, permits: 1})
	}
	return uses
}

// TestLoadRemains: what is above the rate is found, and only what was forgotten early explains it.
func TestLoadRemains(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name                     string
		change                   func(uses []use)
		most, windows            int64
		rest, restWindows, bound int64
	}{
		{"right", func([]use) {}, 0, 0, 0, 0, 0},
		{"one permit too many", func(uses []use) { uses[1500].permits++ }, 1, loadRate, 1, loadRate, 0},
		{"the same, but one before it was forgotten 200 ms early", func(uses []use) {
			uses[1500].permits++
			uses[600].gone -= 200_000
		}, 1, loadRate, 1, loadRate - 100, 1}, // from 1500 to 1599 it is explained
		{"two too many, one of them explained", func(uses []use) {
			uses[1500].permits += 2
			uses[1400].gone = 1_500_000 // it would have left at 2,400,000: from there on both are too many
		}, 2, loadRate, 2, loadRate, 1},
		{"forgotten too late to explain it", func(uses []use) {
			uses[1500].permits++
			uses[501].gone = 1_500_001
		}, 1, loadRate, 1, loadRate, 0},
	} {
		uses := evenUses()
		c.change(uses)
		most, windows := above(uses, rightly)
		rest, restWindows := above(uses, really)
		if most != c.most || int64(windows) != c.windows || rest != c.rest || int64(restWindows) != c.restWindows || forgotten(uses) != c.bound {
			t.Errorf("%s: %d in %d windows, not explained %d in %d, bound %d; want %+v", c.name, most, windows, rest, restWindows, forgotten(uses), c)
		}
		if found, unexplained := exact(uses, rightly), exact(uses, really); found.Count != windows || unexplained.Count != restWindows {
			t.Errorf("%s: the oracle finds %d and %d windows, want %d and %d", c.name, found.Count, unexplained.Count, windows, restWindows)
		}
	}
}

// monitorLine is what the monitor says of a command.
func monitorLine(at int64, words ...string) string {
	var b strings.Builder
	for _, w := range words {
		fmt.Fprintf(&b, " %q", w)
	}
	return fmt.Sprintf("+%d.%06d [0 lua]%s\r\n", at/1_000_000, at%1_000_000, &b)
}

// TestLoadReplay: entries that leave early are laid to Java if its clock explains it, and to us if not.
func TestLoadReplay(t *testing.T) {
	t.Parallel()
	const (
		start = int64(1_000_000_000) // in microseconds
		key   = "{load}:permits"
		javas = "\x10JJJJJJJJJJJJJJJJ\x02\x00\x00\x00"
		ours  = "\x10SL\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x01\x00\x00\x00"
	)
	after := func(ms int64, words ...string) string { return monitorLine(start+1000*ms, words...) }
	goRuns := func(ms int64) string { return after(ms, "EVALSHA", "sha", "3", "load", "v", "p") }
	javaRuns := func(ms int64, clock string) string {
		return after(ms, "EVALSHA", "sha", "5", "load", "a", "b", "c", "d", "1", clock, "random")
	}
	part := []part{{takes: []taken{{id: ours[1:17], at: start, date: start, permits: 1}}}}

	for _, c := range []struct {
		name            string
		lines           []string // after a grant of ours
		skewed, lagging int64
		pulled          int
		fault           string
	}{
		{"taken out by a Java with a fast clock", []string{javaRuns(900, "1001000"), after(900, "ZREMRANGEBYSCORE", key, "0", "1000000")}, 1, 0, 0, ""},
		{"taken out by a Java with a right clock", []string{javaRuns(900, "1000900"), after(900, "ZREMRANGEBYSCORE", key, "0", "1000000")}, 0, 0, 0, "by Java true"},
		{"taken out by us", []string{goRuns(900), after(900, "ZREMRANGEBYRANK", key, "0", "0")}, 0, 0, 0, "by Java false"},
		{"taken out in time", []string{goRuns(1000), after(1000, "ZREMRANGEBYRANK", key, "0", "0")}, 0, 0, 0, ""},
		{"dated early by Java", []string{javaRuns(1, "999990"), after(1, "ZADD", key, "999990", javas)}, 0, 2, 0, ""},
		{"pulled back to now", []string{
			javaRuns(1, "1000200"), after(1, "ZADD", key, "1000200", javas), goRuns(2), after(2, "ZADD", key, "1000002", javas),
		}, 0, 0, 1, ""},
		{"pulled back too far", []string{
			javaRuns(1, "1000200"), after(1, "ZADD", key, "1000200", javas), goRuns(2), after(2, "ZADD", key, "999000", javas),
		}, 0, 0, 1, "before it was made"},
	} {
		r := newReplay("load")
		for _, line := range append([]string{goRuns(0), after(0, "ZADD", key, "NX", "1000000", ours)}, c.lines...) {
			r.line(line)
		}
		h := historyOf(r, part, 0)
		if len(r.odd) > 0 || h.untold != 0 || r.again != 0 {
			t.Errorf("%s: not understood: %q, %d, %d", c.name, r.odd, h.untold, r.again)
		}
		if h.skewed != c.skewed || h.lagging != c.lagging || r.pulled != c.pulled {
			t.Errorf("%s: %d and %d permits left early, %d pulled back, want %d, %d and %d", c.name, h.skewed, h.lagging, r.pulled, c.skewed, c.lagging, c.pulled)
		}
		if all := strings.Join(h.faults, "\n"); (all == "") != (c.fault == "") || !strings.Contains(all, c.fault) {
			t.Errorf("%s: faults %q, want %q", c.name, all, c.fault)
		}
	}
	if h := historyOf(newReplay("load"), part, 0); len(h.faults) != 1 || !strings.Contains(h.faults[0], "is not in the ledger") {
		t.Errorf("a grant that the monitor did not see: %q", h.faults)
	}
}
