package cli_test

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sluice-rate/sluice"
)

// entry is a line of "limiter ledger -o json".
type entry struct {
	AtMS    int64 `json:"at_ms"`
	Permits int64
	Receipt string
	Kind    string
	Client  string
	Format  string
}

// entries runs "limiter ledger -o json".
func (w *world) entries(status int, args ...string) (all []entry) {
	w.t.Helper()
	r := w.want(status, append([]string{"limiter", "ledger", "-o", "json"}, args...)...)
	if r.stderr != "" {
		w.t.Errorf("stderr is %q, want nothing", r.stderr)
	}
	for line := range strings.Lines(r.stdout) {
		var e entry
		d := json.NewDecoder(strings.NewReader(line))
		d.DisallowUnknownFields()
		if err := d.Decode(&e); err != nil {
			w.t.Fatalf("%q: %v", line, err)
		}
		all = append(all, e)
	}
	return all
}

func TestLimiterLedger_json_has_the_entries_of_the_library(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.redissonConfig("mail", 10, 3_600_000, 0)
	w.redissonState("{mail}:value", "{mail}:permits", 5, aged{time.Minute, redissonEntry(1, 2)}, aged{2 * time.Hour, redissonEntry(2, 3)})
	w.want(0, "acquire", "mail", "-n", "8")
	if _, err := w.client.Limiter("mail").Reserve(t.Context(), 1, 2*time.Hour); err != nil {
		t.Fatal(err)
	}
	var want []entry
	for e, err := range w.client.Limiter("mail").Ledger(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		want = append(want, entry{AtMS: e.At.UnixMilli(), Permits: e.Permits, Receipt: e.Receipt.String(), Kind: string(e.Kind)})
	}
	got := w.entries(0, "mail")
	if len(got) != 3 || !slices.Equal(got, want) {
		t.Errorf("the ledger is %+v, want %+v", got, want)
	}
	kinds := []sluice.Kind{sluice.KindForeign, sluice.KindGrant, sluice.KindReservation}
	for i, e := range got {
		if e.Kind != string(kinds[i]) {
			t.Errorf("entry %d is a %s, want a %s", i, e.Kind, kinds[i])
		}
	}
	first, _, _ := strings.Cut(w.want(0, "limiter", "ledger", "mail", "-o", "json").stdout, "\n")
	wantFields(t, object(t, first+"\n"), map[string]any{
		"at_ms": float64(want[0].AtMS), "permits": 2.0, "kind": "foreign", "receipt": "01aaabacadaeafb0b1b2b3b4b5b6b7b802000000",
	})
}

func TestLimiterLedger_text(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.redissonConfig("mail", 4, 3_600_000, 0)
	w.redissonState("{mail}:value", "{mail}:permits", 1, aged{time.Minute + 500*time.Millisecond, redissonEntry(1, 2)}, aged{time.Second, unhex("81f3dd5e01000000")})
	w.want(0, "acquire", "mail")
	if _, err := w.client.Limiter("mail").Reserve(t.Context(), 1, 2*time.Hour); err != nil {
		t.Fatal(err)
	}
	const date = `\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{3}`
	want := regexp.MustCompile(`^DATE \(UTC\) +AGE  PERMITS  KIND         RECEIPT
` + date + `  +1m1s        2  foreign      01aaabacadaeafb0b1b2b3b4b5b6b7b802000000
` + date + `  +1\.\d*s        1  foreign      \(Redisson 3\.13\.3 to 3\.16\.3\)
` + date + `  +\d+m?s        1  grant        [0-9a-f]{40}
` + date + `  in 58m(59|60)s        1  reservation  [0-9a-f]{40}
$`)
	if r := w.want(0, "limiter", "ledger", "mail"); !want.MatchString(r.stdout) || r.stderr != "" {
		t.Errorf("stdout is\n%sstderr %q, want %s", r.stdout, r.stderr, want)
	}
}

