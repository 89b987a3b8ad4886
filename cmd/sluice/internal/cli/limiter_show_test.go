package cli_test

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// shown is what "limiter show -o json" prints.
type shown struct {
	Name                                 string
	Exists                               bool
	Mode                                 string
	Rate                                 int64
	IntervalMS                           int64 `json:"interval_ms"`
	KeepAliveMS                          int64 `json:"keep_alive_ms"`
	TTLMS                                int64 `json:"ttl_ms"`
	Available, Granted, Waiting, Entries int64
	Clients                              []shownClient
	Problems                             []string
}

type shownClient struct {
	ID                                   string
	Value                                string
	Available, Granted, Waiting, Entries int64
	TTLMS                                int64 `json:"ttl_ms"`
}

// show runs "limiter show -o json".
func (w *world) show(status int, name string) shown {
	w.t.Helper()
	return w.showAt(w.server.URL(), status, name)
}

func (w *world) showAt(url string, status int, name string) (v shown) {
	w.t.Helper()
	r := run(w.t.Context(), url, "limiter", "show", "-o", "json", "--", name)
	if r.status != status || r.stderr != "" {
		w.t.Fatalf("limiter show %s: exit status %d, stderr %q, want %d", name, r.status, r.stderr, status)
	}
	d := json.NewDecoder(strings.NewReader(r.stdout))
	d.DisallowUnknownFields()
	if err := d.Decode(&v); err != nil {
		w.t.Fatalf("%q: %v", r.stdout, err)
	}
	return v
}

func TestLimiterShow_json(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.want(0, "limiter", "set", "mail", "-rate", "3/1h", "-keep-alive", "2h")
	w.want(0, "acquire", "mail", "-n", "2")
	m := object(t, w.want(0, "limiter", "show", "mail", "-o", "json").stdout)
	if ttl, _ := m["ttl_ms"].(float64); ttl < 7_190_000 || ttl > 7_200_000 {
		t.Errorf("ttl_ms is %v, want about two hours", m["ttl_ms"])
	}
	for _, list := range []string{"clients", "problems"} {
		if l, ok := m[list].([]any); !ok || len(l) != 0 {
			t.Errorf("%s is %v, want []", list, m[list])
		}
		delete(m, list)
	}
	wantFields(t, m, map[string]any{
		"name": "mail", "exists": true, "mode": "overall", "rate": 3.0, "interval_ms": 3_600_000.0, "keep_alive_ms": 7_200_000.0, "ttl_ms": m["ttl_ms"],
		"available": 1.0, "granted": 2.0, "waiting": 0.0, "entries": 1.0,
	})
}

func TestLimiterShow_a_limiter_that_nobody_has_used(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.want(0, "limiter", "set", "mail", "-rate", "3/5s")
	want := shown{Name: "mail", Exists: true, Mode: "overall", Rate: 3, IntervalMS: 5000, Available: 3, Clients: []shownClient{}, Problems: []string{}}
	if got := w.show(0, "mail"); !reflect.DeepEqual(got, want) {
		t.Errorf("show is %+v, want %+v", got, want)
	}
}

func TestLimiterShow_text(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.want(0, "limiter", "set", "mail", "-rate", "3/1h")
	w.want(0, "acquire", "mail", "-n", "2")
	want := `mail: 3/1h, mode overall, kept for ever
  available  1 of 3
  granted    2 permits
  waiting    none
  entries    1
  expires    never

no problems
`
	if r := w.want(0, "limiter", "show", "mail"); r.stdout != want || r.stderr != "" {
		t.Errorf("stdout is %q, stderr %q, want %q", r.stdout, r.stderr, want)
	}
	w.conn.Int(t, "DEL", "{mail}:value")
	r := w.want(0, "limiter", "show", "mail")
	if want := "\n1 problem:\n  - the value {mail}:value is lost, though the ledger holds 1 entry: "; !strings.Contains(r.stdout, want) {
		t.Errorf("stdout is %q, want %q in it", r.stdout, want)
	}
	for line := range strings.Lines(r.stdout) {
		if len(line) > 101 {
			t.Errorf("a line of %d characters: %s", len(line), line)
		}
	}
}

