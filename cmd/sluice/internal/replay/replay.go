// Package replay runs the access log of a web server through a limiter, in the log's own time, and says who would have been
// refused, when, and how often.
//
// A log may be of any length, and may come without an end: what is kept does not grow with it. The limiter keeps what the keys have used
// within the last interval, the tally a fixed number of keys, the timeline a fixed number of buckets.
package replay

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/sluice-rate/sluice"
)

// Options say what to replay. Files, Key and Limit are required.
type Options struct {
	Files []string // in the order of time; Stdin is the standard input
	Stdin io.Reader
	Key   *Key
	Limit sluice.Limit
	Top   int  // how many keys to name
	ASCII bool // the report's text has no other characters, but for those of the keys

	Progress io.Writer        // a terminal that is shown how far it is; nil for none
	Now      func() time.Time // the clock of Progress; nil for time.Now

	maxKeys int // 0 is the default; less in tests
}

// NoLinesError says that nothing of a log could be read.
type NoLinesError struct {
	Files   []string
	Lines   int64
	Problem string // of the first line
}

func (e *NoLinesError) Error() string {
	what := strings.Join(e.Files, ", ")
	if e.Lines == 0 {
		return fmt.Sprintf("there are no lines in %s", what)
	}
	return fmt.Sprintf("no line of %s can be read as Common or Combined Log Format: %s; a line should be like: %s", what, e.Problem, Example)
}

// Run replays. When ctx ends, or something fails on the way, both results are there: the report is then of what was read before. It is nil if
// nothing was.
func Run(ctx context.Context, o Options) (*Report, error) {
	l, err := newLimiter(ctx, o.Limit)
	if err != nil {
		return nil, err
	}
	return run(ctx, o, l)
}

// decider decides on one request of a key. Moments do not go back.
type decider interface {
	decide(ctx context.Context, key string, at time.Time) (allowed bool, retryAfter time.Duration, err error)
}

func run(ctx context.Context, o Options, d decider) (*Report, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel() // ends what reads the standard input
	total, err := sizes(o.Files)
	if err != nil {
		return nil, err
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.maxKeys == 0 {
		o.maxKeys = maxKeys
	}
	r := &replay{Options: o, decider: d, tally: newTally(o.maxKeys), progress: newProgress(o.Progress, o.Now, total)}
	for _, name := range o.Files {
		if err = r.file(ctx, name); err != nil {
			break
		}
	}
	r.progress.end()
	switch {
	case r.lines > r.skipped:
		r.remark()
		return r.report(), err
	case err != nil:
		return nil, err
	}
	e := &NoLinesError{Files: o.Files, Lines: r.lines}
	if len(r.notes) > 0 {
		e.Problem = r.notes[0]
	}
	return nil, e
}

// replay is what has been found so far.
type replay struct {
	Options
	decider  decider
	parser   parser
	record   record
	tally    *tally
	timeline timeline
	progress *progress
	notes    []string

	from, clock int64  // the moments of the first line and of the latest so far
	latestFile  string // where the latest moment was read
	latestLine  int64
	misplaced   bool // a file is, in the order of time

	lines, skipped, late, unmatched, allowed, refused int64
}

// file replays one file.
func (r *replay) file(ctx context.Context, name string) error {
	f, err := open(ctx, name, r.Stdin, r.progress.read)
	if err != nil {
		return inFile(name, err)
	}
	defer f.Close()
	first := true // of the readable lines of this file
	lines := newLines(f)
	for number := int64(1); ; number++ {
		line, long, err := lines.next()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return inFile(name, err)
		}
		r.lines++
		r.progress.lines++
		problem := tooLong
		if !long {
			problem = r.parser.parse(line, &r.record)
		}
		if problem != "" {
			r.skip(name, number, problem)
			continue
		}
		r.tick(name, number, first)
		first = false
		if err := r.request(ctx); err != nil {
			return fmt.Errorf("%s:%d: %w", name, number, err)
		}
	}
}

// inFile says in which file something went wrong, unless the error does.
func inFile(name string, err error) error {
	if name == Stdin {
		name = "standard input"
	}
	if strings.Contains(err.Error(), name) {
		return err
	}
	return fmt.Errorf("%s: %w", name, err)
}

// maxNotes is how many unreadable lines are named.
const maxNotes = 5

// skip counts an unreadable line.
func (r *replay) skip(name string, number int64, problem problem) {
	if r.skipped++; r.skipped <= maxNotes {
		r.notes = append(r.notes, fmt.Sprintf("%s:%d: %s", name, number, problem))
	}
}

// tick sets the clock to the time of a line. Servers write a line when a request ends, so that some are older than the line before:
// they count as of its time. A file that begins so is rather one in the wrong place.
func (r *replay) tick(name string, number int64, first bool) {
	at := r.record.at
	switch {
	case r.lines == r.skipped+1:
		r.from, r.timeline.zone = at, int64(r.record.offset)
		r.clock, r.latestFile, r.latestLine = at, name, number
	case at > r.clock:
		r.clock, r.latestFile, r.latestLine = at, name, number
	case at == r.clock:
	default:
		r.late++
		if back := time.Duration(r.clock-at) * time.Second; first && back > r.Limit.Rate.Interval {
			r.misplaced = true
			r.notes = append(r.notes, fmt.Sprintf("%s begins %v before what was read until then, and counts as of the later time: are the files in the order of time?", name, back))
		}
	}
}

// request puts the request of a line to the limiter.
func (r *replay) request(ctx context.Context) error {
	key, ok := r.Key.value(&r.record)
	if !ok {
		r.unmatched++
		return nil
	}
	c := r.tally.of(key)
	allowed, retryAfter, err := r.decider.decide(ctx, c.key, time.Unix(r.clock, 0))
	if err != nil {
		return err
	}
	b := r.timeline.at(r.clock)
	if allowed {
		r.allowed++
		b.allowed++
		c.allowed++
		return nil
	}
	r.refused++
	b.refused++
	r.tally.refuse(c, r.clock, retryAfter)
	return nil
}

// remark notes in the end what makes the answer worth less than it seems.
func (r *replay) remark() {
	note := func(format string, args ...any) { r.notes = append(r.notes, fmt.Sprintf(format, args...)) }
	if more := r.skipped - maxNotes; more > 0 {
		note("%s more lines are not readable", thousands(more))
	}
	if r.late > r.lines/2 && !r.misplaced {
		note("most lines are older than %s:%d, and count as of its time: is it right?", r.latestFile, r.latestLine)
	}
	if r.Limit.Rate.Interval < time.Second {
		note("a log has whole seconds: all that happened in one counts as at once, so an interval below a second refuses too much")
	}
	if r.unmatched == r.lines-r.skipped {
		note("no line has the key %s, so nothing was limited", r.Key)
	}
}
