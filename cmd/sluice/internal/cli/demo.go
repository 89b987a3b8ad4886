package cli

import (
	"context"
	"errors"

	"github.com/urfave/cli/v3"

	"github.com/sluice-rate/sluice/cmd/sluice/internal/demo"
)

// demo is the command that shows a limiter at work.
func (a *app) demo() *cli.Command {
	return &cli.Command{
		Name:        "demo",
		Usage:       "watch a limiter at work; needs no Redis",
		Description: demoDescription,
		Action: func(ctx context.Context, c *cli.Command) error {
			if err := noArguments(c); err != nil {
				return err
			}
			err := demo.Run(ctx, a.demoOptions())
			if err != nil && ctx.Err() != nil {
				return errors.New("interrupted")
			}
			return err
		},
	}
}

func (a *app) demoOptions() demo.Options {
	term, _ := a.LookupEnv("TERM")
	noColour, _ := a.LookupEnv("NO_COLOR")
	return demo.Options{
		Out:    a.Stdout,
		Live:   a.Terminal && a.Size != nil && term != "dumb",
		Colour: noColour == "",
		Size:   a.Size,
	}
}

const demoDescription = `Three workers compete for 3 permits per 5 seconds, in this process, for some twenty
seconds. On a terminal a picture shows the ledger as it slides: which permits are taken and
until when, who waits, and what has happened. Elsewhere each event is a line. With NO_COLOR
set the picture has no colours.`
