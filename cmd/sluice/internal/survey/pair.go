package survey

import (
	"context"
	"fmt"
	"math"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/sluice-rate/sluice/cmd/sluice/internal/store"
)

// Pair is a value with its ledger: a limiter's, or one client's.
type Pair struct {
	Client     string // "" for the one that all share
	ValueKey   string
	LedgerKey  string
	ValueKind  string // the types of the keys
	LedgerKind string
	Value      string        // as it is stored; "" if there is none
	ValueTTL   time.Duration // 0 for ever
	LedgerTTL  time.Duration
	Tally

	steady bool // value and ledger are of one moment
}

// Tally is what a ledger holds.
type Tally struct {
	Available int64 // permits that could be had now, as the library would answer; 0 without a configuration
	Granted   int64 // permits in use: of grants in the window
	Waiting   int64 // callers in line
	Entries   int64 // in the window, those who wait included

	all     int64 // permits of all entries, also of those that have left the window but not yet the ledger
	ahead   int64 // permits of those in line
	newest  Entry
	leaves  float64 // when the last entry leaves the window, in milliseconds
	formats [formats]int64
	early   [2]early
	wrapped int64 // entries with so many permits that they were less than 0 when they were written
}

// early is what is known of the entries that are dated ahead without being reservations: whose, how many, how far.
type early struct {
	entries int64
	most    time.Duration
}

// The places of Tally.early.
const (
	earlyForeign = iota
	earlyOwn
)

// known is the value as a number, if it is one.
func (p *Pair) known() (int64, bool) {
	n, ok := number(p.Value)
	if p.ValueKind != kindString || !ok || n != math.Trunc(n) || math.Abs(n) > 1<<62 {
		return 0, false
	}
	return int64(n), true
}

func (p *Pair) there() bool { return p.ValueKind != kindNone || p.LedgerKind != kindNone }

func newPair(name, client string) Pair {
	p := Pair{Client: client, ValueKey: base(name) + ":value", LedgerKey: base(name) + ":permits"}
	if client != "" {
		p.ValueKey, p.LedgerKey = p.ValueKey+":"+client, p.LedgerKey+":"+client
	}
	return p
}

// firstPage is how many entries are read in one step with the value. A ledger of this library has not more, but for those who wait in
// great crowds. nextPage is for longer ones.
const (
	firstPage = 2600
	nextPage  = 2000
)

type pairReply struct {
	valueKind, ledgerKind *redis.StatusCmd
	value                 *redis.StringCmd
	valueTTL, ledgerTTL   *redis.DurationCmd
	card                  *redis.IntCmd
	entries               *redis.ZSliceCmd
}

func (p *Pair) ask(pipe redis.Pipeliner, shallow bool) pairReply {
	ctx := context.Background() // it goes with the pipe's
	r := pairReply{
		valueKind: pipe.Type(ctx, p.ValueKey), ledgerKind: pipe.Type(ctx, p.LedgerKey),
		value:    pipe.Get(ctx, p.ValueKey),
		valueTTL: pipe.PTTL(ctx, p.ValueKey), ledgerTTL: pipe.PTTL(ctx, p.LedgerKey),
	}
	if !shallow {
		r.card = pipe.ZCard(ctx, p.LedgerKey)
		r.entries = pipe.ZRangeWithScores(ctx, p.LedgerKey, 0, firstPage-1)
	}
	return r
}

// read takes in the reply, and the rest of a long ledger.
func (p *Pair) read(ctx context.Context, node store.Node, l *Limiter, r pairReply) error {
	p.ValueKind, p.LedgerKind, p.Value = r.valueKind.Val(), r.ledgerKind.Val(), r.value.Val()
	p.ValueTTL, p.LedgerTTL, p.steady = max(0, r.valueTTL.Val()), max(0, r.ledgerTTL.Val()), true
	if l.shallow {
		return nil
	}
	for _, z := range r.entries.Val() {
		p.count(newEntry(z, p.Client, l.At), l)
	}
	if r.card.Val() > firstPage {
		if err := p.readOn(ctx, node, l, r); err != nil {
			return err
		}
	}
	p.available(l)
	return nil
}

// readOn reads what is behind the first page. Whether all is of one moment is seen from what is the same in the end.
func (p *Pair) readOn(ctx context.Context, node store.Node, l *Limiter, r pairReply) error {
	c := cursor{}.after(r.entries.Val())
	for {
		page, _, err := readPage(ctx, node, p.LedgerKey, c, math.Inf(-1))
		if err != nil {
			return err
		}
		for _, z := range page {
			p.count(newEntry(z, p.Client, l.At), l)
		}
		if c = c.after(page); len(page) < nextPage {
			break
		}
	}
	var again pairReply
	if err := node.Read(ctx, true, func(pipe redis.Pipeliner) { again = p.ask(pipe, false) }); err != nil {
		return err
	}
	same := len(again.entries.Val()) > 0 && again.entries.Val()[0] == r.entries.Val()[0]
	p.steady = same && again.card.Val() == r.card.Val() && again.value.Val() == r.value.Val()
	return nil
}

// count adds an entry to the tally.
func (p *Pair) count(e Entry, l *Limiter) {
	p.all += e.Permits
	p.formats[e.Format]++
	if e.Permits >= 1<<31 && e.Format != Own {
		p.wrapped++
	}
	interval := float64(l.Stored.Config.Rate.Interval.Milliseconds())
	if interval > 0 && e.date <= floor(l.At)-interval {
		return // has left the window, but nobody has swept it out
	}
	p.Entries++
	p.newest = e
	p.leaves = e.date + interval
	switch {
	case e.Early > 0:
		whose := &p.early[earlyForeign]
		if e.Format == Own {
			whose = &p.early[earlyOwn]
		}
		whose.entries++
		whose.most = max(whose.most, e.Early)
		p.Granted += e.Permits // it counts from now on
	case e.date > ceil(l.At):
		p.Waiting++
		p.ahead += e.Permits
	default:
		p.Granted += e.Permits
	}
}

// available is what the library's Available answers.
func (p *Pair) available(l *Limiter) {
	inLine := p.Entries > 0 && p.newest.Early == 0 && p.newest.date > ceil(l.At)
	if l.Stored.valid() && !inLine {
		p.Available = max(0, l.Stored.Config.Rate.Permits-p.Granted-p.ahead)
	}
}

// cursor is a place in a ledger between two entries: behind so many of one score. The zero cursor is the beginning.
type cursor struct {
	score float64
	skip  int64
	begun bool
}

// after is the cursor behind these entries, which were read from c on.
func (c cursor) after(page []redis.Z) cursor {
	for _, z := range page {
		if c.begun && z.Score == c.score {
			c.skip++
		} else {
			c = cursor{z.Score, 1, true}
		}
	}
	return c
}

// readPage reads entries from the cursor on, and not before a score, with the store's clock.
func readPage(ctx context.Context, node store.Node, key string, c cursor, least float64) ([]redis.Z, time.Time, error) {
	from := redis.ZRangeBy{Min: fmt.Sprintf("%.17g", least), Max: "+inf", Count: nextPage}
	if c.begun && c.score >= least {
		from.Min, from.Offset = fmt.Sprintf("%.17g", c.score), c.skip
	}
	var clock *redis.TimeCmd
	var page *redis.ZSliceCmd
	err := node.Read(ctx, true, func(p redis.Pipeliner) {
		clock, page = p.Time(ctx), p.ZRangeByScoreWithScores(ctx, key, &from)
	})
	if err != nil {
		return nil, time.Time{}, err
	}
	return page.Val(), clock.Val(), nil
}
