package cli

import (
	"context"
	"embed"
	"fmt"
	"strings"

	"github.com/urfave/cli/v3"
)

// scripts are our completion scripts, by shell. The library's need the package bash-completion, let bash run what was typed, and cannot
// tell a flag that is being typed from one whose value comes next: they do not pass on the word at the cursor when it is empty.
//
//go:embed completion
var scripts embed.FS

// completion shows the library's command that prints completion scripts; it comes when our commands are there already.
func (a *app) completion(c *cli.Command) {
	c.Usage = "print a script that completes commands and flags in a shell"
	c.Description = completionDescription
	for _, shell := range c.Commands {
		shell.Usage = "print the script for " + shell.Name
		if script, err := scripts.ReadFile("completion/" + shell.Name); err == nil {
			shell.Action = func(context.Context, *cli.Command) error {
				_, err := a.Stdout.Write(script)
				return err
			}
		}
	}
	a.adopt(c)
}

// complete answers a completion script, which runs the program with the words of the line up to the cursor, the last of which may be
// empty: it offers a flag's values behind the flag, flags for a word that begins with a dash, and else commands.
func (a *app) complete(_ context.Context, c *cli.Command) {
	words := a.Args[:max(0, len(a.Args)-1)] // behind them stands the flag by which the library knows the question
	current, before := "", words
	if n := len(words); n > 0 {
		current, before = words[n-1], words[:n-1]
	}
	at, _ := descend(c.Root(), before)
	if n := len(before); n > 0 && takesValue(at, before[n-1]) {
		for _, value := range flagValues[strings.TrimLeft(before[n-1], "-")] {
			fmt.Fprintln(a.Stdout, value)
		}
		return
	}
	if strings.HasPrefix(current, "-") {
		for _, f := range at.VisibleFlags() {
			does, _, _ := strings.Cut(flagHelp(f)[1], "\n")
			fmt.Fprintf(a.Stdout, "-%s:%s\n", f.Names()[0], does)
		}
		return
	}
	if at.Name == "help" {
		at, _ = descend(c.Root(), before[1:])
	}
	for _, sub := range at.Commands {
		fmt.Fprintf(a.Stdout, "%s:%s\n", sub.Name, sub.Usage)
	}
}

// descend follows words into the tree of commands, and says which are left. Flags between them are passed over.
func descend(c *cli.Command, words []string) (*cli.Command, []string) {
	for len(words) > 0 {
		if !strings.HasPrefix(words[0], "-") {
			sub := c.Command(words[0])
			if sub == nil {
				break
			}
			c = sub
		}
		words = words[1:]
	}
	return c, words
}

// takesValue reports whether a word is a flag of the command that wants a value after it.
func takesValue(c *cli.Command, word string) bool {
	name := strings.TrimLeft(word, "-")
	for _, f := range c.VisibleFlags() {
		if _, value := f.(*cli.StringFlag); value && name != word && f.Names()[0] == name {
			return true
		}
	}
	return false
}

// flagValues are the values of flags that have only a few.
var flagValues = map[string][]string{
	"o":         {"text", "json"},
	"mode":      {"overall", "client"},
	"algorithm": {"sliding", "bucket", "fixed", "aligned"},
	"key":       {"ip", "ip/64", "user", "method", "path", "status", "host", "ip+path"},
}

const completionDescription = `Examples:
  source <(sluice completion bash)     in ~/.bashrc
  source <(sluice completion zsh)      in ~/.zshrc, after compinit
  sluice completion fish > ~/.config/fish/completions/sluice.fish`
