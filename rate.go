package sluice

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Bounds of what can be stored exactly. The store computes in doubles, so counts end below 2^53; a grant's
// permits are 32 bits wide in Redisson's format; times are kept to 2^-10 ms, which holds until dates
// reach 2^43 ms (the year 2248), so that durations end at a hundred years.
const (
	MaxRate     int64         = 1<<53 - 1                  // most permits per interval
	MaxPermits  int64         = 1<<32 - 1                  // most permits in one call
	MaxInterval time.Duration = 100 * 365 * 24 * time.Hour // longest interval, keep-alive and wait
	MinInterval time.Duration = time.Millisecond           // shortest interval; intervals are whole milliseconds
)

// Rate is so many permits per interval. In every half-open window [t, t+Interval) at most
// Permits are granted. The zero value is not a usable rate: configuring a limiter with it is an error.
type Rate struct {
	Permits  int64         // 1 to MaxRate
	Interval time.Duration // MinInterval to MaxInterval, in whole milliseconds
}

// Per is shorthand for Rate{permits, interval}: Per(3, 5*time.Second) is three in five seconds.
func Per(permits int64, interval time.Duration) Rate { return Rate{permits, interval} }

// String gives the form that ParseRate reads, such as "3/5s".
func (r Rate) String() string { return fmt.Sprintf("%d/%s", r.Permits, shortDuration(r.Interval)) }

// ParseRate reads "3/5s", "100/m" or "1000/1h30m": permits, a slash, and an interval as time.ParseDuration
// reads it; a unit alone means one of it, and d means 24 hours. The error is an *InvalidError that
// says what is wrong with which part.
func ParseRate(s string) (Rate, error) {
	permits, interval, found := strings.Cut(strings.TrimSpace(s), "/")
	if !found {
		return Rate{}, &InvalidError{Field: "rate", Value: s, Want: `permits, a slash and an interval, such as "3/5s"`}
	}
	n, err := strconv.ParseInt(strings.TrimSpace(permits), 10, 64)
	if err != nil {
		return Rate{}, &InvalidError{Field: "rate", Value: s, Want: `a whole number of permits before the slash, such as "3/5s"`}
	}
	d, err := parseInterval(strings.TrimSpace(interval))
	if err != nil {
		return Rate{}, &InvalidError{Field: "rate", Value: s, Want: `an interval with a unit after the slash, such as "3/5s", "100/m" or "1000/1d"`}
	}
	r := Per(n, d)
	return r, r.validate()
}

func parseInterval(s string) (time.Duration, error) {
	if s != "" && s[0] >= 'a' && s[0] <= 'z' {
		s = "1" + s
	}
	if days, found := strings.CutSuffix(s, "d"); found {
		n, err := strconv.ParseInt(days, 10, 64)
		n = max(-100_000, min(n, 100_000)) // beyond both bounds, and not so far that it overflows
		return time.Duration(n) * 24 * time.Hour, err
	}
	return time.ParseDuration(s)
}

// shortDuration drops the zero parts that Duration.String spells out: 1h0m0s is 1h.
func shortDuration(d time.Duration) string {
	s := d.String()
	if strings.HasSuffix(s, "m0s") {
		s = s[:len(s)-2]
	}
	if strings.HasSuffix(s, "h0m") {
		s = s[:len(s)-2]
	}
	return s
}

// validate says what is wrong with r, all of it, or nil.
func (r Rate) validate() error {
	var problems problems
	if r.Permits < 1 || r.Permits > MaxRate {
		problems.add("rate.permits", r.Permits, fmt.Sprintf("1 to %d", MaxRate))
	}
	problems.duration("rate.interval", r.Interval, MinInterval)
	return problems.err()
}
