package redisengine_test

import (
	"slices"
	"testing"
	"time"

	"github.com/sluice-rate/sluice"
	"github.com/sluice-rate/sluice/internal/oracle"
)

// judgeInline asks the store what is free while the last windows empty, and in the end whether all is, and the oracle what it thinks.
func judgeInline(t *testing.T, client *sluice.Client, records []*inlineRecord) {
	t.Helper()
	longest := time.Duration(0)
	for range 4 {
		for _, r := range records {
			claimInline(t, client, r)
		}
		time.Sleep(40 * time.Millisecond)
	}
	for _, r := range records {
		for _, l := range r.limits {
			longest = max(longest, l.Rate.Interval)
		}
	}
	time.Sleep(longest + longest/250 + 5*time.Millisecond)
	for _, r := range records {
		claimInline(t, client, r)
		for i, l := range r.limits {
			o, err := client.Peek(t.Context(), l.ChargeN(r.name, l.Most()))
			if err != nil || !o.Allowed || o.Wait != 0 || o.Remaining != l.Most() {
				t.Errorf("%s (%v) after one quiet interval: %+v, %v, want %d free", r.name, l, o, err, l.Most())
			}
			r.judge(t, i)
		}
	}
}

// claimInline notes what the store says is free, where all that was taken and given back is on record.
func claimInline(t *testing.T, client *sluice.Client, r *inlineRecord) {
	t.Helper()
	if r.cancels {
		return
	}
	o, err := client.Peek(t.Context(), r.charges(1)...)
	if err != nil {
		t.Error(err)
		return
	}
	for i, p := range o.Parts {
		h := &r.histories[i]
		h.Claims = append(h.Claims, oracle.Claim{At: o.At.UnixMicro(), Free: p.Remaining})
	}
}

func (r *inlineRecord) judge(t *testing.T, i int) {
	t.Helper()
	h := r.histories[i]
	slices.SortStableFunc(h.Grants, func(a, b oracle.Grant) int { return int(a.Arrived - b.Arrived) })
	report := oracle.Judge(h)
	// The line is in order to the millisecond: who goes at once does so at the end of his. Who waits for something else stands in
	// nobody's way.
	report.Fair = oracle.Findings{}
	if len(r.limits) == 1 {
		line := h
		line.Grants = slices.Clone(h.Grants)
		for i := range line.Grants {
			line.Grants[i].AtOnce = false
		}
		report.Fair = oracle.Fair(line)
	}
	s := report.Stats
	t.Logf("%s (%v): %d grants, %d waited, %d permits, %d given back; fullest window %v", r.name, r.limits[i], s.Grants, s.Waited, s.Permits, s.Returned, s.Fullest)
	if report.Count() > 0 {
		t.Errorf("%s (%v): %v", r.name, r.limits[i], report)
	}
	if s.Grants == 0 || s.Waited == 0 {
		t.Errorf("%s (%v): %d grants, of which %d waited: nothing to judge", r.name, r.limits[i], s.Grants, s.Waited)
	}
}
