package cli

import (
	"context"
	"errors"
	"fmt"

	"github.com/urfave/cli/v3"

	"github.com/sluice-rate/sluice"
)

// limiterSet is the command that stores a limiter's configuration.
func (a *app) limiterSet() *cli.Command {
	return &cli.Command{
		Name:  "set",
		Usage: "store the rate of a limiter",
		UsageText: "sluice limiter set NAME -rate 3/5s [-mode overall|client] [-keep-alive 1h] [-update]\n" +
			"                     [-redis URL] [-o text|json]",
		Description: limiterSetDescription,
		Flags: limiterFlags(
			flag("rate", "`3/5s` permits/interval: 3/5s, 100/m, 1000/1h30m, 10/d; required, but with\n-update"),
			flag("mode", "`overall|client` one budget for all, or one for each client\n(default overall)"),
			flag("keep-alive", "`1h` forget the limiter when nobody has used it for so long; 0s: never\n(default: never)"),
			&cli.BoolFlag{Name: "update", Usage: "change a limiter that is there and keep what is in use; what is not said\nstays as it is"},
		),
		Action: a.runLimiterSet,
	}
}

func (a *app) runLimiterSet(ctx context.Context, c *cli.Command) error {
	limiter, err := name(c)
	if err != nil {
		return err
	}
	r := reader{c: c}
	update := c.Bool("update")
	switch {
	case !update && !r.set("rate"):
		return usageError(c, "which rate? say it with -rate, such as -rate 3/5s")
	case update && !r.set("rate") && !r.set("mode") && !r.set("keep-alive"):
		return usageError(c, "what is to change? say it with -rate, -mode or -keep-alive")
	}
	config := sluice.Config{Rate: r.rate("rate"), Mode: r.mode("mode"), KeepAlive: r.duration("keep-alive")}
	json := r.json()
	if r.err != nil {
		return r.err
	}
	s, err := a.open(c)
	if err != nil {
		return err
	}
	defer s.Close()

	l := sluice.New(s).Limiter(limiter)
	before, err := l.Config(ctx)
	had := err == nil
	switch {
	case update && had:
		config = r.over(before, config)
		had, err = l.UpdateRate(ctx, config)
	case !update && (had || errors.Is(err, sluice.ErrNotInitialized) || errors.Is(err, sluice.ErrCorrupt)):
		err = l.SetRate(ctx, config) // which mends a configuration that makes no sense, or says why it cannot
	}
	switch {
	case err != nil && ctx.Err() != nil:
		return fmt.Errorf("interrupted; whether the rate of %s was stored is unknown", limiter)
	case update && (err == nil && !had || errors.Is(err, sluice.ErrNotInitialized)):
		a.status = exitNone
		return a.answer(json, setAnswer{Limiter: limiter})
	case err != nil:
		return explain(s, limiter, err)
	}
	v := newSetAnswer(limiter, had, before, config)
	v.kept = update && before.Mode == config.Mode
	return a.answer(json, v)
}

// over is the old configuration with what the flags say of a new one.
func (r *reader) over(old, said sluice.Config) sluice.Config {
	if r.set("rate") {
		old.Rate = said.Rate
	}
	if r.set("mode") {
		old.Mode = said.Mode
	}
	if r.set("keep-alive") {
		old.KeepAlive = said.KeepAlive
	}
	return old
}

// setAnswer is a stored configuration as it is printed. All but the name is zero if there is none.
type setAnswer struct {
	Limiter     string `json:"limiter"`
	Exists      bool   `json:"exists"` // false only where -update found nothing
	Mode        string `json:"mode"`
	Rate        int64  `json:"rate"` // permits
	IntervalMS  int64  `json:"interval_ms"`
	KeepAliveMS int64  `json:"keep_alive_ms"` // 0: for ever
	Changed     bool   `json:"changed"`       // false: it was stored like this before

	config sluice.Config
	change string
	kept   bool // what was in use is kept
}

func newSetAnswer(limiter string, had bool, before, config sluice.Config) setAnswer {
	v := setAnswer{
		Limiter:     limiter,
		Exists:      true,
		Mode:        config.Mode.String(),
		Rate:        config.Rate.Permits,
		IntervalMS:  config.Rate.Interval.Milliseconds(),
		KeepAliveMS: config.KeepAlive.Milliseconds(),
		Changed:     !had || before != config,
		config:      config,
		change:      "as before; nothing changed",
	}
	switch {
	case !had:
		v.change = "new"
	case v.Changed:
		v.change = "before: " + describe(before)
	}
	return v
}

func (v setAnswer) String() string {
	switch {
	case !v.Exists:
		return noSuch(v.Limiter) + ", and -update makes none"
	case v.kept && v.Changed:
		return fmt.Sprintf("%s: %s (%s; what is in use is kept)", shown(v.Limiter), describe(v.config), v.change)
	}
	return fmt.Sprintf("%s: %s (%s)", shown(v.Limiter), describe(v.config), v.change)
}

// describe is a configuration in words.
func describe(c sluice.Config) string {
	kept := "kept for ever"
	if c.KeepAlive > 0 {
		kept = fmt.Sprintf("forgotten when unused for %v", c.KeepAlive)
	}
	return fmt.Sprintf("%v, mode %v, %s", c.Rate, c.Mode, kept)
}

const limiterSetDescription = `Stores the configuration of the limiter NAME, all of it: what is not said gets its
default. All processes that use the name follow it from their next call on.

If it differs from what is stored, the limiter begins anew: permits in use are forgotten,
callers in line keep their places. If it does not differ, nothing changes. With -update
what is in use is kept, and a lower rate holds from now on; a change of the mode begins anew
all the same.

Examples:
  sluice limiter set mail -rate 3/5s
  sluice limiter set api -rate 1000/h -mode client -keep-alive 24h
  sluice limiter set mail -rate 5/5s -update
  sluice limiter set mail -rate 3/5s -o json
    {"limiter":"mail","exists":true,"mode":"overall","rate":3,"interval_ms":5000,
     "keep_alive_ms":0,"changed":true}     in one line

Exit status: 0 done, 2 with -update: there is no such limiter, 1 error.`
