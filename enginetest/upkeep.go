package enginetest

import (
	"strings"

	"github.com/sluice-rate/sluice"
)

func configure(w *world, s *step) string {
	config := s.config()
	l, ctx := w.limiter(), w.Context()
	var done bool
	var err error
	switch s.verb {
	case "rate":
		done, err = l.TrySetRate(ctx, config)
	case "set":
		done, err = true, l.SetRate(ctx, config)
	case "update":
		done, err = l.UpdateRate(ctx, config)
	}
	switch {
	case err != nil:
		return w.failure(err)
	case done:
		w.keepAlive = config.KeepAlive > 0
		return "stored"
	case s.verb == "rate":
		return "has one"
	}
	return "has none"
}

// config reads "10/1s mode=client keepalive=1m" without judging it: whether it is right is for the limiter to say.
func (s *step) config() (c sluice.Config) {
	permits, interval, _ := strings.Cut(s.arg(0), "/")
	c.Rate = sluice.Per(s.number(permits), s.duration(interval))
	if s.opt("mode", "overall") == "client" {
		c.Mode = sluice.PerClient
	}
	c.KeepAlive = s.duration(s.opt("keepalive", "0s"))
	return c
}

func expire(w *world, s *step) string {
	return w.change(w.limiter().Expire(w.Context(), s.duration(s.arg(0))))
}

func persist(w *world, s *step) string { return w.change(w.limiter().Persist(w.Context())) }

func remove(w *world, s *step) string { return w.change(w.limiter().Delete(w.Context())) }

func rename(w *world, s *step) string {
	err := w.limiter().Rename(w.Context(), s.arg(0))
	return w.either("done", err)
}

func (w *world) change(existed bool, err error) string {
	switch {
	case err != nil:
		return w.failure(err)
	case existed:
		return "done"
	}
	return "has none"
}
