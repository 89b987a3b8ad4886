package cli

import (
	"context"
	"fmt"
	"strings"

	"github.com/urfave/cli/v3"
)

// completion shows the library's command that prints completion scripts; it comes when our commands are there already.
func (a *app) completion(c *cli.Command) {
	c.Usage = "print a script that completes commands and flags in a shell"
	c.Description = completionDescription
	a.adopt(c)
}

// complete answers a completion script: it offers flags, with one dash, for a word that begins with a dash, and else commands. The
// library's own function writes two dashes and breaks on a usage of several lines.
func (a *app) complete(_ context.Context, c *cli.Command) {
	words := c.Args().Slice()
	if len(words) > 0 && strings.HasPrefix(words[len(words)-1], "-") {
		for _, f := range c.VisibleFlags() {
			does, _, _ := strings.Cut(flagHelp(f)[1], "\n")
			fmt.Fprintf(a.Stdout, "-%s:%s\n", f.Names()[0], does)
		}
		return
	}
	for _, sub := range c.Commands {
		fmt.Fprintf(a.Stdout, "%s:%s\n", sub.Name, sub.Usage)
	}
}

const completionDescription = `Examples:
  source <(sluice completion bash)     in ~/.bashrc
  source <(sluice completion zsh)      in ~/.zshrc
  sluice completion fish > ~/.config/fish/completions/sluice.fish`
