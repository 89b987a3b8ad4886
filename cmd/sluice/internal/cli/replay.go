package cli

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/urfave/cli/v3"

	"github.com/sluice-rate/sluice"
	"github.com/sluice-rate/sluice/cmd/sluice/internal/replay"
)

// replay is the command that tries a limit on an access log.
func (a *app) replay() *cli.Command {
	return &cli.Command{
		Name:  "replay",
		Usage: "try a limit on the access log of a web server; needs no Redis",
		UsageText: "sluice replay FILE... -rate 5/60s [-key ip] [-algorithm sliding|bucket|fixed|aligned]\n" +
			"                [-burst 10] [-top 10] [-ascii] [-o text|json]",
		Description: replayDescription,
		Flags: []cli.Flag{
			flag("rate", "`5/60s` permits/interval: 3/5s, 100/m, 1000/1h30m, 10/d; required"),
			flag("key", "`ip` what is limited, each value by itself; see below (default ip)"),
			flag("algorithm", "`sliding` how it is counted: sliding, bucket, fixed or aligned (default sliding)"),
			flag("burst", "`10` how many permits a bucket holds (default: as many as the rate has)"),
			flag("top", "`10` how many keys to name: those with the most refusals (default 10)"),
			&cli.BoolFlag{Name: "ascii", Usage: "draw the chart with plain characters"},
			outputFlag(),
		},
		Action: a.runReplay,
	}
}

func (a *app) runReplay(ctx context.Context, c *cli.Command) error {
	if !c.Args().Present() {
		return usageError(c, "which log? replay needs a FILE, or - for the standard input")
	}
	r := reader{c: c}
	if !r.set("rate") {
		return usageError(c, "which rate? say it with -rate, such as -rate 5/60s")
	}
	options := replay.Options{
		Files:    c.Args().Slice(),
		Stdin:    a.Stdin,
		Key:      r.key("key"),
		Limit:    r.limit(),
		Top:      int(r.within("top", 10, 0, maxTop)),
		ASCII:    c.Bool("ascii"),
		Progress: a.progress(),
	}
	json := r.json()
	if r.err != nil {
		return r.err
	}
	report, err := replay.Run(ctx, options)
	interrupted := err != nil && ctx.Err() != nil
	switch {
	case interrupted && report == nil:
		return errors.New("interrupted")
	case err != nil && !interrupted:
		return err
	}
	for _, note := range report.Notes {
		a.complain(errors.New("note: " + note))
	}
	if err := a.answer(json, report); err != nil {
		return err
	}
	if interrupted {
		return errors.New("interrupted; the answer is that of the lines until then")
	}
	return nil
}

// maxTop is more than anybody reads.
const maxTop = 100_000

// progress is where it is shown how far a long command is: nil if nobody watches.
func (a *app) progress() io.Writer {
	if term, _ := a.LookupEnv("TERM"); !a.StderrTerminal || term == "dumb" {
		return nil
	}
	return a.Stderr
}

// limit reads the limit that -rate, -algorithm and -burst describe.
func (r *reader) limit() sluice.Limit {
	l := sluice.Limit{Rate: r.rate("rate"), Burst: r.within("burst", 0, 1, sluice.MaxRate)}
	if r.set("algorithm") {
		algorithm, err := sluice.ParseAlgorithm(r.c.String("algorithm"))
		r.fail(err)
		l.Algorithm = algorithm
	}
	if r.set("burst") && l.Algorithm != sluice.TokenBucket {
		r.fail(errors.New("-burst goes with -algorithm bucket; others hold as many permits as the rate has"))
	}
	return l
}

// within reads a whole number within bounds.
func (r *reader) within(flag string, unset, least, most int64) int64 {
	n := r.count(flag, unset)
	if r.set(flag) && (n < least || n > most) {
		r.fail(&sluice.InvalidError{Field: "-" + flag, Value: n, Want: fmt.Sprintf("%d to %d", least, most)})
	}
	return n
}

// key reads what is limited in a log.
func (r *reader) key(flag string) *replay.Key {
	spec := "ip"
	if r.set(flag) {
		spec = r.c.String(flag)
	}
	key, err := replay.ParseKey(spec)
	r.fail(err)
	return key
}

const replayDescription = `Runs an access log through a limiter of this process, in the log's own time, and says who
would have been refused, when and how often. A log is in Common or Combined Log Format, with
a virtual host before it or not, packed with gzip or not; several files are one log, oldest
first, and - is the standard input. A log may be of any length. Lines are like:
  192.0.2.1 - - [30/Nov/2026:10:00:00 +0100] "GET /a HTTP/1.1" 200 23 "-" "Mozilla/5.0"

Keys, each of whose values has the rate to itself:
  ip                   who asked
  ip/64                likewise, IPv6 addresses by their network of this length
  path                 without the query
  path:/users/{id}/*   the path up to the last {…}, here /users/42, of those like the pattern:
                       {id} is any one segment, a * at the end what follows, if anything
  path:POST /login     likewise, of requests with this method
  user, method, status, host, header:user-agent, header:referer
  ip+path              several together
Lines without such a key are not limited, and are counted apart.

Algorithms:
  sliding   in no window, wherever it begins, more than the rate
  bucket    permits flow back evenly, up to -burst at once
  fixed     windows one after the other, the first from a key's first request
  aligned   windows of the clock: the minute, the hour, the day of UTC

Examples:
  sluice replay access.log -rate 100/m
  sluice replay access.log.2.gz access.log.1 access.log -rate 5/60s -key 'ip+path:POST /login'
  sluice replay access.log -rate 10/s -algorithm bucket -burst 50 -key ip/64 -o json
  zstd -dc access.log.zst | sluice replay - -rate 1000/h -key 'path:/users/{id}/*'

A line that is older than the one before it counts as of the later time. Beyond 262,144 keys
the numbers of keys are estimates, and those with few requests are dropped.

Exit status: 0 done, whoever would have been refused; 1 error, or interrupted.`
