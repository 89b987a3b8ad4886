package redisengine_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
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

// mostSilence is how long a limiter may grant nothing, whatever happens: callers notice that the server is away, wait for the
// clean-up, which takes two seconds at most, and rest.
const mostSilence = 5 * time.Second

// harmed reports whether a budget is that of a victim alone.
func (r *torture) harmed(id string) bool {
	for i := range r.victims {
		if id == clientID(i) {
			return true
		}
	}
	return false
}

// judge asks the store what it has left, when all have gone, and the oracle what it thinks of the records.
func (r *torture) judge(want int64) {
	r.t.Helper()
	calls, usec := r.conn.ScriptStats(r.t)
	claims := r.claims()
	control := r.control()

	var table strings.Builder
	w := tabwriter.NewWriter(&table, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "limiter\tgrants\twaited\tpermits\tback\tchanges\tclaims\twindows\tfullest\tas gone\tlongest line\tsilence\tnear\tlate p50\tp99\tmax\t")
	var grants int64
	for _, l := range limiters {
		for _, id := range l.clients() {
			v := r.verdict(l, id, claims[l.name+id])
			grants += int64(v.Stats.Grants)
			s := v.Stats
			fmt.Fprintf(w, "%s\t%d\t%d\t%d\t%d\t%d\t%d\t%d\t%s\t%s\t%d\t%v\t%d\t%v\t%v\t%v\t\n", strings.TrimSpace(l.name+" "+id), s.Grants, s.Waited, s.Permits,
				s.Returned+s.Released, s.Configurations-1, s.Claims, s.Windows, percent(s.Fullest), percent(s.FullestWent), v.line, v.silence.Round(time.Millisecond), v.near,
				quantile(v.late, 0.5), quantile(v.late, 0.99), quantile(v.late, 1))
			if v.silence > mostSilence && !r.harmed(id) {
				r.t.Errorf("%s %s: nobody was granted anything for %v, want at most %v", l.name, id, v.silence, mostSilence)
			}
			// Whoever goes on much later than others do on this machine was told too late.
			if late, most := quantile(v.late, 1), 2*quantile(control, 1)+100*time.Millisecond; r.faultless && late > most {
				r.t.Errorf("%s %s: a caller went on %v late, want at most %v", l.name, id, late, most)
			}
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

// control is how late this machine let go those who waited for no limiter, sorted.
func (r *torture) control() []time.Duration {
	r.t.Helper()
	var all []time.Duration
	var clocks []string
	var failed int64
	for i := range r.parts {
		if r.victims[i] {
			continue
		}
		s := readSummary(r.t, r.dir, i)
		all = append(all, s.Control...)
		clocks = append(clocks, s.Clock.Round(time.Second).String())
		failed += s.Failed
	}
	slices.Sort(all)
	r.t.Logf("clocks off by %v; %d calls failed; plain timers and round trips late by %v in the middle, %v in 99 %%, %v at most", clocks, failed,
		quantile(all, 0.5), quantile(all, 0.99), quantile(all, 1))
	return all
}

// claims asks each limiter what is free while the last windows empty, and in the end whether the whole rate can be
// had in one go.
func (r *torture) claims() map[string][]oracle.Claim {
	r.t.Helper()
	claims := make(map[string][]oracle.Claim)
	claim := func(l *limiterSpec) {
		for _, id := range l.clients() {
			free, at := r.available(l, id)
			claims[l.name+id] = append(claims[l.name+id], oracle.Claim{At: at, Free: free})
		}
	}
	for range 4 {
		for _, l := range limiters {
			if r.known(l) {
				claim(l)
			}
		}
		time.Sleep(100 * time.Millisecond)
	}
	r.awaitEmptyLines()
	longest := time.Duration(0)
	for _, l := range limiters {
		longest = max(longest, time.Duration(r.rate(l).Interval)*time.Microsecond)
	}
	time.Sleep(longest + 2*time.Millisecond)
	for _, l := range limiters {
		claim(l)
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

// known reports whether all that the store has granted is on record. A take that was cancelled while it was under way
// may have run, and then what it got returns after the interval, as after a crash.
func (r *torture) known(l *limiterSpec) bool {
	if !r.faultless {
		return false
	}
	for i := range r.parts {
		if readSummary(r.t, r.dir, i).Unknown[l.name] > 0 {
			return false
		}
	}
	return true
}

// awaitEmptyLines waits until the turns of those have passed who have gone without giving back what they had.
func (r *torture) awaitEmptyLines() {
	r.t.Helper()
	for _, l := range limiters {
		if r.known(l) {
			continue // there are none
		}
		for _, id := range l.clients() {
			ahead := func() bool {
				for e, err := range r.client(id).Limiter(l.name).Ledger(r.t.Context()) {
					if err != nil {
						r.t.Fatal(err)
					}
					if e.Kind == sluice.KindReservation {
						return true
					}
				}
				return false
			}
			for deadline := time.Now().Add(30 * time.Second); ahead(); time.Sleep(20 * time.Millisecond) {
				if time.Now().After(deadline) {
					r.t.Errorf("%s %s: somebody is still in line half a minute after all have left", l.name, id)
					break
				}
			}
		}
	}
}

func (r *torture) client(id string) *sluice.Client {
	return sluice.New(redisengine.New(r.conn, nil), sluice.WithClientID(cmp.Or(id, "parent")))
}

// available is what the store says is free, and when it said so.
func (r *torture) available(l *limiterSpec, id string) (free, at int64) {
	r.t.Helper()
	key := sluice.Key{Limiter: l.name, Client: r.client(id).ID()}
	s, err := redisengine.New(r.conn, nil).Inspect(context.WithoutCancel(r.t.Context()), key, sluice.Page{})
	if err != nil || !s.Exists {
		r.t.Errorf("%s %s: %+v, %v", l.name, id, s, err)
	}
	return s.Available, s.At.UnixMicro()
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
	silence time.Duration // the longest time in which nobody was granted anything
	near    int           // callers who were let go at once in the millisecond of a waiter's date, and before it
}

func (r *torture) verdict(l *limiterSpec, id string, claims []oracle.Claim) verdict {
	r.t.Helper()
	h, err := oracle.ReadFiles(r.files(l, id)...)
	if err != nil {
		r.t.Errorf("%s: %v", l.name, err)
	}
	for i := range h.Grants {
		if g := &h.Grants[i]; r.victims[partOf(g.Who)] {
			g.Went = 0 // a process that is stopped goes on late: judge it by its dates alone
		}
	}
	h.Changes, h.Claims = r.changes[l.name], claims
	h.Returns = append(h.Returns, forgotten(h)...)
	late := lateness(h)
	h.Params = oracle.Params{Look: lookOf}
	if len(late) > 0 {
		h.Params.Slack = late[len(late)-1].Microseconds()
	}
	if l.config.Rate.Permits > mostGrants {
		h.Params.Merge = max(oracle.Grain, l.config.Rate.Interval.Microseconds()/1000) + oracle.Grain
	}
	v := verdict{Report: oracle.Judge(h), history: h, late: late, line: longestLine(h)}
	v.silence = longestSilence(h)
	v.near, v.Fair = v.Fair.Count, oracle.Fair(toTheMillisecond(h))
	return v
}

// forgotten is the waiters whose date lay in what was left of the millisecond in which the limiter was reset: that forgets
// what is dated up to the end of it. They count as never used.
// One that was given back later was not forgotten.
func forgotten(h oracle.History) (returns []oracle.Return) {
	kept := make(map[string]bool)
	for _, r := range h.Returns {
		kept[r.ID] = true
	}
	for _, c := range h.Changes {
		if !c.Reset {
			continue
		}
		for _, g := range h.Grants {
			if !g.AtOnce && !kept[g.ID] && g.Arrived < c.At && c.At <= g.At && g.At < c.At+oracle.Grain && g.At%oracle.Grain == 0 {
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

// partOf is the process of a caller.
func partOf(who string) int {
	name, _, _ := strings.Cut(who, ".")
	n, err := strconv.Atoi(name)
	if err != nil {
		return nobody
	}
	return n
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
	late := make([]time.Duration, 0, len(h.Grants))
	for _, g := range h.Grants {
		from := g.At
		if g.AtOnce {
			from = g.Arrived
		}
		if g.Went != 0 {
			late = append(late, time.Duration(g.Went-from)*time.Microsecond)
		}
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

// longestSilence is the longest time between the date of one grant and the date of the next.
func longestSilence(h oracle.History) (longest time.Duration) {
	dates := make([]int64, len(h.Grants))
	for i, g := range h.Grants {
		dates[i] = g.At
	}
	slices.Sort(dates)
	for i := 1; i < len(dates); i++ {
		longest = max(longest, time.Duration(dates[i]-dates[i-1])*time.Microsecond)
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
