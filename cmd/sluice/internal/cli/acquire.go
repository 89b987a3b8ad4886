package cli

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/urfave/cli/v3"

	"github.com/sluice-rate/sluice"
	"github.com/sluice-rate/sluice/cmd/sluice/internal/store"
)

// acquire is the command that takes permits.
func (a *app) acquire() *cli.Command {
	return &cli.Command{
		Name:  "acquire",
		Usage: "take permits, or be refused",
		UsageText: "sluice acquire NAME [-n 1] [-rate 3/5s] [-mode overall|client] [-wait 10s]\n" +
			"                 [-client ID] [-redis URL] [-o text|json]",
		Description: acquireDescription,
		Flags: []cli.Flag{
			flag("n", "`1` how many permits: all of them or none (default 1)"),
			flag("rate", "`3/5s` the rate of a limiter that has none yet; never changes one that has\n"+
				"permits/interval: 3/5s, 100/m, 1000/1h30m, 10/d"),
			flag("mode", "`overall|client` with -rate: one budget for all, or one for each client\n"+
				"(default overall)"),
			flag("wait", "`10s` how long to wait for a turn (default: not at all)"),
			flag("client", "`ID` which client this is, where each has a budget of its own\n"+
				"(default: a new one in each run, whose budget nobody has used)"),
			redisFlag(),
			outputFlag(),
		},
		Action: a.runAcquire,
	}
}

func (a *app) runAcquire(ctx context.Context, c *cli.Command) error {
	limiter, err := name(c)
	if err != nil {
		return err
	}
	r := reader{c: c}
	n, wait, json := r.count("n", 1), r.duration("wait"), r.json()
	config := sluice.Config{Rate: r.rate("rate"), Mode: r.mode("mode")}
	if r.err != nil {
		return r.err
	}
	s, err := a.open(c)
	if err != nil {
		return err
	}
	defer s.Close()

	var options []sluice.Option
	if r.set("client") {
		options = append(options, sluice.WithClientID(c.String("client")))
	}
	l := sluice.New(s, options...).Limiter(limiter)
	d, err := l.TryAcquireFor(ctx, n, wait)
	if r.set("rate") && errors.Is(err, sluice.ErrNotInitialized) {
		d, err = configureAndAcquire(ctx, l, config, n, wait)
	}
	switch {
	case ctx.Err() != nil && err != nil:
		return interrupted(s, limiter, err)
	case err != nil:
		return explain(s, limiter, err)
	case !d.Allowed:
		a.status = exitRefused
	}
	if r.set("rate") && !json && d.Limit != config.Rate {
		a.complain(fmt.Errorf("note: %s has the rate %v already and keeps it; to change it: %s limiter set %s -rate %v", limiter, d.Limit, program, limiter, config.Rate))
	}
	return a.answer(json, newAcquireAnswer(limiter, d))
}

// configureAndAcquire is for a limiter without a rate. A request that this rate can never grant does not configure it.
func configureAndAcquire(ctx context.Context, l *sluice.Limiter, config sluice.Config, n int64, wait time.Duration) (sluice.Decision, error) {
	if n > config.Rate.Permits {
		return sluice.Decision{}, &sluice.ExceedsRateError{Limiter: l.Name(), Permits: n, Rate: config.Rate}
	}
	if _, err := l.TrySetRate(ctx, config); err != nil {
		return sluice.Decision{}, err
	}
	return l.TryAcquireFor(ctx, n, wait)
}

// interrupted says what has become of the permits when the run was cut short with err.
func interrupted(s *store.Store, limiter string, err error) error {
	if errors.Is(err, sluice.ErrStoreUnavailable) {
		return fmt.Errorf("interrupted; whether permits of %s were taken is unknown: %w", limiter, s.Explain(err))
	}
	return fmt.Errorf("interrupted; no permits of %s were taken", limiter)
}

// acquireAnswer is the decision as it is printed.
type acquireAnswer struct {
	Limiter      string `json:"limiter"`
	Allowed      bool   `json:"allowed"`
	Permits      int64  `json:"permits"`
	Remaining    int64  `json:"remaining"`
	RetryAfterMS int64  `json:"retry_after_ms"` // rounded up; 0 when allowed
	WaitedMS     int64  `json:"waited_ms"`
	Receipt      string `json:"receipt"` // "" when refused

	decision sluice.Decision
}

func newAcquireAnswer(limiter string, d sluice.Decision) acquireAnswer {
	return acquireAnswer{
		Limiter:      limiter,
		Allowed:      d.Allowed,
		Permits:      d.Permits,
		Remaining:    d.Remaining,
		RetryAfterMS: milliseconds(d.RetryAfter),
		WaitedMS:     milliseconds(d.Wait),
		Receipt:      d.Receipt.String(),
		decision:     d,
	}
}

func (v acquireAnswer) String() string {
	what, left := permits(v.Permits)+" of "+v.Limiter, fmt.Sprintf("%d left of %v", v.Remaining, v.decision.Limit)
	switch {
	case !v.Allowed:
		return fmt.Sprintf("refused: %s, to be had in %v; %s", what, roughly(v.decision.RetryAfter), left)
	case v.decision.Wait > 0:
		return fmt.Sprintf("allowed: %s after %v; %s; receipt %s", what, roughly(v.decision.Wait), left, v.Receipt)
	}
	return fmt.Sprintf("allowed: %s; %s; receipt %s", what, left, v.Receipt)
}

const acquireDescription = `Takes permits of the limiter NAME if they are free, or, with -wait, as soon as it is this
caller's turn. A turn that would come later than -wait allows is refused at once. Callers
of all processes wait in one line, first come first served; Ctrl-C leaves it.

A limiter has to have a rate before it can be used: "sluice limiter set" gives it one, or
-rate does on the way.

Examples:
  sluice acquire mail -rate 3/5s && send-mail
  sluice acquire mail -n 2 -wait 10s
  sluice acquire api -rate 100/m -mode client -client "$HOSTNAME"
  sluice acquire mail -o json
    {"limiter":"mail","allowed":false,"permits":1,"remaining":0,"retry_after_ms":3204,
     "waited_ms":0,"receipt":""}     in one line

Exit status: 0 allowed, 2 refused, 1 error.`
