package redistest

import (
	"strconv"
	"strings"
	"testing"
	"time"
)

// Info returns one section of the server's INFO, field by field.
func (c *Conn) Info(tb testing.TB, section string) map[string]string {
	tb.Helper()
	return parseInfo(c.do(tb, "INFO", section))
}

// parseInfo splits the lines "field:value" of a reply to INFO.
func parseInfo(reply any) map[string]string {
	text, _ := reply.(string)
	fields := make(map[string]string)
	for line := range strings.Lines(text) {
		if field, value, ok := strings.Cut(strings.TrimSpace(line), ":"); ok {
			fields[field] = value
		}
	}
	return fields
}

// ScriptStats returns how many scripts the server has run by EVAL and EVALSHA since
// it started or since [Conn.ResetStats], and how many microseconds it spent in
// them. A call that failed counts too, so an EVALSHA that found no script and
// the EVAL after it are two.
func (c *Conn) ScriptStats(tb testing.TB) (calls int64, usec float64) {
	tb.Helper()
	stats := c.Info(tb, "commandstats")
	for _, command := range []string{"cmdstat_eval", "cmdstat_evalsha"} {
		// "calls=2,usec=31,usec_per_call=15.50,…"; no line before the first call.
		for pair := range strings.SplitSeq(stats[command], ",") {
			name, value, _ := strings.Cut(pair, "=")
			n, err := strconv.ParseFloat(value, 64)
			switch {
			case name == "calls" && err == nil:
				calls += int64(n)
			case name == "usec" && err == nil:
				usec += n
			}
		}
	}
	return calls, usec
}

// Slowlog returns how long each command in the server's slow log took, the latest first.
// The server logs what takes longer than 10 ms and remembers 128 commands, unless
// it was started with other values of "--slowlog-log-slower-than" (in
// microseconds) and "--slowlog-max-len".
func (c *Conn) Slowlog(tb testing.TB) []time.Duration {
	tb.Helper()
	entries, ok := c.do(tb, "SLOWLOG", "GET", -1).([]any)
	if !ok {
		tb.Fatalf("redistest: the slow log is not an array")
	}
	took := make([]time.Duration, len(entries))
	for i, entry := range entries {
		// An entry is: id, time, microseconds, arguments and more.
		fields, _ := entry.([]any)
		if len(fields) < 4 {
			tb.Fatalf("redistest: slow log entry %v, want 4 fields or more", entry)
		}
		usec, ok := fields[2].(int64)
		if !ok {
			tb.Fatalf("redistest: slow log entry %v, want a duration third", entry)
		}
		took[i] = time.Duration(usec) * time.Microsecond
	}
	return took
}

// ResetStats sets the server's counters back, those of [Conn.ScriptStats] among them,
// and empties its slow log.
func (c *Conn) ResetStats(tb testing.TB) {
	tb.Helper()
	c.do(tb, "CONFIG", "RESETSTAT")
	c.do(tb, "SLOWLOG", "RESET")
}