func TestLimiterShow_who_waits(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.want(0, "acquire", "mail", "-rate", "3/1h", "-n", "2")
	if _, err := w.client.Limiter("mail").Reserve(t.Context(), 2, 2*time.Hour); err != nil {
		t.Fatal(err)
	}
	got := w.show(0, "mail")
	if got.Available != 0 || got.Granted != 2 || got.Waiting != 1 || got.Entries != 2 || len(got.Problems) != 0 {
		t.Errorf("show is %+v, want that one waits and nothing is wrong", got)
	}
}

func TestLimiterShow_of_a_name_that_is_not_there(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	if r := w.want(2, "limiter", "show", "mail"); r.stdout != "mail: no such limiter\n" || r.stderr != "" {
		t.Errorf("stdout is %q, stderr %q", r.stdout, r.stderr)
	}
	want := shown{Name: "mail", Clients: []shownClient{}, Problems: []string{}}
	if got := w.show(2, "mail"); !reflect.DeepEqual(got, want) {
		t.Errorf("show is %+v, want %+v", got, want)
	}
	if text := complaint(t, w.run("limiter", "show", "")); !strings.Contains(text, `name is "", but must be not empty`) {
		t.Errorf("stderr is %q, want that the name is empty", text)
	}
}

func TestLimiterShow_names_cannot_steer_the_terminal(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	const name = "a\x1b[31mb\n"
	w.want(0, "limiter", "set", name, "-rate", "3/5s")
	for _, args := range [][]string{{"show", name}, {"list"}} {
		r := w.want(0, append([]string{"limiter"}, args...)...)
		if !strings.Contains(r.stdout, `"a\x1b[31mb\n"`) || strings.Contains(r.stdout, "\x1b") {
			t.Errorf("stdout is %q, want the name with quotes", r.stdout)
		}
	}
}

func TestLimiterShow_agrees_with_the_library_on_what_is_available(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.redissonConfig("mail", 20, 3_600_000, 0)
	member := byte(0)
	for _, step := range []func(){
		func() {},
		func() { w.want(0, "acquire", "mail", "-n", "3") },
		func() {
			w.conn.Int(t, "ZADD", "{mail}:permits", w.now().Add(time.Hour).UnixMilli(), redissonEntry(1, 2))
		},
		func() {
			w.conn.Int(t, "ZADD", "{mail}:permits", w.now().Add(-2*time.Hour).UnixMilli(), redissonEntry(2, 2))
		},
		func() { w.conn.Str(t, "SET", "{mail}:value", 19) },
		func() { w.conn.Int(t, "DEL", "{mail}:value") },
		func() { w.conn.Int(t, "ZADD", "{mail}:permits", w.now().UnixMilli(), "nonsense nonsense nonsense") },
		func() { w.want(0, "acquire", "mail", "-n", "15") },
		func() { w.client.Limiter("mail").Reserve(t.Context(), 5, 2*time.Hour) },
		func() { w.want(0, "limiter", "set", "mail", "-update", "-rate", "5/1h") },
		func() { w.conn.Int(t, "DEL", "{mail}:permits") },
	} {
		step()
		member++
		if got, want := w.show(0, "mail").Available, w.available("mail"); got != want {
			t.Errorf("step %d: show says %d available, the library %d", member, got, want)
		}
	}
}

func TestLimiterShow_of_a_limiter_that_Redisson_wrote(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.redissonConfig("order:submit", 10, 3_600_000, 0)
	w.redissonState("{order:submit}:value", "{order:submit}:permits", 6, aged{time.Minute, redissonEntry(1, 1)}, aged{time.Second, redissonEntry(2, 3)})
	want := shown{
		Name: "order:submit", Exists: true, Mode: "overall", Rate: 10, IntervalMS: 3_600_000,
		Available: 6, Granted: 4, Entries: 2, Clients: []shownClient{}, Problems: []string{},
	}
	if got := w.show(0, "order:submit"); !reflect.DeepEqual(got, want) {
		t.Errorf("show is %+v, want %+v", got, want)
	}
}

