package cli

import (
	"errors"
	"fmt"

	"github.com/urfave/cli/v3"

	"github.com/sluice-rate/sluice"
	"github.com/sluice-rate/sluice/cmd/sluice/internal/store"
)

// urlVariable is the environment variable that names the Redis where -redis does not.
const urlVariable = "SLUICE_REDIS_URL"

func redisFlag() cli.Flag {
	return flag("redis", "`URL` where Redis is: redis://[user:password@]host[:port][/db],\n"+
		"rediss:// for TLS, unix:///path, redis://host:port,host:port for a cluster\n"+
		"(default $"+urlVariable+", else "+store.DefaultURL+")")
}

// open opens the store that the command means.
func (a *app) open(c *cli.Command) (*store.Store, error) {
	source, url := "-redis", c.String("redis")
	if !c.IsSet("redis") {
		source, url = urlVariable, store.DefaultURL
		if set, _ := a.LookupEnv(urlVariable); set != "" {
			url = set
		}
	}
	s, err := store.Open(url)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", source, err)
	}
	return s, nil
}

// explain puts an error of a limiter into the words of the command line.
func explain(s *store.Store, limiter string, err error) error {
	if errors.Is(err, sluice.ErrNotInitialized) {
		return fmt.Errorf("limiter %q has no rate yet: give it one with -rate, or with: %s limiter set %s -rate 3/5s", limiter, program, limiter)
	}
	if e, ok := errors.AsType[*sluice.ExceedsRateError](err); ok {
		return fmt.Errorf("limiter %q: %w", limiter, e)
	}
	if e, ok := errors.AsType[*sluice.CorruptError](err); ok {
		return fmt.Errorf("limiter %q cannot be used: the key %q %s; if it is a limiter's, %s limiter set mends it, else take another name", limiter, e.Key, e.Problem, program)
	}
	return s.Explain(err)
}
