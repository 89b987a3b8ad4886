package replay

import (
	"time"

	"github.com/sluice-rate/sluice"
)

// Report is what a replay came to, as it is printed: String is its text. Times are in the zone of the log's first line.
type Report struct {
	Files         []string   `json:"files"`
	From          time.Time  `json:"from"` // the first line's time
	To            time.Time  `json:"to"`   // the latest
	Key           string     `json:"key"`
	Rate          string     `json:"rate"` // as sluice.ParseRate reads it
	Permits       int64      `json:"permits"`
	IntervalMS    int64      `json:"interval_ms"`
	Algorithm     string     `json:"algorithm"`
	Burst         int64      `json:"burst"`     // of a bucket, else 0
	Lines         int64      `json:"lines"`     // those skipped, unmatched, allowed and refused
	Skipped       int64      `json:"skipped"`   // not readable
	Unmatched     int64      `json:"unmatched"` // without a value of the key, and so without a limit
	Late          int64      `json:"late"`      // older than a line before them: counted as of its time
	Allowed       int64      `json:"allowed"`
	Refused       int64      `json:"refused"`
	Keys          int64      `json:"keys"`
	KeysRefused   int64      `json:"keys_refused"`   // of which at least one request was refused
	KeysEstimated bool       `json:"keys_estimated"` // Keys and KeysRefused are estimates, and Top may have missed requests
	Top           []TopKey   `json:"top"`
	TimelineStep  int64      `json:"timeline_step_ms"`
	Timeline      []Interval `json:"timeline"`

	Notes []string `json:"-"` // what is worth a warning: the first lines that were skipped, files out of order

	limit sluice.Limit
	ascii bool
}

// TopKey is a key with many refusals.
type TopKey struct {
	Key               string     `json:"key"`
	Requests          int64      `json:"requests"`
	Allowed           int64      `json:"allowed"`
	Refused           int64      `json:"refused"`
	MissedAtMost      int64      `json:"missed_at_most"`   // so many more requests may have been its, where keys are estimated
	FirstRefusedAt    *time.Time `json:"first_refused_at"` // null: never
	LastRefusedAt     *time.Time `json:"last_refused_at"`
	LongestRetryAfter int64      `json:"longest_retry_after_ms"` // rounded up
}

// Interval is a piece of the log's time.
type Interval struct {
	At      time.Time `json:"at"` // its begin
	Allowed int64     `json:"allowed"`
	Refused int64     `json:"refused"`
}

// report sums up.
func (r *replay) report() *Report {
	zone := zoneOf(int(r.timeline.zone))
	at := func(moment int64) time.Time { return time.Unix(moment, 0).In(zone) }
	v := &Report{
		Files:         r.Files,
		From:          at(r.from),
		To:            at(r.clock),
		Key:           r.Key.String(),
		Rate:          r.Limit.Rate.String(),
		Permits:       r.Limit.Rate.Permits,
		IntervalMS:    r.Limit.Rate.Interval.Milliseconds(),
		Algorithm:     r.Limit.Algorithm.String(),
		Lines:         r.lines,
		Skipped:       r.skipped,
		Unmatched:     r.unmatched,
		Late:          r.late,
		Allowed:       r.allowed,
		Refused:       r.refused,
		KeysEstimated: r.tally.above != nil,
		Top:           []TopKey{},
		Timeline:      []Interval{},
		Notes:         r.notes,
		limit:         r.Limit,
		ascii:         r.ASCII,
	}
	if r.Limit.Algorithm == sluice.TokenBucket {
		v.Burst = r.Limit.Most()
	}
	v.Keys, v.KeysRefused = r.tally.keys()
	for _, c := range r.tally.top(r.Top) {
		k := TopKey{
			Key: c.key, Requests: c.requests(), Allowed: c.allowed, Refused: c.refused, MissedAtMost: c.missed,
			LongestRetryAfter: int64((c.longest + time.Millisecond - 1) / time.Millisecond),
		}
		if c.refused > 0 {
			first, last := at(c.first), at(c.last)
			k.FirstRefusedAt, k.LastRefusedAt = &first, &last
		}
		v.Top = append(v.Top, k)
	}
	timeline := r.timeline.shown()
	v.TimelineStep = timeline.step().Milliseconds()
	for i, b := range timeline.buckets {
		v.Timeline = append(v.Timeline, Interval{at(timeline.begin(i)), b.allowed, b.refused})
	}
	return v
}
