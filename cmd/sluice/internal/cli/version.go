package cli

import (
	"context"
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/urfave/cli/v3"
)

// version is the command that says which program this is.
func (a *app) version() *cli.Command {
	return &cli.Command{
		Name:      "version",
		Usage:     "say which version this is",
		ArgsUsage: "[-o text|json]",
		Flags:     []cli.Flag{outputFlag()},
		Action: func(_ context.Context, c *cli.Command) error {
			if err := noArguments(c); err != nil {
				return err
			}
			r := reader{c: c}
			json := r.json()
			if r.err != nil {
				return r.err
			}
			v := versionAnswer{Version: buildVersion(), Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH}
			return a.answer(json, v)
		},
	}
}

type versionAnswer struct {
	Version  string `json:"version"`
	Go       string `json:"go"`
	Platform string `json:"platform"`
}

func (v versionAnswer) String() string {
	return fmt.Sprintf("%s %s, built with %s for %s", program, v.Version, v.Go, v.Platform)
}

// buildVersion is what the Go toolchain wrote into the program: a tag, or a commit for a build between two.
func buildVersion() string {
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		return info.Main.Version
	}
	return "(unknown)"
}
