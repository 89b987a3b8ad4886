package redisengine_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/sluice-rate/sluice"
	"github.com/sluice-rate/sluice/internal/oracle"
	"github.com/sluice-rate/sluice/redisengine"
)

// lookOf is how long a promise made under an old rate may stand: LookPeriod from the end of the millisecond in which the
// rate was changed.
const lookOf = oracle.Second + oracle.Grain

// judge asks the store what it has left, when all have gone, and the oracle what it thinks of the records.
func (r *torture) judge(want int64) {
	r.t.Helper()
	calls, usec := r.conn.ScriptStats(r.t)
	claims := r.claims()
	control := r.control()

	var table strings.Builder
	w := tabwriter.NewWriter(&table, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "limiter\tgrants\twaited\tpermits\tback\tchanges\twindows\tfullest\tas gone\tlongest line\tnear\tlate p50\tp99.99\tmax\t")
	var grants int64
	for _, l := range limiters {
		for _, id := range l.clients() {
			v := r.verdict(l, id, claims[l.name+id], control)
			grants += int64(v.Stats.Grants)
			s := v.Stats
			fmt.Fprintf(w, "%s\t%d\t%d\t%d\t%d\t%d\t%d\t%s\t%s\t%d\t%d\t%v\t%v\t%v\t\n", strings.TrimSpace(l.name+" "+id), s.Grants, s.Waited, s.Permits,
				s.Returned+s.Released, s.Configurations-1, s.Windows, percent(s.Fullest), percent(s.FullestWent), v.line, v.near,
				quantile(v.late, 0.5), quantile(v.late, 0.9999), quantile(v.late, 1))
			if v.Count() > 0 {
				r.t.Errorf("%s %s: %v\nthe whole record is in %s (kept with -artifacts)", l.name, id, v.Report, r.keep(l.name+id, v.history))
			}
		}
	}
	_ = w.Flush()
	r.t.Logf("%d grants in %v, %.0f a second; %.0f script calls a second of %.0f µs; %d states audited\n%s", grants, r.took.Round(time.Millisecond),
		float64(grants)/r.took.Seconds(), float64(calls)/r.took.Seconds(), usec/float64(calls), r.audits, &table)
	if grants < want {
		r.t.Errorf("%d grants on record, want %d", grants, want)
	}
}

// control is how late this machine let go those who waited for no limiter.
func (r *torture) control() time.Duration {
	r.t.Helper()
	var all []time.Duration
	var clocks []string
	for i := range r.parts {
		if r.victims[i] {
			continue
		}
		s := readSummary(r.t, r.dir, i)
		all = append(all, s.Control...)
		clocks = append(clocks, s.Clock.Round(time.Second).String())
		if s.Failed > 0 || s.Unknown > 0 {
			r.t.Logf("part %d: %d calls failed, of %d takes it is not known whether they ran", i, s.Failed, s.Unknown)
		}
	}
	slices.Sort(all)
	r.t.Logf("clocks off by %v; plain timers and round trips late by %v in the middle, %v in 99.99 %%, %v at most", clocks,
		quantile(all, 0.5), quantile(all, 0.9999), quantile(all, 1))
	return quantile(all, 1)
}

// claims asks each limiter what is free while the last windows empty, and in the end whether the whole rate can be
// had in one go.
func (r *torture) claims() map[string][]oracle.Claim {
	r.t.Helper()
	exact := r.faultless
	longest := time.Duration(0)
	for i := range r.parts {
		exact = exact && readSummary(r.t, r.dir, i).Unknown == 0
	}
	for _, l := range limiters {
		longest = max(longest, time.Duration(r.rate(l).Interval)*time.Microsecond)
	}
	claims := make(map[string][]oracle.Claim)
	const steps = 4
	for step := range steps + 1 {
		for _, l := range limiters {
			for _, id := range l.clients() {
				free, at := r.available(l, id)
				if exact || step == steps {
					claims[l.name+id] = append(claims[l.name+id], oracle.Claim{At: at, Free: free})
				}
			}
		}
		time.Sleep(longest/steps + 2*time.Millisecond)
	}
	for _, l := range limiters {
		for _, id := range l.clients() {
			rate := r.rate(l).Rate
			if free, _ := r.available(l, id); free != rate {
				r.t.Errorf("%s %s: after one quiet interval %d permits are free, want the rate, %d", l.name, id, free, rate)
			}
			if d, err := r.client(id).Limiter(l.name).TryAcquire(r.t.Context(), rate); err != nil || !d.Allowed {
				r.t.Errorf("%s %s: TryAcquire(%d) after one quiet interval = %+v, %v, want allowed", l.name, id, rate, d, err)
			}
		}
	}
	return claims
}

func (r *torture) client(id string) *sluice.Client {
	return sluice.New(redisengine.New(stampedConn{r.conn}, nil), sluice.WithClientID(cmp.Or(id, "parent")))
}

