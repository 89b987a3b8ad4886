package sluice

import (
	"context"
	"iter"
	"time"

	"github.com/sluice-rate/sluice/internal/ledger"
)

// Kind says what an entry of the ledger is.
type Kind string

const (
	KindGrant       Kind = "grant"       // made by this library, in the window
	KindReservation Kind = "reservation" // dated in the future: its owner waits
	KindMerged      Kind = "merged"      // several grants in one, see Limiter.Ledger; no receipt names it
	KindForeign     Kind = "foreign"     // made by another library, such as Redisson
)

// Entry is one grant in a limiter's ledger.
type Entry struct {
	At      time.Time // from when on it counts, by the store's clock, in milliseconds
	Permits int64
	Kind    Kind
	Receipt Receipt // zero where none can name it
}

// LedgerEntry makes the Entry of what is stored: a score in 1/1024 ms, the ID and the permits, seen at a
// moment of the store's clock. It is meant for engines.
func LedgerEntry(score int64, id [16]byte, permits uint32, now time.Time) Entry {
	stored := ledger.Entry{Score: score, Member: ledger.Member{ID: id, Permits: permits}}
	e := Entry{At: time.UnixMilli(stored.Date()), Permits: int64(permits), Kind: KindGrant}
	switch {
	case !stored.Own():
		e.Kind = KindForeign
	case stored.Merged():
		e.Kind = KindMerged
		return e
	case stored.Ahead(now.UnixMicro()):
		e.Kind = KindReservation
	}
	e.Receipt = Receipt{stored.Member}
	return e
}

// ledgerPage is how many entries Ledger reads in one round trip.
const ledgerPage = 500

// Ledger lists the grants that count, oldest first, reservations at the end. It is read in pages of 500, a
// round trip each: one in which others take and give back meanwhile shows each entry as it was when its page was read.
// A ledger holds at most 2,000 grants and one entry for each waiter: beyond that, neighbours in one thousandth
// of the interval are merged. The error, which ends the list, is ErrNotInitialized if there is no configuration.
func (l *Limiter) Ledger(ctx context.Context) iter.Seq2[Entry, error] {
	return func(yield func(Entry, error) bool) {
		for cursor := ""; ; {
			s, err := l.inspect(ctx, "ledger", Page{Limit: ledgerPage, Cursor: cursor})
			if err != nil {
				yield(Entry{}, err)
				return
			}
			for _, e := range s.Entries {
				if !yield(e, nil) {
					return
				}
			}
			if cursor = s.Next; cursor == "" {
				return
			}
		}
	}
}
