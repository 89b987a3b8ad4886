package oracle

import (
	"fmt"
	"strings"
)

// Conserving judges law 2: at each claim, what the store says is free is the
// rate less the permits in the window, those of waiters included. Less is lost
// permits, more is minted ones. A release that took back more than the window
// held is a violation as well.
//
// Grants that are just leaving the window may be counted or not, as far as the
// store rounds (its now down to [Grain]) or merges ([Params].Merge); so may
// grants that had left under a shorter interval when a longer one came. To ask
// the store for a claim in the midst of its work, ask in one step with the
// store's time, and record every grant that it had made by then.
func Conserving(h History) Findings {
	d := open(h)
	if d.record.Count > 0 {
		return d.record
	}
	return d.conserving
}

// Once judges law 6: no receipt is granted twice; no return is of a receipt
// that was not granted, comes before it arrived, or is of more permits than
// have not yet come back by it. Grants without a receipt are not judged.
func Once(h History) Findings {
	d := open(h)
	if d.record.Count > 0 {
		return d.record
	}
	return d.once
}

// Report is the outcome of all judgements on one history.
type Report struct {
	Record     Findings // if not empty, nothing else was judged
	Exact      Findings
	ExactWent  Findings
	Conserving Findings
	Fair       Findings
	Once       Findings
	Stats      Stats
}

// Stats says how much there was to judge: a verdict on nothing is worth
// nothing.
type Stats struct {
	Grants, Waited, Cancelled   int
	Permits, Returned, Released int64
	Configurations, Claims      int
	Windows, WindowsWent        int    // checked, by date and by going
	Fullest, FullestWent        Window // of these, by the share of the rate
}

// Judge runs all judgements on one history.
func Judge(h History) Report {
	d := open(h)
	if d.record.Count > 0 {
		return Report{Record: d.record}
	}
	r := Report{Stats: d.stats, Conserving: d.conserving, Once: d.once, Fair: d.fair()}
	exact, byDate := d.exact()
	went, byWent := d.exactWent()
	r.Exact, r.Stats.Windows, r.Stats.Fullest = exact, byDate.windows, byDate.fullest
	r.ExactWent, r.Stats.WindowsWent, r.Stats.FullestWent = went, byWent.windows, byWent.fullest
	for _, cancelled := range d.cancelled {
		if cancelled {
			r.Stats.Cancelled++
		}
	}
	return r
}

// Count is the number of all violations.
func (r Report) Count() int {
	return r.Record.Count + r.Exact.Count + r.ExactWent.Count + r.Conserving.Count + r.Fair.Count + r.Once.Count
}

// String is the report for the output of a test.
func (r Report) String() string {
	var b strings.Builder
	s := r.Stats
	fmt.Fprintf(&b, "%d violations\n", r.Count())
	fmt.Fprintf(&b, "%d grants (%d waited, %d cancelled) of %d permits (%d returned, %d released), %d configurations, %d claims\n",
		s.Grants, s.Waited, s.Cancelled, s.Permits, s.Returned, s.Released, s.Configurations, s.Claims)
	fmt.Fprintf(&b, "%d windows by date, fullest %v; %d by going, fullest %v\n", s.Windows, s.Fullest, s.WindowsWent, s.FullestWent)
	for _, part := range []struct {
		name string
		Findings
	}{
		{"record", r.Record}, {"exact by date", r.Exact}, {"exact by going", r.ExactWent},
		{"conserving", r.Conserving}, {"fair", r.Fair}, {"once", r.Once},
	} {
		if part.Count > 0 {
			fmt.Fprintf(&b, "%s: %d violations\n%v", part.name, part.Count, part.Findings)
		}
	}
	return b.String()
}
