package sluice

import (
	"fmt"
	"time"
)

// Mode says who shares a limiter's budget.
type Mode int

const (
	Overall   Mode = iota // all processes share one budget. The default
	PerClient             // each client instance has a budget of its own
)

// String gives "overall" or "client", the words that ParseMode reads.
func (m Mode) String() string {
	switch m {
	case Overall:
		return "overall"
	case PerClient:
		return "client"
	}
	return fmt.Sprintf("mode(%d)", int(m))
}

// ParseMode reads "overall" or "client". The error is an *InvalidError.
func ParseMode(s string) (Mode, error) {
	switch s {
	case "overall":
		return Overall, nil
	case "client":
		return PerClient, nil
	}
	return 0, &InvalidError{Field: "mode", Value: s, Want: `"overall" or "client"`}
}

// Config is what a limiter stores. All processes see the same one; see Limiter.TrySetRate, SetRate and UpdateRate.
type Config struct {
	Rate Rate
	Mode Mode // Overall unless said
	// KeepAlive is how long an unused limiter is kept; each take, granted or refused, begins it anew. When it has
	// passed, the configuration and the ledger are gone and the limiter has to be configured again.
	// Zero, the default, keeps it for ever. Otherwise not shorter than the interval, in whole milliseconds.
	KeepAlive time.Duration
}

// validate says what is wrong with c, all of it, or nil.
func (c Config) validate() error {
	var problems problems
	problems.join(c.Rate.validate())
	if c.Mode != Overall && c.Mode != PerClient {
		problems.add("mode", c.Mode, "Overall or PerClient")
	}
	switch {
	case c.KeepAlive == 0:
	case c.KeepAlive < c.Rate.Interval:
		problems.add("keep-alive", c.KeepAlive, fmt.Sprintf("0, or at least the interval (%v): a shorter one would forget permits that are in use", c.Rate.Interval))
	default:
		problems.duration("keep-alive", c.KeepAlive, MinInterval)
	}
	return problems.err()
}