func (r *torture) available(l *limiterSpec, id string) (free, at int64) {
	r.t.Helper()
	ctx, stamp := withStamp(context.WithoutCancel(r.t.Context()))
	free, err := r.client(id).Limiter(l.name).Available(ctx)
	if err != nil {
		r.t.Errorf("%s %s: %v", l.name, id, err)
	}
	return free, *stamp
}

// rate is the last configuration of a limiter.
func (r *torture) rate(l *limiterSpec) oracle.Change {
	changes := r.changes[l.name]
	return changes[len(changes)-1]
}

// verdict is what the oracle says of one limiter, with what it does not count.
type verdict struct {
	oracle.Report
	history oracle.History
	late    []time.Duration // sorted
	line    int
	near    int // callers who were let go at once in the millisecond of a waiter's date, and before it
}

func (r *torture) verdict(l *limiterSpec, id string, claims []oracle.Claim, slack time.Duration) verdict {
	r.t.Helper()
	names := r.files(l, id)
	h, err := oracle.ReadFiles(names...)
	if err != nil {
		r.t.Errorf("%s: %v", l.name, err)
	}
	h.Changes, h.Claims = r.changes[l.name], claims
	h.Returns = append(h.Returns, forgotten(h)...)
	late := lateness(h)
	h.Params = oracle.Params{Look: lookOf, Slack: slack.Microseconds()}
	if l.config.Rate.Permits > mostGrants {
		h.Params.Merge = max(oracle.Grain, l.config.Rate.Interval.Microseconds()/1000) + oracle.Grain
	}
	v := verdict{Report: oracle.Judge(h), history: h, late: late, line: longestLine(h)}
	v.near, v.Fair = v.Fair.Count, oracle.Fair(toTheMillisecond(h))
	return v
}

// forgotten is the waiters whose date lay in what was left of the millisecond in which the limiter was reset: that forgets
// what is dated up to the end of it. They count as never used.
func forgotten(h oracle.History) (returns []oracle.Return) {
	for _, c := range h.Changes {
		if !c.Reset {
			continue
		}
		for _, g := range h.Grants {
			if !g.AtOnce && g.Arrived < c.At && c.At <= g.At && g.At < c.At+oracle.Grain && g.At%oracle.Grain == 0 {
				returns = append(returns, oracle.Return{At: g.At + 1, ID: g.ID, Permits: g.Permits})
			}
		}
	}
	return returns
}

// toTheMillisecond is a history with the dates by which the store keeps the order: a caller who is let go at once is dated
// at the end of the millisecond. That is how finely the line is ordered; who goes first within it is not known.
func toTheMillisecond(h oracle.History) oracle.History {
	h.Grants = slices.Clone(h.Grants)
	for i := range h.Grants {
		if g := &h.Grants[i]; g.AtOnce {
			g.At, g.AtOnce = (g.Arrived+oracle.Grain-1)/oracle.Grain*oracle.Grain, false
		}
	}
	return h
}

// keep writes a history that broke a law to a file.
func (r *torture) keep(name string, h oracle.History) string {
	r.t.Helper()
	path := filepath.Join(r.t.ArtifactDir(), name+".txt")
	f, err := os.Create(path)
	if err == nil {
		err = oracle.Write(f, h.Events()...)
		err = errors.Join(err, f.Close())
	}
	if err != nil {
		r.t.Error(err)
	}
	return path
}

// lateness is how long after the moment at which it could have done so each caller went on.
func lateness(h oracle.History) []time.Duration {
	late := make([]time.Duration, len(h.Grants))
	for i, g := range h.Grants {
		from := g.At
		if g.AtOnce {
			from = g.Arrived
		}
		late[i] = time.Duration(g.Went-from) * time.Microsecond
	}
	slices.Sort(late)
	return late
}

// longestLine is how many waited at one moment, of those who were granted in the end.
func longestLine(h oracle.History) (longest int) {
	type step struct {
		at   int64
		more int
	}
	var steps []step
	for _, g := range h.Grants {
		if !g.AtOnce {
			steps = append(steps, step{g.Arrived, 1}, step{g.At, -1})
		}
	}
	slices.SortFunc(steps, func(a, b step) int { return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.more, b.more)) })
	line := 0
	for _, s := range steps {
		line += s.more
		longest = max(longest, line)
	}
	return longest
}

func quantile(sorted []time.Duration, q float64) time.Duration {
	if len(sorted) == 0 {
		return 0
	}
	return sorted[int(q*float64(len(sorted)-1))].Round(10 * time.Microsecond)
}

func percent(w oracle.Window) string {
	if w.Rate == 0 {
		return "-"
	}
	return fmt.Sprintf("%.1f %%", 100*float64(w.Permits)/float64(w.Rate))
}
