package cli

import (
	"context"
	"io"
	"slices"
	"strings"

	"github.com/urfave/cli/v3"

	"github.com/sluice-rate/sluice/cmd/sluice/internal/survey"
)

// limiterList is the command that finds limiters.
func (a *app) limiterList() *cli.Command {
	return &cli.Command{
		Name:        "list",
		Usage:       "list the limiters of a Redis",
		UsageText:   "sluice limiter list [-match 'mail*'] [-redis URL] [-o text|json]",
		Description: limiterListDescription,
		Flags: limiterFlags(
			flag("match", "`'mail*'` only names like this: * stands for any text, ? for one character,\n[ab] for one of these, a \\ takes the meaning from the next one (default *)"),
		),
		Action: a.runLimiterList,
	}
}

func (a *app) runLimiterList(ctx context.Context, c *cli.Command) error {
	if err := noArguments(c); err != nil {
		return err
	}
	r := reader{c: c}
	json := r.json()
	if r.err != nil {
		return r.err
	}
	s, err := a.open(c)
	if err != nil {
		return err
	}
	defer s.Close()

	out := newLister(a.Stdout, json)
	if err = survey.List(ctx, s, c.String("match"), out.add); err == nil {
		err = out.flush()
	}
	return interruptedOr(ctx, s, err)
}

// listAnswer is a limiter in a list. What is not known is zero, or "".
type listAnswer struct {
	Name        string `json:"name"`
	Exists      bool   `json:"exists"` // it has a configuration
	Mode        string `json:"mode"`
	Rate        int64  `json:"rate"` // permits
	IntervalMS  int64  `json:"interval_ms"`
	KeepAliveMS int64  `json:"keep_alive_ms"` // 0: none
	TTLMS       int64  `json:"ttl_ms"`        // 0: for ever
	Problem     string `json:"problem"`       // at first sight; "" for none

	rate string
}

func newListAnswer(f survey.Found) listAnswer {
	config := f.Stored.Config
	v := listAnswer{
		Name:        f.Name,
		Exists:      f.Stored.Exists(),
		Rate:        config.Rate.Permits,
		IntervalMS:  config.Rate.Interval.Milliseconds(),
		KeepAliveMS: config.KeepAlive.Milliseconds(),
		TTLMS:       milliseconds(f.Stored.TTL),
		Problem:     f.Note(),
		rate:        "?",
	}
	if v.Exists {
		v.Mode = config.Mode.String()
	}
	if v.Rate > 0 && v.IntervalMS > 0 {
		v.rate = config.Rate.String()
	}
	return v
}

// lister prints limiters a thousand at a time, each thousand in the order of the names.
type lister struct {
	json   *objects // nil for text
	table  columns
	header bool
	held   []listAnswer
}

// listHeld is how many limiters are held until they are printed.
const listHeld = 1000

func newLister(w io.Writer, json bool) *lister {
	if json {
		return &lister{json: newObjects(w)}
	}
	return &lister{table: columns{w: w}}
}

func (l *lister) add(found []survey.Found) error {
	for _, f := range found {
		if l.held = append(l.held, newListAnswer(f)); len(l.held) == listHeld {
			if err := l.flush(); err != nil {
				return err
			}
		}
	}
	return nil
}

// flush prints what is held.
func (l *lister) flush() error {
	slices.SortFunc(l.held, func(a, b listAnswer) int { return strings.Compare(a.Name, b.Name) })
	held := l.held
	l.held = nil
	if l.json != nil {
		for _, v := range held {
			if err := l.json.add(v); err != nil {
				return err
			}
		}
		return l.json.flush()
	}
	var rows [][]string
	if !l.header && len(held) > 0 {
		l.header = true
		rows = append(rows, []string{"NAME", "RATE", "MODE", "KEEP-ALIVE", "EXPIRES", "PROBLEM"})
	}
	for _, v := range held {
		rows = append(rows, v.row())
	}
	if len(rows) == 0 {
		return nil
	}
	return l.table.write(rows...)
}

func (v listAnswer) row() []string {
	keep, mode := "none", v.Mode
	if v.KeepAliveMS > 0 {
		keep = human(fromMS(v.KeepAliveMS))
	}
	if mode == "" {
		return []string{shown(v.Name), "-", "-", "-", "-", v.Problem}
	}
	return []string{shown(v.Name), v.rate, mode, keep, lifetime(fromMS(v.TTLMS)), v.Problem}
}

const limiterListDescription = `Lists the limiters that this library or Redisson has made, in the order of their names, a
thousand at a time. Other keys are not listed. A limiter whose configuration is gone or
damaged is listed as long as its ledger is there. It writes nothing to Redis, and goes
through its keys in small steps (SCAN, never KEYS); of a cluster, through all masters.

Examples:
  sluice limiter list
  sluice limiter list -match 'user:*' -o json | jq -r .name
    {"name":"user:7","exists":true,"mode":"overall","rate":3,"interval_ms":5000,
     "keep_alive_ms":0,"ttl_ms":0,"problem":""}     one object a line; a ttl_ms of 0 is for ever

Exit status: 0 done, also if there are none, 1 error.`