func TestLimiterShow_of_the_clients_of_Redisson(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"api", "user:{42}:api", "a*[b]?"} {
		w := newWorld(t)
		base := "{" + name + "}"
		if strings.Contains(name, "{") {
			base = name
		}
		w.redissonConfig(name, 10, 3_600_000, 1)
		want := shown{
			Name: name, Exists: true, Mode: "client", Rate: 10, IntervalMS: 3_600_000,
			Available: 10, Granted: 7, Entries: 3, Problems: []string{},
		}
		w.redissonState(base+":value:"+redissonIDs[0], base+":permits:"+redissonIDs[0], 9, aged{time.Minute, redissonEntry(1, 1)})
		w.redissonState(base+":value:"+redissonIDs[1], base+":permits:"+redissonIDs[1], 4, aged{time.Minute, redissonEntry(1, 1)}, aged{time.Second, redissonEntry(2, 5)})
		w.redissonState("{axbx}:value:x", "{axbx}:permits:x", 4, aged{time.Minute, redissonEntry(1, 6)}) // another limiter's
		want.Clients = []shownClient{
			{ID: redissonIDs[0], Value: "9", Available: 9, Granted: 1, Entries: 1},
			{ID: redissonIDs[1], Value: "4", Available: 4, Granted: 6, Entries: 2},
		}
		if got := w.show(0, name); !reflect.DeepEqual(got, want) {
			t.Errorf("show is %+v, want %+v", got, want)
		}
		text := w.want(0, "limiter", "show", name).stdout
		for _, want := range []string{"10 of 10 to each new client", "\nCLIENT  ", "\n" + redissonIDs[1] + "          4        6        0        2      4  never\n", "\nno problems\n"} {
			if !strings.Contains(text, want) {
				t.Errorf("stdout is %q, want %q in it", text, want)
			}
		}
	}
}

func TestLimiterShow_of_many_clients(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.redissonConfig("api", 10, 3_600_000, 1)
	var want []shownClient
	for i := range 100 {
		id := fmt.Sprintf("client-%02d", i)
		w.redissonState("{api}:value:"+id, "{api}:permits:"+id, 9, aged{time.Minute, redissonEntry(1, 1)})
		want = append(want, shownClient{ID: id, Value: "9", Available: 9, Granted: 1, Entries: 1})
	}
	if got := w.show(0, "api"); !slices.Equal(got.Clients, want) || got.Granted != 100 || len(got.Problems) != 0 {
		t.Errorf("show is %+v, want a hundred clients", got)
	}
}

func TestLimiterShow_of_a_ledger_longer_than_a_page(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	const entries = 10_000
	w.redissonConfig("mail", 20_000, 3_600_000, 0)
	w.longLedger("{mail}:permits", entries)
	w.conn.Str(t, "SET", "{mail}:value", 20_000-entries)
	got := w.show(0, "mail")
	if got.Entries != entries || got.Granted != entries || got.Available != 20_000-entries || len(got.Problems) != 0 {
		t.Errorf("show is %+v, want %d entries and nothing wrong", got, entries)
	}
	w.conn.Str(t, "SET", "{mail}:value", 20_000-entries+5)
	if got := w.show(0, "mail").Problems; len(got) != 1 || !strings.Contains(got[0], "it disagrees by 5") {
		t.Errorf("the problems are %q, want that the value disagrees", got)
	}
}

// longLedger stores many entries of Redisson, seven of each millisecond.
func (w *world) longLedger(key string, entries int) {
	w.t.Helper()
	now := w.now().UnixMilli()
	for first := 0; first < entries; first += 1000 {
		args := []any{"ZADD", key}
		for i := first; i < first+1000; i++ {
			member := redissonEntry(byte(i), 1)
			member[2], member[3] = byte(i>>8), byte(i>>16)
			args = append(args, now-int64((entries-i)/7), member)
		}
		w.conn.Int(w.t, args...)
	}
}

func TestLimiterShow_of_a_limiter_in_use_sees_one_moment(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.want(0, "limiter", "set", "mail", "-rate", "50/50ms")
	ctx, cancel := context.WithCancel(t.Context())
	var users sync.WaitGroup
	defer users.Wait()
	defer cancel()
	for i := range 4 {
		users.Go(func() {
			l := w.client.Limiter("mail")
			for ctx.Err() == nil {
				if d, err := l.TryAcquireFor(ctx, int64(1+i), 20*time.Millisecond); err == nil && d.Allowed && i%2 == 0 {
					l.Refund(ctx, d.Receipt)
				}
			}
		})
	}
	for range 200 {
		v := w.show(0, "mail")
		// A caller in line whose date is the millisecond that has begun counts as granted, before the one that it waits for has left.
		if len(v.Problems) != 0 || v.Waiting == 0 && v.Available != max(0, 50-v.Granted) {
			t.Fatalf("show is %+v, want 50 permits between them and nothing wrong", v)
		}
	}
}
