package cli_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sluice-rate/sluice/internal/redistest"
)

// listed is a line of "limiter list -o json".
type listed struct {
	Name        string
	Exists      bool
	Mode        string
	Rate        int64
	IntervalMS  int64 `json:"interval_ms"`
	KeepAliveMS int64 `json:"keep_alive_ms"`
	TTLMS       int64 `json:"ttl_ms"`
	Problem     string
}

// list runs "limiter list -o json".
func list(t *testing.T, url string, args ...string) (all []listed) {
	t.Helper()
	r := run(t.Context(), url, append([]string{"limiter", "list", "-o", "json"}, args...)...)
	if r.status != 0 || r.stderr != "" {
		t.Fatalf("limiter list: exit status %d, stderr %q, want 0", r.status, r.stderr)
	}
	for line := range strings.Lines(r.stdout) {
		var v listed
		d := json.NewDecoder(strings.NewReader(line))
		d.DisallowUnknownFields()
		if err := d.Decode(&v); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		all = append(all, v)
	}
	return all
}

func names(all []listed) (names []string) {
	for _, v := range all {
		names = append(names, v.Name)
	}
	return names
}

func TestLimiterList_shows_limiters_and_nothing_else(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	if r := w.want(0, "limiter", "list"); r.stdout != "" || r.stderr != "" {
		t.Errorf("of an empty Redis: stdout %q, stderr %q, want nothing", r.stdout, r.stderr)
	}
	w.want(0, "limiter", "set", "mail", "-rate", "3/5s", "-keep-alive", "1h")
	w.redissonConfig("order:submit", 10, 3_600_000, 1)
	w.redis("HSET", "old", "rate", 7, "interval", 1000, "type", 0) // before 3.38
	w.want(0, "acquire", "mail")
	w.redis("HSET", "car", "type", "sedan", "colour", "red")
	w.redis("HSET", "loan", "type", "fixed", "rate", "3.9 %", "interval", "month")
	w.redis("HSET", "empty", "x", "y")
	w.redis("SET", "text", "x")
	w.redis("ZADD", "{game}:permits", 1, "somebody else")
	w.redis("ZADD", "permits", 1, "somebody else")
	w.redis("ZADD", "x:permits", 1, redissonEntry(1, 1)) // no hash tag, so it is no ledger
	got := list(t, w.server.URL())
	for i := range got {
		got[i].TTLMS = (got[i].TTLMS + 10_000) / 60_000 // in minutes
	}
	want := []listed{
		{Name: "mail", Exists: true, Mode: "overall", Rate: 3, IntervalMS: 5000, KeepAliveMS: 3_600_000, TTLMS: 60},
		{Name: "old", Exists: true, Mode: "overall", Rate: 7, IntervalMS: 1000},
		{Name: "order:submit", Exists: true, Mode: "client", Rate: 10, IntervalMS: 3_600_000},
	}
	if !slices.Equal(got, want) {
		t.Errorf("the list is %+v, want %+v", got, want)
	}
}

func TestLimiterList_text(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.want(0, "limiter", "set", "mail", "-rate", "3/5s")
	w.want(0, "limiter", "set", "order:submit", "-rate", "1000/90m", "-mode", "client")
	w.redissonState("{lost}:value", "{lost}:permits", 9, aged{time.Minute, redissonEntry(1, 1)})
	want := `NAME          RATE        MODE     KEEP-ALIVE  EXPIRES  PROBLEM
lost          -           -        -           -        there is no configuration, but a ledger is left
mail          3/5s        overall  none        never
order:submit  1000/1h30m  client   none        never
`
	if r := w.want(0, "limiter", "list"); r.stdout != want || r.stderr != "" {
		t.Errorf("stdout is\n%swant\n%sstderr %q", r.stdout, want, r.stderr)
	}
}

func TestLimiterList_of_what_is_damaged(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.redis("HSET", "garbage", "rate", "many", "interval", 1000, "type", 0)
	w.redissonState("{garbage}:value", "{garbage}:permits", 9, aged{time.Minute, redissonEntry(1, 1)})
	w.redissonState("user:{42}:api:value", "user:{42}:api:permits", 9, aged{time.Minute, redissonEntry(1, 1)})
	for _, id := range redissonIDs {
		w.redissonState("{api}:value:"+id, "{api}:permits:"+id, 9, aged{time.Minute, redissonEntry(1, 1)})
	}
	want := []listed{
		{Name: "api", Problem: "there is no configuration, but a ledger is left"},
		{Name: "garbage", Exists: true, Mode: "overall", IntervalMS: 1000, Problem: `the configuration has a field rate that is "many", but has to be a number of permits of at least 1`},
		{Name: "user:{42}:api", Problem: "there is no configuration, but a ledger is left"},
	}
	if got := list(t, w.server.URL()); !slices.Equal(got, want) {
		t.Errorf("the list is %+v, want %+v", got, want)
	}
}

