package interop

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/sluice-rate/sluice/legacy"
)

// fixedVersions are those of Redisson with a fixed window whose services package legacy is for: the most used of them, and the last.
var fixedVersions = []string{"3.12.5", "3.13.2"}

// TestLegacy runs what testdata/legacy tells. There go and go2 are clients of package legacy; "go main.TryAcquire 1" calls this library's main limiter.
func TestLegacy(t *testing.T) {
	t.Parallel()
	all := sections(t, "testdata/legacy/*.txt")
	for _, s := range all {
		for _, what := range s.shows {
			if !s.does(what) {
				t.Errorf("%v: no step calls %s's %s before one of the other side that says what comes of it", s, what.side, what.method)
			}
		}
	}
	for _, version := range fixedVersions {
		t.Run(version, func(t *testing.T) {
			t.Parallel()
			runSections(t, redisson(t, version), all, newFixedGopher)
		})
	}
}

// fixedGopher is a client of package legacy, beside one of the main limiter.
type fixedGopher struct {
	limiter *legacy.Limiter
	main    *gopher
}

func newFixedGopher(tb testing.TB, url, name string) *gopher {
	tb.Helper()
	rdb := dial(tb, url)
	main := newGopher(tb, url, name)
	client := legacy.New(rdb, &legacy.Options{ClientID: main.id})
	return &gopher{id: main.id, instead: &fixedGopher{client.Limiter(name), main}}
}

func (g *fixedGopher) call(ctx context.Context, method string, args []string) (string, error) {
	if method, ok := strings.CutPrefix(method, "main."); ok {
		return g.main.call(ctx, method, args)
	}
	a := arguments{args: args}
	l := g.limiter
	switch method {
	case "TrySetRate":
		return a.give(l.TrySetRate(ctx, a.config()))
	case "Config":
		c, err := l.Config(ctx)
		return fmt.Sprint(c.Mode, " ", c.Rate), err
	case "TryAcquire":
		return g.main.decided(l.TryAcquire(ctx, a.number()))
	case "TryAcquireFor":
		return g.main.decided(l.TryAcquireFor(ctx, a.number(), a.duration()))
	case "Acquire":
		return a.give(nil, l.Acquire(ctx, a.number()))
	case "Available":
		return a.give(l.Available(ctx))
	case "Exists":
		return a.give(l.Exists(ctx))
	case "Delete":
		return a.give(l.Delete(ctx))
	}
	return "", fmt.Errorf("no method %s", method)
}
