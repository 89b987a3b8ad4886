package survey

import (
	"context"
	"iter"
	"math"
	"time"

	"github.com/sluice-rate/sluice/cmd/sluice/internal/store"
)

// Page is a part of a ledger, with the moment at which it was read.
type Page struct {
	At      time.Time
	Entries []Entry
}

// Ledger gives the entries of a pair of the limiter that are in the window, oldest first, in pages of 2,000, a round trip each. Unlike
// the library's Ledger it knows the formats of entries, and reads what has been left behind without a configuration: then
// all of it.
func (l *Limiter) Ledger(ctx context.Context, s Store, p *Pair) iter.Seq2[Page, error] {
	return func(yield func(Page, error) bool) {
		node, err := s.MasterOf(ctx, p.LedgerKey)
		for c := (cursor{}); err == nil && p.LedgerKind == kindZset; {
			var page Page
			if page, c, err = l.page(ctx, node, p, c); err != nil || len(page.Entries) == 0 {
				break
			}
			if !yield(page, nil) || len(page.Entries) < nextPage {
				return
			}
		}
		if err != nil {
			yield(Page{}, err)
		}
	}
}

func (l *Limiter) page(ctx context.Context, node store.Node, p *Pair, c cursor) (Page, cursor, error) {
	least := math.Inf(-1)
	if interval := l.Stored.Config.Rate.Interval; l.Stored.valid() {
		least = floor(l.At) - float64(interval.Milliseconds()) + 1
	}
	zs, at, err := readPage(ctx, node, p.LedgerKey, c, least)
	if err != nil {
		return Page{}, c, err
	}
	page := Page{At: at, Entries: make([]Entry, len(zs))}
	for i, z := range zs {
		page.Entries[i] = newEntry(z, p.Client, at)
	}
	return page, c.after(zs), nil
}
