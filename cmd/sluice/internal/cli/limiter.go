package cli

import (
	"context"
	"errors"
	"fmt"

	"github.com/urfave/cli/v3"

	"github.com/sluice-rate/sluice"
	"github.com/sluice-rate/sluice/cmd/sluice/internal/store"
	"github.com/sluice-rate/sluice/cmd/sluice/internal/survey"
)

// limiter is the group of commands on limiters as they are stored.
func (a *app) limiter() *cli.Command {
	return &cli.Command{
		Name:        "limiter",
		Usage:       "look at limiters, configure them, put them right",
		Description: limiterDescription,
		Commands: []*cli.Command{
			a.limiterSet(), a.limiterList(), a.limiterShow(), a.limiterLedger(), a.limiterRelease(), a.limiterDelete(),
		},
	}
}

// limiterFlags are those of all commands of the group, behind its own.
func limiterFlags(own ...cli.Flag) []cli.Flag { return append(own, redisFlag(), outputFlag()) }

// interruptedOr is an error for which a command that only reads ends.
func interruptedOr(ctx context.Context, s *store.Store, err error) error {
	if err != nil && ctx.Err() != nil {
		return errors.New("interrupted")
	}
	return s.Explain(err)
}

// reading is survey.Read or survey.Find.
type reading func(context.Context, survey.Store, string) (*survey.Limiter, error)

// survey reads what is stored under a name. Unlike the library it does so for a name that the library refuses: somebody else may have
// used it.
func (a *app) survey(ctx context.Context, s *store.Store, limiter string, read reading) (*survey.Limiter, error) {
	if limiter == "" {
		return nil, &sluice.InvalidError{Field: "name", Value: limiter, Want: "not empty"}
	}
	l, err := read(ctx, s, limiter)
	if err != nil {
		return nil, interruptedOr(ctx, s, err)
	}
	if !l.Stored.Exists() {
		a.status = exitNone
	}
	return l, nil
}

// noSuch says that there is no such limiter, and that the exit status says so.
func noSuch(limiter string) string {
	return fmt.Sprintf("%s: no such limiter", shown(limiter))
}

const limiterDescription = `NAME is a limiter's name, whoever made it: this library or Redisson. "list" and "show" write
nothing to Redis. "sluice help limiter show" and so on say more.

Examples:
  sluice limiter set mail -rate 3/5s        at most 3 in 5 s
  sluice limiter list -match 'mail*'        which limiters there are
  sluice limiter show mail                  how it stands, and what is wrong with it
  sluice limiter ledger mail                who has what, since when
  sluice limiter release mail -n 2          give permits back
  sluice limiter delete mail

Exit status: 0 done, 2 there is no such limiter, 1 error.`
