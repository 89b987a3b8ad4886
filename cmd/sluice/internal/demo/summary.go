package demo

import (
	"fmt"
	"strings"
)

// summary is what it came to.
func (w *witness) summary() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	var b strings.Builder
	var all tally
	fmt.Fprintf(&b, "\n%-6s %6s %9s %8s %8s\n", "", "taken", "unused", "refused", "in line")
	for _, worker := range workers {
		t := w.state(worker.name).tally
		row(&b, worker.name, t)
		all.taken += t.taken
		all.unused += t.unused
		all.refusals += t.refusals
		all.inLine += t.inLine
	}
	row(&b, "all", all)
	fmt.Fprintf(&b, "\nThe fullest %v held %d permits; the rate is %v. All of them are free again.\n", w.rate.Interval, fullest(w.spans), w.rate)
	fmt.Fprintf(&b, "Across processes, through Redis: sluice acquire NAME -rate %v -wait 10s\n", w.rate)
	return b.String()
}

func row(b *strings.Builder, name string, t tally) {
	fmt.Fprintf(b, "%-6s %6d %9d %8d %8s\n", name, t.taken, t.unused, t.refusals, seconds(t.inLine))
}

// fullest is the most permits that any window held: the most spans that overlap, since a span is as long as the window.
func fullest(spans []span) int64 {
	var most int64
	for _, at := range spans {
		var held int64
		for _, s := range spans {
			if s.from <= at.from && at.from < s.to {
				held += s.permits
			}
		}
		most = max(most, held)
	}
	return most
}
