package survey_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/sluice-rate/sluice"
	"github.com/sluice-rate/sluice/cmd/sluice/internal/store"
	"github.com/sluice-rate/sluice/cmd/sluice/internal/survey"
	"github.com/sluice-rate/sluice/internal/redistest"
)

// open opens a store on a server of its own.
func open(t *testing.T) (*store.Store, *redistest.Conn) {
	t.Helper()
	server := redistest.Start(t)
	s, err := store.Open(server.URL())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s, redistest.Dial(t, server.Addr())
}

func TestFind_does_not_read_ledgers(t *testing.T) {
	t.Parallel()
	s, conn := open(t)
	l := sluice.New(s, sluice.WithClientID("ann")).Limiter("api")
	if _, err := l.TrySetRate(t.Context(), sluice.Config{Rate: sluice.Per(3, time.Hour), Mode: sluice.PerClient}); err != nil {
		t.Fatal(err)
	}
	if _, err := l.TryAcquire(t.Context(), 2); err != nil {
		t.Fatal(err)
	}
	conn.Str(t, "CONFIG", "RESETSTAT")
	found, err := survey.Find(t.Context(), s, "api")
	if err != nil || !found.Left() || len(found.Pairs) != 1 || found.Pairs[0].Client != "ann" {
		t.Errorf("Find = %+v, %v, want the limiter and its client", found, err)
	}
	if stats := conn.Info(t, "commandstats"); stats["cmdstat_zrange"] != "" {
		t.Errorf("ZRANGE: %s, want none", stats["cmdstat_zrange"])
	}
	read, err := survey.Read(t.Context(), s, "api")
	if err != nil || len(read.Pairs) != 1 || read.Pairs[0].Granted != 2 || read.Pairs[0].Available != 1 || len(read.Problems()) != 0 {
		t.Errorf("Read = %+v, %v, want 2 permits of ann and no problems", read, err)
	}
}

// An entry may be added, given back or merged while a ledger is read page by page: the others come once each all the same.
func TestLedger_is_read_on_behind_the_entries_that_were_read(t *testing.T) {
	t.Parallel()
	s, conn := open(t)
	conn.Int(t, "HSET", "mail", "rate", 10_000, "interval", 3_600_000, "type", 0)
	now := time.Now().UnixMilli()
	const entries = 5000
	for i := range entries {
		conn.Int(t, "ZADD", "{mail}:permits", now-int64((entries-i)/900), fmt.Appendf(nil, "\x10%016d\x01\x00\x00\x00", i))
	}
	l, err := survey.Find(t.Context(), s, "mail")
	if err != nil {
		t.Fatal(err)
	}
	seen := make(map[string]bool)
	for page, err := range l.Ledger(t.Context(), s, &l.Pairs[0]) {
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range page.Entries {
			if seen[e.Receipt.String()] {
				t.Errorf("%v comes twice", e.Receipt)
			}
			seen[e.Receipt.String()] = true
		}
		conn.Int(t, "ZADD", "{mail}:permits", now-1_000_000, fmt.Appendf(nil, "\x10%016d\x01\x00\x00\x00", entries+len(seen))) // far in front
	}
	if len(seen) != entries {
		t.Errorf("%d entries, want %d", len(seen), entries)
	}
}

func TestList_stops_when_the_caller_has_enough(t *testing.T) {
	t.Parallel()
	s, conn := open(t)
	for i := range 3000 {
		conn.Int(t, "HSET", fmt.Sprint("limiter", i), "rate", 1, "interval", 1000, "type", 0)
	}
	conn.Str(t, "CONFIG", "RESETSTAT")
	enough := fmt.Errorf("enough")
	if err := survey.List(t.Context(), s, "", func([]survey.Found) error { return enough }); err != enough {
		t.Errorf("List = %v, want the caller's error", err)
	}
	if scans := conn.Info(t, "commandstats")["cmdstat_scan"]; len(scans) < 8 || scans[:8] != "calls=1," {
		t.Errorf("SCAN: %s, want one step", scans)
	}
}
