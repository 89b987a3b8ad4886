package cli

import (
	"context"
	"errors"
	"fmt"

	"github.com/urfave/cli/v3"

	"github.com/sluice-rate/sluice"
)

// limiterRelease is the command that gives permits back.
func (a *app) limiterRelease() *cli.Command {
	return &cli.Command{
		Name:  "release",
		Usage: "give permits back before their time",
		UsageText: "sluice limiter release NAME -n 2 [-client ID] [-redis URL] [-o text|json]\n" +
			"  sluice limiter release NAME -receipt R [-n 2] [-client ID] [-redis URL] [-o text|json]",
		Description: limiterReleaseDescription,
		Flags: limiterFlags(
			flag("n", "`2` how many permits (default with -receipt: all of the grant)"),
			flag("receipt", "`R` of which grant, as \"sluice acquire\" printed it (default: of the oldest)"),
			flag("client", "`ID` whose, where each client has a budget of its own"),
		),
		Action: a.runLimiterRelease,
	}
}

func (a *app) runLimiterRelease(ctx context.Context, c *cli.Command) error {
	limiter, err := name(c)
	if err != nil {
		return err
	}
	r := reader{c: c}
	receipt, json := r.receipt("receipt"), r.json()
	n := r.count("n", receipt.Permits())
	switch {
	case r.err != nil:
		return r.err
	case !r.set("n") && receipt.IsZero():
		return usageError(c, "which permits? say how many with -n, or which grant with -receipt")
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
	v := releaseAnswer{Limiter: limiter, Permits: n}
	err = v.release(ctx, l, receipt)
	if err == nil && v.Freed == 0 && !r.set("client") {
		err = whose(ctx, l)
	}
	switch {
	case errors.Is(err, sluice.ErrNotInitialized):
		a.status = exitNone
	case err != nil && ctx.Err() != nil:
		return fmt.Errorf("interrupted; whether permits of %s were given back is unknown", shown(limiter))
	case err != nil:
		return explain(s, limiter, err)
	default:
		v.Exists = true
	}
	return a.answer(json, v)
}

// whose is an error if there are budgets of clients, and so nothing could be found of a client that is not named.
func whose(ctx context.Context, l *sluice.Limiter) error {
	config, err := l.Config(ctx)
	if err == nil && config.Mode == sluice.PerClient {
		return fmt.Errorf("limiter %q has a budget for each client: say whose permits with -client ID; %s limiter show %s lists them", l.Name(), program, l.Name())
	}
	return err
}

// releaseAnswer is what was given back, as it is printed.
type releaseAnswer struct {
	Limiter string `json:"limiter"`
	Exists  bool   `json:"exists"`
	Permits int64  `json:"permits"` // that were to be given back
	Freed   int64  `json:"freed"`   // that were in use
	Receipt string `json:"receipt"` // of what is left of the grant; "" if nothing is, or no grant was named
}

func (v *releaseAnswer) release(ctx context.Context, l *sluice.Limiter, receipt sluice.Receipt) (err error) {
	if receipt.IsZero() {
		v.Freed, err = l.Release(ctx, v.Permits)
		return err
	}
	freed, rest, err := l.RefundN(ctx, receipt, v.Permits)
	v.Freed, v.Receipt = freed, rest.String()
	return err
}

func (v releaseAnswer) String() string {
	switch {
	case !v.Exists:
		return noSuch(v.Limiter)
	case v.Freed == 0:
		return fmt.Sprintf("%s: nothing to give back: it is not in use, or no longer", shown(v.Limiter))
	case v.Receipt != "":
		return fmt.Sprintf("%s: %s given back; the rest has the receipt %s", shown(v.Limiter), permits(v.Freed), v.Receipt)
	case v.Freed < v.Permits:
		return fmt.Sprintf("%s: %s given back, more were not in use", shown(v.Limiter), permits(v.Freed))
	}
	return fmt.Sprintf("%s: %s given back", shown(v.Limiter), permits(v.Freed))
}

const limiterReleaseDescription = `Gives permits of the limiter NAME back that were taken and are not used after all; callers in
line move up. With -receipt it is exactly that grant, or a part of it; without, the oldest
grants shrink first. More than is in use cannot be given back, and a grant that has left
the window, was merged with others or was given back before frees nothing.

Examples:
  sluice limiter release mail -n 2
  sluice limiter release mail -receipt "$(sluice acquire mail -o json | jq -r .receipt)"
  sluice limiter release mail -n 2 -o json
    {"limiter":"mail","exists":true,"permits":2,"freed":2,"receipt":""}
     "receipt" names what is left of a grant of which a part was given back

Exit status: 0 done, also if nothing was in use, 2 there is no such limiter, 1 error.`