func TestLimiterLedger_names_the_formats_of_old_versions(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.redissonConfig("mail", 1000, 3_600_000, 0)
	formats := map[string]string{
		"81f3dd5e" + "02010000":                                "Redisson 3.13.3 to 3.16.3",
		"0800000000000000" + "a0a1a2a3a4a5a6a7" + "02010000":   "Redisson 3.16.4 to 3.16.8",
		"08" + "a0a1a2a3a4a5a6a7" + "02010000":                 "Redisson 3.17.0 to 3.20.1",
		"10" + "b0b1b2b3b4b5b6b7b8b9babbbcbdbebf" + "02010000": "",
		"04" + "a0a1a2a3" + "02010000":                         "unknown, but readable",
		"09" + "a0a1a2a3a4a5a6a7" + "02010000":                 "unknown",
	}
	for member, format := range formats {
		w.redis("DEL", "{mail}:permits")
		w.redis("ZADD", "{mail}:permits", w.now().UnixMilli(), unhex(member))
		got, want := w.entries(0, "mail"), int64(258)
		if format == "unknown" {
			want = 0
		}
		if len(got) != 1 || got[0].Format != format || got[0].Kind != "foreign" || got[0].Permits != want {
			t.Errorf("%s: the ledger is %+v, want %d permits in the format %q", member, got, want, format)
		}
	}
}

func TestLimiterLedger_of_clients(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.redissonConfig("api", 10, 3_600_000, 1)
	for i, id := range redissonIDs {
		w.redissonState("{api}:value:"+id, "{api}:permits:"+id, 9-i, aged{time.Minute, redissonEntry(1, uint32(1+i))})
	}
	got := w.entries(0, "api")
	if len(got) != 2 || got[0].Client != redissonIDs[0] || got[0].Permits != 1 || got[1].Client != redissonIDs[1] || got[1].Permits != 2 {
		t.Errorf("the ledger is %+v, want one entry of each client", got)
	}
	if got := w.entries(0, "api", "-client", redissonIDs[1]); len(got) != 1 || got[0].Permits != 2 {
		t.Errorf("the ledger of one client is %+v, want one entry", got)
	}
	if r := w.want(0, "limiter", "ledger", "api"); !strings.Contains(r.stdout, "  CLIENT\n") || strings.Count(r.stdout, redissonIDs[0]) != 1 {
		t.Errorf("stdout is %q, want a column of clients", r.stdout)
	}
}

func TestLimiterLedger_without_a_limiter(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	if r := w.want(2, "limiter", "ledger", "mail"); r.stdout != "mail: no such limiter\n" || r.stderr != "" {
		t.Errorf("stdout is %q, stderr %q", r.stdout, r.stderr)
	}
	if got := w.entries(2, "mail"); len(got) != 0 {
		t.Errorf("the ledger is %+v, want nothing", got)
	}
	w.redissonState("{mail}:value", "{mail}:permits", 9, aged{300 * time.Hour, redissonEntry(1, 3)})
	if got := w.entries(2, "mail"); len(got) != 1 || got[0].Permits != 3 {
		t.Errorf("the ledger is %+v, want what is left without a configuration", got)
	}
	w.want(0, "limiter", "set", "sms", "-rate", "3/1h")
	if r := w.want(0, "limiter", "ledger", "sms"); r.stdout != "" {
		t.Errorf("stdout is %q, want nothing of a limiter that nobody has used", r.stdout)
	}
}

func TestLimiterLedger_of_a_hundred_thousand_entries_comes_in_pages(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	const entries = 100_000
	w.redissonConfig("mail", 2*entries, 3_600_000, 0)
	w.longLedger("{mail}:permits", entries)
	w.redis("CONFIG", "RESETSTAT")
	got := w.entries(0, "mail")
	seen := make(map[string]bool)
	for i, e := range got {
		if seen[e.Receipt] = true; i > 0 && e.AtMS < got[i-1].AtMS {
			t.Fatalf("entry %d is of %d, after one of %d", i, e.AtMS, got[i-1].AtMS)
		}
	}
	if len(got) != entries || len(seen) != entries {
		t.Errorf("%d entries, %d of them different, want %d", len(got), len(seen), entries)
	}
	want := fmt.Sprintf("calls=%d,", entries/2000+1) // an empty one at the end
	if pages := w.conn.Info(t, "commandstats")["cmdstat_zrangebyscore"]; !strings.HasPrefix(pages, want) {
		t.Errorf("ZRANGEBYSCORE: %s, want %s", pages, want)
	}
}
