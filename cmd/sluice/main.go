// Sluice takes permits from rate limiters that are shared through Redis, configures them, and shows in the terminal how one
// works. "sluice help" lists the commands.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"github.com/redis/go-redis/v9/logging"
	"golang.org/x/term"

	"github.com/sluice-rate/sluice/cmd/sluice/internal/cli"
)

func main() {
	logging.Disable() // go-redis would log to stderr what the command says anyway
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second Ctrl-C ends the program at once

	stdout := int(os.Stdout.Fd())
	os.Exit(cli.Run(ctx, cli.Env{
		Args:      os.Args[1:],
		Stdin:     os.Stdin,
		Stdout:    os.Stdout,
		Stderr:    os.Stderr,
		LookupEnv: os.LookupEnv,
		Terminal:  term.IsTerminal(stdout),
		Size: func() (width, height int) {
			width, height, _ = term.GetSize(stdout)
			return width, height
		},
		StderrTerminal: term.IsTerminal(int(os.Stderr.Fd())),
	}))
}
