package cli

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/urfave/cli/v3"

	"github.com/sluice-rate/sluice"
	"github.com/sluice-rate/sluice/cmd/sluice/internal/survey"
)

// limiterLedger is the command that lists grants.
func (a *app) limiterLedger() *cli.Command {
	return &cli.Command{
		Name:        "ledger",
		Usage:       "list the grants in a limiter's window, and who waits",
		UsageText:   "sluice limiter ledger NAME [-client ID] [-redis URL] [-o text|json]",
		Description: limiterLedgerDescription,
		Flags: limiterFlags(
			flag("client", "`ID` only this client's, where each has a budget of its own (default: all)"),
		),
		Action: a.runLimiterLedger,
	}
}

func (a *app) runLimiterLedger(ctx context.Context, c *cli.Command) error {
	limiter, err := name(c)
	if err != nil {
		return err
	}
	r := reader{c: c}
	json := r.json()
	if r.err != nil {
		return r.err
	}
	s, err := a.open(c)
	if err != nil {
		return err
	}
	defer s.Close()

	l, err := a.survey(ctx, s, limiter, survey.Find)
	if err != nil {
		return err
	}
	if a.status == exitNone && !json {
		fmt.Fprintln(a.Stdout, noSuch(limiter))
	}
	out := newLedgerPrinter(a.Stdout, json, len(l.Pairs) > 0 && l.Pairs[0].Client != "" || len(l.Pairs) > 1)
	for i := range l.Pairs {
		p := &l.Pairs[i]
		if r.set("client") && p.Client != "" && p.Client != c.String("client") {
			continue
		}
		for page, err := range l.Ledger(ctx, s, p) {
			if err == nil {
				err = out.print(page)
			}
			if err != nil {
				return interruptedOr(ctx, s, err)
			}
		}
	}
	return nil
}

// entryAnswer is an entry of a ledger as it is printed.
type entryAnswer struct {
	AtMS    int64  `json:"at_ms"` // from when on it counts, since 1970, by the store's clock
	Permits int64  `json:"permits"`
	Receipt string `json:"receipt"`          // "" where none can name it
	Kind    string `json:"kind"`             // grant, reservation, merged or foreign
	Client  string `json:"client,omitempty"` // where each has a ledger
	Format  string `json:"format,omitempty"` // who writes such an entry, if it is neither this library nor a Redisson of 3.21 or later
}

func newEntryAnswer(e survey.Entry) entryAnswer {
	v := entryAnswer{AtMS: e.At.UnixMilli(), Permits: e.Permits, Receipt: e.Receipt.String(), Kind: string(e.Kind), Client: e.Client}
	if e.Format != survey.Own && e.Format != survey.Redisson321 {
		v.Format = e.Format.String()
	}
	return v
}

// ledgerPrinter prints a ledger page by page.
type ledgerPrinter struct {
	json    *objects // nil for text
	table   columns
	clients bool // there is a column for them
	header  bool
}

func newLedgerPrinter(w io.Writer, json, clients bool) *ledgerPrinter {
	if json {
		return &ledgerPrinter{json: newObjects(w)}
	}
	p := &ledgerPrinter{table: columns{w: w, right: "lrrll"}, clients: clients}
	p.table.widths = []int{len(dateForm), len("in 59m59s"), len("PERMITS"), len(sluice.KindReservation), 2 * 20}
	return p
}

const dateForm = "2006-01-02 15:04:05.000"

func (p *ledgerPrinter) print(page survey.Page) error {
	if p.json != nil {
		for _, e := range page.Entries {
			if err := p.json.add(newEntryAnswer(e)); err != nil {
				return err
			}
		}
		return p.json.flush()
	}
	var rows [][]string
	if !p.header {
		p.header = true
		rows = append(rows, p.row("", "DATE (UTC)", "AGE", "PERMITS", "KIND", "RECEIPT", "CLIENT"))
	}
	for _, e := range page.Entries {
		v := newEntryAnswer(e)
		age := human(page.At.Sub(e.At).Truncate(time.Millisecond))
		if ahead := e.At.Sub(page.At); ahead >= time.Millisecond { // a grant is dated now rounded up
			age = "in " + human(roughly(ahead))
		}
		rows = append(rows, p.row(v.Format, e.At.UTC().Format(dateForm), age, itoa(v.Permits), v.Kind, v.Receipt, shown(v.Client)))
	}
	return p.table.write(rows...)
}

// row is a row for those columns that there are. Behind the receipt, which is missing then, stands who wrote an entry of an odd form.
func (p *ledgerPrinter) row(format, date, age, permits, kind, receipt, client string) []string {
	if format != "" {
		receipt = "(" + format + ")"
	}
	row := []string{date, age, permits, kind, receipt}
	if p.clients {
		row = append(row, client)
	}
	return row
}

const limiterLedgerDescription = `Lists what is in a limiter's window, the oldest first: when each grant was made, how many
permits it holds, and the receipt by which "sluice limiter release" gives it back. It writes
nothing to Redis, and reads a long ledger in pages. If the configuration is lost, it lists all
that is left.

  grant         made by this library
  reservation   dated in the future: a caller who waits for its turn
  merged        several grants in one, as in every long ledger; no receipt names it
  foreign       made by another library, such as Redisson

Examples:
  sluice limiter ledger mail
  sluice limiter ledger mail -o json | jq 'select(.kind == "reservation")'
    {"at_ms":1790858096790,"permits":1,"receipt":"534c00…01000000","kind":"grant"}
     one object a line; with "client" where each has a ledger, and with "format", which
     names the writer, where that is an old version of Redisson or unknown

Exit status: 0 listed, also if it is empty, 2 there is no such limiter, 1 error.`