func TestLimiterList_match(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, name := range []string{"mail", "mail:a", "mail:b", "{mail}:c", "sms", "a*b", "axb"} {
		w.want(0, "limiter", "set", name, "-rate", "3/5s")
	}
	w.redissonState("{mail:d}:value", "{mail:d}:permits", 9, aged{time.Minute, redissonEntry(1, 1)})
	w.redissonState("mail:{e}:value", "mail:{e}:permits", 9, aged{time.Minute, redissonEntry(1, 1)})
	for match, want := range map[string]string{
		"mail":     "mail",
		"mail*":    "mail mail:a mail:b mail:d mail:{e}",
		"mail:[a]": "mail:a",
		"*mail*c":  "{mail}:c",
		"?ms":      "sms",
		`a\*b`:     "a*b",
		"a*b":      "a*b axb",
		"nothing":  "",
		"*":        "a*b axb mail mail:a mail:b mail:d mail:{e} sms {mail}:c",
	} {
		if got := strings.Join(names(list(t, w.server.URL(), "-match", match)), " "); got != want {
			t.Errorf("-match %s: %q, want %q", match, got, want)
		}
	}
}

func TestLimiterList_of_many_among_more_keys(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var want []string
	for i := range 2500 {
		name := fmt.Sprintf("limiter-%04d", i)
		want = append(want, name)
		w.redissonConfig(name, 10, 1000, 0)
		w.redis("ZADD", "{"+name+"}:permits", w.now().UnixMilli(), redissonEntry(1, 1))
		w.redis("SET", "other-"+name, "x")
	}
	w.redis("CONFIG", "RESETSTAT")
	got := names(list(t, w.server.URL()))
	slices.Sort(got) // they come a thousand at a time
	if !slices.Equal(got, want) {
		t.Errorf("%d limiters, want %d, each once", len(got), len(want))
	}
	stats := w.conn.Info(t, "commandstats")
	if _, found := stats["cmdstat_keys"]; found || stats["cmdstat_scan"] == "" {
		t.Errorf("the commands are %v, want SCAN and not KEYS", stats)
	}
	lines := strings.Split(w.want(0, "limiter", "list").stdout, "\n")
	if len(lines) != 2500+2 || strings.Count(strings.Join(lines, "\n"), "NAME") != 1 {
		t.Errorf("%d lines of text, want 2500 and one header", len(lines))
	}
}

func TestLimiter_commands_on_a_cluster(t *testing.T) {
	t.Parallel()
	nodes := redistest.StartCluster(t, 3)
	url := "redis://" + nodes[0].Addr() + "," + nodes[1].Addr() + "?read_timeout=20s" // the machine may be busy
	w := &world{t: t, server: nodes[0]}
	ok := func(status int, args ...string) result {
		t.Helper()
		r := run(t.Context(), url, args...)
		if r.status != status {
			t.Fatalf("sluice %q: exit status %d, want %d\n%s", args, r.status, status, r.stderr)
		}
		return r
	}
	var want []string
	for i := range 30 {
		name := fmt.Sprintf("limiter-%02d", i)
		want = append(want, name)
		ok(0, "limiter", "set", name, "-rate", "3/1h", "-mode", []string{"overall", "client"}[i%2])
		ok(0, "acquire", name, "-client", "ann", "-n", "2")
	}
	if got := names(list(t, url)); !slices.Equal(got, want) {
		t.Errorf("the list is %q, want %q", got, want)
	}
	for i, name := range want {
		v := w.showAt(url, 0, name)
		if v.Granted != 2 || len(v.Problems) != 0 || len(v.Clients) != i%2 {
			t.Errorf("show %s is %+v, want what ann has", name, v)
		}
	}
	for _, name := range want[:2] {
		if r := ok(0, "limiter", "ledger", name, "-o", "json"); strings.Count(r.stdout, `"permits":2`) != 1 {
			t.Errorf("ledger %s is %q", name, r.stdout)
		}
		ok(0, "limiter", "release", name, "-n", "1", "-client", "ann")
		ok(0, "limiter", "delete", name)
		if v := w.showAt(url, 2, name); len(v.Problems) != 0 {
			t.Errorf("after delete show %s is %+v, want nothing left", name, v)
		}
	}
	if text := complaint(t, run(t.Context(), nodes[0].URL(), "limiter", "list")); !strings.Contains(text, "is one node of a cluster; for a cluster, name several of its nodes") {
		t.Errorf("stderr is %q, want that one node is not all", text)
	}
	// Keys in two slots: Redisson can configure such a limiter, but not use it.
	for _, node := range nodes {
		redistest.Dial(t, node.Addr()).Do(t.Context(), "HSET", "a}b", "rate", 1, "interval", 1000, "type", 0)
	}
	if v := w.showAt(url, 0, "a}b"); !v.Exists || len(v.Problems) != 1 || !strings.Contains(v.Problems[0], "two cluster slots") {
		t.Errorf("show a}b is %+v, want that its keys lie in two slots", v)
	}
}
