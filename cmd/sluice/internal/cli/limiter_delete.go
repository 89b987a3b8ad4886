package cli

import (
	"context"
	"fmt"

	"github.com/urfave/cli/v3"

	"github.com/sluice-rate/sluice"
	"github.com/sluice-rate/sluice/cmd/sluice/internal/store"
	"github.com/sluice-rate/sluice/cmd/sluice/internal/survey"
)

// limiterDelete is the command that forgets a limiter.
func (a *app) limiterDelete() *cli.Command {
	return &cli.Command{
		Name:        "delete",
		Usage:       "forget a limiter with all that is in use",
		UsageText:   "sluice limiter delete NAME [-redis URL] [-o text|json]",
		Description: limiterDeleteDescription,
		Flags:       limiterFlags(),
		Action:      a.runLimiterDelete,
	}
}

func (a *app) runLimiterDelete(ctx context.Context, c *cli.Command) error {
	limiter, err := name(c)
	if err != nil {
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

	l, err := a.survey(ctx, s, limiter, survey.Find)
	if err != nil {
		return err
	}
	if stranger := l.Stranger(); stranger != "" {
		return fmt.Errorf("the key %s is %s, not a limiter; nothing was deleted", shown(limiter), stranger)
	}
	if by := l.ByHand(); by != "" {
		return fmt.Errorf("the name %s is one that this library refuses, since its keys lie in two cluster slots; delete them by hand: %s", shown(limiter), by)
	}
	v := deleteAnswer{Limiter: limiter}
	if l.Left() {
		v, err = deleteAll(ctx, s, l)
	}
	switch {
	case err != nil && ctx.Err() != nil:
		return fmt.Errorf("interrupted; whether all of %s was deleted is unknown", shown(limiter))
	case err != nil:
		return explain(s, limiter, err)
	}
	a.status = 0
	if !v.Deleted {
		a.status = exitNone
	}
	return a.answer(json, v)
}

// deleteAll deletes the configuration first, so that no call makes anything anew, and then what each client has.
func deleteAll(ctx context.Context, s *store.Store, l *survey.Limiter) (deleteAnswer, error) {
	v := deleteAnswer{Limiter: l.Name}
	var err error
	if v.Deleted, err = sluice.New(s).Limiter(l.Name).Delete(ctx); err != nil {
		return v, err
	}
	for _, p := range l.Pairs {
		if p.Client == "" {
			continue
		}
		deleted, err := sluice.New(s, sluice.WithClientID(p.Client)).Limiter(l.Name).Delete(ctx)
		if err != nil {
			return v, err
		}
		if deleted {
			v.Deleted = true
			v.Clients++
		}
	}
	return v, nil
}

// deleteAnswer is what was deleted, as it is printed.
type deleteAnswer struct {
	Limiter string `json:"limiter"`
	Deleted bool   `json:"deleted"` // there was something
	Clients int64  `json:"clients"` // of how many clients a value or a ledger was deleted with it
}

func (v deleteAnswer) String() string {
	switch {
	case !v.Deleted:
		return noSuch(v.Limiter) + "; nothing to delete"
	case v.Clients > 0:
		return fmt.Sprintf("%s: deleted, with what %s had in use", shown(v.Limiter), people(v.Clients, "client", "clients"))
	}
	return shown(v.Limiter) + ": deleted"
}

const limiterDeleteDescription = `Deletes the limiter NAME: its configuration and its ledger, or the ledgers of all its
clients where each has a budget of its own. What is in use is forgotten, and callers in line
get an error within a second. It does not ask whether you are sure.

What is left of a limiter without a configuration goes as well. A key under this name that is
not a limiter's stays, and that is an error.

Examples:
  sluice limiter delete mail
  sluice limiter delete mail -o json
    {"limiter":"mail","deleted":true,"clients":0}

Exit status: 0 deleted, 2 there was nothing to delete, 1 error.`
