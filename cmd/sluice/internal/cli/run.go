// Package cli is the command line: it reads the arguments, runs a command and says how it went. It touches nothing of the process
// but what Env gives it.
package cli

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/urfave/cli/v3"
)

// The exit statuses of the program, besides 0 for allowed or, of a command that does not take permits, for done.
const (
	exitError   = 1
	exitRefused = 2
	exitNone    = 2 // there is no such limiter
)

// Env is what the program sees of the world. Args, Stdout, Stderr and LookupEnv are required.
type Env struct {
	Args      []string // without the program's name
	Stdin     io.Reader
	Stdout    io.Writer
	Stderr    io.Writer
	LookupEnv func(name string) (string, bool)
	Terminal  bool                       // Stdout is a terminal
	Size      func() (width, height int) // of the terminal, as it is now; zeros where that is unknown

	StderrTerminal bool // Stderr is one
}

// Run runs the command that env.Args names and returns the exit status: 0 for done or allowed, 2 for refused or
// that there is no such limiter, 1 for an error, which is then on Stderr in one line. When ctx ends, the command stops, gives back what it waits for, and that is an error.
func Run(ctx context.Context, env Env) int {
	a := &app{Env: env}
	args := env.Args
	if len(args) == 0 || isHelp(args[0]) {
		args = append([]string{"help"}, args[min(1, len(args)):]...)
	}
	if err := a.root().Run(ctx, append([]string{program}, args...)); err != nil {
		a.complain(err)
		return exitError
	}
	return a.status
}

// program is what the program is called in its own words.
const program = "sluice"

// app is one run of the program.
type app struct {
	Env
	status int // of a command that ran without an error
}

// root is the tree of commands. The library's own help, version and error handling are off: its help reads
// "sluice acquire NAME -h" as a question about NAME, and it prints and exits by itself.
func (a *app) root() *cli.Command {
	root := &cli.Command{
		Name:           program,
		Usage:          "rate limits that are shared through Redis",
		Description:    rootDescription,
		Commands:       []*cli.Command{a.acquire(), a.limiter(), a.demo(), a.replay(), a.version(), a.help()},
		Flags:          []cli.Flag{&cli.BoolFlag{Name: "help", Aliases: []string{"h"}, Usage: "say how the command is used"}},
		HideHelp:       true,
		HideVersion:    true,
		Reader:         a.Stdin,
		Writer:         a.Stdout,
		ErrWriter:      a.Stderr,
		ExitErrHandler: func(context.Context, *cli.Command, error) {},

		EnableShellCompletion:           true,
		ConfigureShellCompletionCommand: a.completion,
	}
	a.adopt(root)
	return root
}

// adopt gives a command and those below it our ways with -h, with bad usage, and with the shell's questions.
func (a *app) adopt(c *cli.Command) {
	_ = c.Walk(func(c *cli.Command) error {
		c.OnUsageError = onUsageError
		c.Action = a.orHelp(c.Action)
		c.ShellComplete = a.complete
		return nil
	})
}

// complain puts an error on Stderr, in one line that begins with the program's name.
func (a *app) complain(err error) {
	text := strings.ReplaceAll(err.Error(), "\n", "; ")
	fmt.Fprintf(a.Stderr, "%s: %s\n", program, strings.TrimPrefix(text, program+": "))
}

const rootDescription = `A limiter is a name with a rate, such as 3 permits per 5 seconds. Whoever uses the
name shares the rate: shell scripts through this program, Go programs through the
library, Java programs through Redisson's RRateLimiter.

Redis is where -redis says, else where the environment variable SLUICE_REDIS_URL
says, else at redis://127.0.0.1:6379.

Examples:
  sluice demo                               a limiter at work; needs no Redis
  sluice acquire mail -rate 3/5s && send    at most 3 in 5 s, all callers together
  sluice acquire mail -wait 10s && send     wait for a permit if need be
  sluice limiter set mail -rate 100/m       give it another rate
  sluice limiter show mail                  how it stands, and what is wrong with it

Exit status: 0 done or allowed, 2 refused or no such limiter, 1 error.`
