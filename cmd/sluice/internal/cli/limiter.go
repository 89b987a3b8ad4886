package cli

import (
	"context"
	"errors"
	"fmt"

	"github.com/urfave/cli/v3"

	"github.com/sluice-rate/sluice"
)

// limiter is the group of commands on a limiter's configuration.
func (a *app) limiter() *cli.Command {
	return &cli.Command{
		Name:     "limiter",
		Usage:    "configure a limiter",
		Commands: []*cli.Command{a.limiterSet()},
	}
}

// limiterSet is the command that stores a limiter's configuration.
func (a *app) limiterSet() *cli.Command {
	return &cli.Command{
		Name:  "set",
		Usage: "store the rate of a limiter",
		UsageText: "sluice limiter set NAME -rate 3/5s [-mode overall|client] [-keep-alive 1h]\n" +
			"                     [-redis URL] [-o text|json]",
		Description: limiterSetDescription,
		Flags: []cli.Flag{
			flag("rate", "`3/5s` permits/interval: 3/5s, 100/m, 1000/1h30m, 10/d; required"),
			flag("mode", "`overall|client` one budget for all, or one for each client\n(default overall)"),
			flag("keep-alive", "`1h` forget the limiter when nobody has used it for so long\n(default: never)"),
			redisFlag(),
			outputFlag(),
		},
		Action: a.runLimiterSet,
	}
}

func (a *app) runLimiterSet(ctx context.Context, c *cli.Command) error {
	limiter, err := name(c)
	if err != nil {
		return err
	}
	r := reader{c: c}
	if !r.set("rate") {
		return usageError(c, "which rate? say it with -rate, such as -rate 3/5s")
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
	if err == nil || errors.Is(err, sluice.ErrNotInitialized) || errors.Is(err, sluice.ErrCorrupt) {
		err = l.SetRate(ctx, config) // which mends a configuration that makes no sense, or says why it cannot
	}
	switch {
	case err != nil && ctx.Err() != nil:
		return fmt.Errorf("interrupted; whether the rate of %s was stored is unknown", limiter)
	case err != nil:
		return explain(s, limiter, err)
	}
	return a.answer(json, newSetAnswer(limiter, had, before, config))
}

// setAnswer is a stored configuration as it is printed.
type setAnswer struct {
	Limiter     string `json:"limiter"`
	Rate        string `json:"rate"` // as -rate reads it
	Permits     int64  `json:"permits"`
	IntervalMS  int64  `json:"interval_ms"`
	Mode        string `json:"mode"`
	KeepAliveMS int64  `json:"keep_alive_ms"` // 0: for ever
	Changed     bool   `json:"changed"`       // false: it was stored like this before

	config sluice.Config
	change string
}

func newSetAnswer(limiter string, had bool, before, config sluice.Config) setAnswer {
	v := setAnswer{
		Limiter:     limiter,
		Rate:        config.Rate.String(),
		Permits:     config.Rate.Permits,
		IntervalMS:  config.Rate.Interval.Milliseconds(),
		Mode:        config.Mode.String(),
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
	return fmt.Sprintf("%s: %s (%s)", v.Limiter, describe(v.config), v.change)
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
callers in line keep their places. If it does not differ, nothing changes.

Examples:
  sluice limiter set mail -rate 3/5s
  sluice limiter set api -rate 1000/h -mode client -keep-alive 24h

Exit status: 0 done, 1 error.`
