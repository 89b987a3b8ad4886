package cli

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/urfave/cli/v3"
)

// isHelp recognizes the ways to ask for help without a command.
func isHelp(arg string) bool { return slices.Contains([]string{"-h", "-help", "--help"}, arg) }

// help is the command that says how another one is used.
func (a *app) help() *cli.Command {
	return &cli.Command{
		Name:      "help",
		Usage:     "say how a command is used",
		ArgsUsage: "[COMMAND]",
		Action: func(_ context.Context, c *cli.Command) error {
			topic := c.Root()
			for _, word := range c.Args().Slice() {
				next := topic.Command(word)
				if next == nil {
					return usageError(topic, "no help on %q: there is no such command", strings.Join(c.Args().Slice(), " "))
				}
				topic = next
			}
			return a.showHelp(topic)
		},
	}
}

// orHelp is an action that gives way to -h.
func (a *app) orHelp(action cli.ActionFunc) cli.ActionFunc {
	if action == nil {
		action = unknownCommand
	}
	return func(ctx context.Context, c *cli.Command) error {
		if c.Bool("help") {
			return a.showHelp(c)
		}
		return action(ctx, c)
	}
}

func (a *app) showHelp(c *cli.Command) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s\n\nUsage:\n  %s\n", c.FullName(), c.Usage, usageLine(c))
	if len(c.Commands) > 0 {
		rows := make([][2]string, 0, len(c.Commands))
		for _, sub := range c.Commands {
			rows = append(rows, [2]string{sub.Name, sub.Usage})
		}
		b.WriteString("\nCommands:\n")
		table(&b, rows)
	}
	if flags := c.VisibleFlags(); len(flags) > 0 {
		rows := make([][2]string, 0, len(flags))
		for _, f := range flags {
			rows = append(rows, flagHelp(f))
		}
		b.WriteString("\nFlags:\n")
		table(&b, rows)
	}
	if c.Description != "" {
		fmt.Fprintf(&b, "\n%s\n", c.Description)
	}
	_, err := io.WriteString(a.Stdout, b.String())
	return err
}

func usageLine(c *cli.Command) string {
	switch {
	case c.UsageText != "":
		return c.UsageText
	case len(c.Commands) > 0:
		return c.FullName() + " COMMAND"
	}
	return strings.TrimSpace(c.FullName() + " " + c.ArgsUsage)
}

// flagHelp is a flag as it is typed, and what it does.
func flagHelp(f cli.Flag) [2]string {
	var typed []string
	for _, name := range f.Names() {
		typed = append(typed, "-"+name)
	}
	usage := ""
	if documented, ok := f.(cli.DocGenerationFlag); ok {
		usage = documented.GetUsage()
	}
	if _, rest, ok := strings.Cut(usage, "`"); ok {
		value, does, _ := strings.Cut(rest, "`")
		return [2]string{strings.Join(typed, ", ") + " " + value, strings.TrimSpace(does)}
	}
	return [2]string{strings.Join(typed, ", "), usage}
}

// table writes two columns; a \n in the second breaks the line there.
func table(b *strings.Builder, rows [][2]string) {
	width := 0
	for _, row := range rows {
		width = max(width, len(row[0]))
	}
	indent := "\n" + strings.Repeat(" ", width+5)
	for _, row := range rows {
		fmt.Fprintf(b, "  %-*s   %s\n", width, row[0], strings.ReplaceAll(row[1], "\n", indent))
	}
}
