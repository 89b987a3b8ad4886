package cli

import (
	"context"
	"fmt"
	"strings"

	"github.com/urfave/cli/v3"
)

// usageError says what is wrong with the arguments of a command, and where to read how it is used.
func usageError(c *cli.Command, format string, args ...any) error {
	return fmt.Errorf("%s; see: %s", fmt.Sprintf(format, args...), strings.TrimSpace(program+" help "+path(c)))
}

// path is a command as it is typed after the program's name.
func path(c *cli.Command) string {
	return strings.TrimSpace(strings.TrimPrefix(c.FullName(), program))
}

// onUsageError puts what the library says of flags into our words.
func onUsageError(_ context.Context, c *cli.Command, err error, _ bool) error {
	text := err.Error()
	if flag, ok := strings.CutPrefix(text, "flag provided but not defined: "); ok {
		return usageError(c, "unknown flag %s", flag)
	}
	if flag, ok := strings.CutPrefix(text, "flag needs an argument: "); ok {
		return usageError(c, "%s needs a value", flag)
	}
	return usageError(c, "%s", text)
}

// unknownCommand is the action of a command that has only subcommands.
func unknownCommand(_ context.Context, c *cli.Command) error {
	if !c.Args().Present() {
		return usageError(c, "%s needs a command", path(c))
	}
	return usageError(c, "unknown command %q", strings.TrimSpace(path(c)+" "+c.Args().First()))
}

// name is the one argument of a command: the limiter's name.
func name(c *cli.Command) (string, error) {
	switch args := c.Args().Slice(); {
	case len(args) == 0:
		return "", usageError(c, "which limiter? %s needs a NAME", path(c))
	case len(args) > 1:
		return "", usageError(c, "one limiter at a time: after the name %q there is %q", args[0], args[1])
	default:
		return args[0], nil
	}
}

// noArguments refuses arguments where none are expected.
func noArguments(c *cli.Command) error {
	if c.Args().Present() {
		return usageError(c, "%s takes no arguments, but there is %q", path(c), c.Args().First())
	}
	return nil
}
