package cli_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
)

// A ledger of a minute ago, in which 4 permits of 10 an hour are in use, and one fault.
const (
	config, value, ledger = "mail", "{mail}:value", "{mail}:permits"
	future                = 90 * time.Minute
)

// faults are what can be wrong with the keys, and what is said about it.
var faults = []struct {
	name   string
	spoil  func(w *world)
	status int
	want   []string // what each problem says, with " … " between its parts
}{
	{"nothing", func(w *world) {}, 0, nil},
	{"value lost", func(w *world) { w.redis("DEL", value) }, 0, []string{
		"the value {mail}:value is lost, though the ledger holds 2 entries … grants the whole rate once more … the next take of this library counts it",
	}},
	{"ledger lost", func(w *world) { w.redis("DEL", ledger) }, 0, []string{
		"the ledger {mail}:permits is lost, though the value says that 4 permits of 10 are in use … fails for good … the next take",
	}},
	{"value and ledger lost", func(w *world) { w.redis("DEL", value, ledger) }, 0, nil},
	{"a window of Redisson before 3.13.3", func(w *world) {
		w.redis("DEL", ledger, config)
		w.redis("HSET", config, "rate", 10, "interval", 3_600_000, "type", 0)
		w.redis("PEXPIRE", value, 60_000)
	}, 0, []string{
		"the ledger {mail}:permits is lost … or a Redisson of 3.13.2 or older wrote it",
		"the value {mail}:value lives … but the configuration for ever",
	}},
	{"value too high", func(w *world) { w.redis("SET", value, 9) }, 0, []string{
		"the value {mail}:value is 9, but the ledger leaves 6 of 10: it disagrees by 3 … up to 3 permits too many are granted … counts it anew",
	}},
	{"value above the rate", func(w *world) { w.redis("SET", value, 15) }, 0, []string{
		"the value {mail}:value is 15, but the ledger leaves 6 of 10: it disagrees by 9 … up to 9 permits too many are granted … the next take of this library counts it anew",
	}},
	{"value too low", func(w *world) { w.redis("SET", value, 5) }, 0, []string{
		"the value {mail}:value is 5, but the ledger leaves 6 of 10: it disagrees by 1 … 1 permit cannot be had",
	}},
	{"value no number", func(w *world) { w.redis("SET", value, "9.2233720368547758e+x") }, 0, []string{
		`the value {mail}:value is "9.2233720368547758e+x", not a whole number … the next take of this library counts it`,
	}},
	{"value a list", func(w *world) { w.redis("DEL", value); w.redis("RPUSH", value, 1) }, 0, []string{
		"the value {mail}:value is a list, not a string … the next take of this library drops it",
	}},
	{"ledger a string", func(w *world) { w.redis("SET", ledger, "x") }, 0, []string{
		"the ledger {mail}:permits is a string, not a sorted set … the next take of this library drops it",
	}},
	{"configuration a string", func(w *world) { w.redis("SET", config, "x") }, 2, []string{
		"the key mail is a string, not a hash … every call under this name fails … take another name",
	}},
	{"configuration another hash", func(w *world) { w.redis("DEL", config); w.redis("HSET", config, "colour", "red") }, 2, []string{
		"the key mail is a hash without the fields rate, interval and type … take another name",
	}},
	{"configuration lost", func(w *world) { w.redis("DEL", config) }, 2, []string{
		"there is no configuration, but a ledger is left, {mail}:permits, with 2 entries … every take fails … sluice limiter set mail -rate 3/5s gives it a rate … sluice limiter delete mail",
	}},
	{"configuration expired, as by Expire", func(w *world) {
		w.redis("DEL", config)
		w.redis("PEXPIRE", value, 60_000)
		w.redis("PEXPIRE", ledger, 60_000)
	}, 2, []string{
		"there is no configuration, but a ledger is left, {mail}:permits, with 2 entries … and it goes by itself in ",
	}},
	{"configuration and ledger lost", func(w *world) { w.redis("DEL", config, ledger) }, 2, []string{
		"there is no configuration, but a value is left, {mail}:value … every take fails",
	}},
	{"clients' ledgers without a configuration", func(w *world) {
		w.redis("DEL", config, value, ledger)
		for _, id := range redissonIDs {
			w.redissonState(value+":"+id, ledger+":"+id, 9, aged{time.Minute, redissonEntry(1, 1)})
		}
	}, 2, []string{"there is no configuration, but the ledgers of 2 clients are left, with 2 entries … every take fails"}},
	{"rate garbage", func(w *world) { w.redis("HSET", config, "rate", "many") }, 0, []string{
		`the key mail has a field rate that is "many", but has to be a number of permits of at least 1 … every call fails … sluice limiter set mail -rate 3/5s stores a whole configuration anew`,
	}},
	{"rate zero, interval missing", func(w *world) { w.redis("HSET", config, "rate", 0); w.redis("HDEL", config, "interval") }, 0, []string{
		`the key mail has a field rate that is "0"`, "the key mail has no field interval, which has to be a number of milliseconds",
	}},
	{"type missing", func(w *world) { w.redis("HDEL", config, "type") }, 0, []string{"the key mail has no field type, which has to be 0"}},
	{"type odd", func(w *world) { w.redis("HSET", config, "type", "7") }, 0, []string{`the key mail has a field type that is "7": that is neither 0 nor 1`}},
	{"keep-alive garbage", func(w *world) { w.redis("HSET", config, "keepAliveTime", "x") }, 0, []string{`the key mail has a field keepAliveTime that is "x"`}},
	{"keep-alive shorter than the interval", func(w *world) { w.redis("HSET", config, "keepAliveTime", "60000") }, 0, []string{
		`the key mail has a field keepAliveTime that is "60000": that is shorter than the interval`,
	}},
	{"no keep-alive field, as before 3.38", func(w *world) { w.redis("HDEL", config, "keepAliveTime") }, 0, nil},
	{"a rate without bound", func(w *world) { w.redis("HSET", config, "rate", "9223372036854775807"); w.redis("DEL", value, ledger) }, 0, []string{
		`the key mail has a field rate that is "9223372036854775807": that is above 2^53-1`,
	}},
	{"a peer's clock ahead", func(w *world) {
		w.redis("ZADD", ledger, w.now().Add(future).UnixMilli(), redissonEntry(9, 1))
		w.redis("DECRBY", value, 1)
	}, 0, []string{"the ledger {mail}:permits holds 1 entry of another library, dated up to 1h29m … the clock of the machine that wrote them is ahead … set that machine's clock"}},
	{"the store's clock set back", func(w *world) {
		w.redis("ZADD", ledger, w.now().Add(future).UnixMilli(), unhex("10534c00000000a3a4a5a6a7a8a9aaabac01000000"))
		w.redis("DECRBY", value, 1)
	}, 0, []string{"the ledger {mail}:permits holds 1 entry of this library, dated up to 1h29m … was set back"}},
	{"an entry at infinity", func(w *world) { w.redis("ZADD", ledger, "+inf", redissonEntry(9, 1)); w.redis("DECRBY", value, 1) }, 0, []string{
		"the ledger {mail}:permits holds 1 entry of another library, dated up to 876000h0m0s in the future",
	}},
	{"value for a while, ledger for ever", func(w *world) { w.redis("PEXPIRE", value, 5_000_000) }, 0, []string{
		"the value {mail}:value lives 1h23m … but the ledger for ever … grants the whole rate once more … redis-cli PERSIST for each of '{mail}:value' and '{mail}:permits'",
	}},
	{"ledger for a while, value for ever", func(w *world) { w.redis("PEXPIRE", ledger, 5_000_000) }, 0, []string{
		"the value {mail}:value lives for ever, but the ledger 1h23m … fails for good",
	}},
	{"both for a while, the configuration for ever", func(w *world) { w.redis("PEXPIRE", value, 5_000_000); w.redis("PEXPIRE", ledger, 5_000_000) }, 0, []string{
		"the value and the ledger {mail}:permits live 1h23m … but the configuration for ever … what is in use then is forgotten",
	}},
	{"both too short for the window", func(w *world) { w.redis("PEXPIRE", value, 60_000); w.redis("PEXPIRE", ledger, 60_000) }, 0, []string{
		"the value and the ledger {mail}:permits live … but the last grant leaves the window in 59m … are granted again",
	}},
	{"both shorter than a configuration with a keep-alive", func(w *world) {
		w.redis("HSET", config, "keepAliveTime", 7_200_000)
		w.redis("PEXPIRE", config, 7_199_000)
		w.redis("PEXPIRE", value, 5_000_000)
		w.redis("PEXPIRE", ledger, 5_000_000)
	}, 0, []string{"the value and the ledger {mail}:permits live 1h23m … but the configuration 1h59m … the next take of this library gives all keys the same"}},
	{"the configuration for a while, both for ever", func(w *world) { w.redis("PEXPIRE", config, 7_199_000) }, 0, []string{
		"the value and the ledger {mail}:permits live for ever, but the configuration 1h59m … they stay behind",
	}},
	{"all for the same while", func(w *world) {
		for _, key := range []string{config, value, ledger} {
			w.redis("PEXPIRE", key, 7_200_000)
		}
	}, 0, nil},
	{"entries of 3.13.3", old("81f3dd5e" + "01000000"), 0, []string{
		"the ledger {mail}:permits holds 1 entry in the format of Redisson 3.13.3 to 3.16.3 (8 bytes) … every Redisson from 3.16.4 on fails",
	}},
	{"entries of 3.16.4", old("0800000000000000" + "a0a1a2a3a4a5a6a7" + "01000000"), 0, []string{
		"the ledger {mail}:permits holds 1 entry in the format of Redisson 3.16.4 to 3.16.8 (20 bytes) … counts wrong",
	}},
	{"entries of 3.17.0", old("08" + "a0a1a2a3a4a5a6a7" + "01000000"), 0, []string{
		"the ledger {mail}:permits holds 1 entry in the format of Redisson 3.17.0 to 3.20.1 (13 bytes) … older ones fail … nothing if no older one runs",
	}},
	{"entries of a writer with four random bytes", old("04" + "a0a1a2a3" + "01000000"), 0, []string{
		"the ledger {mail}:permits holds 1 entry that no known version wrote, though they can be read",
	}},
	{"entries that nobody wrote", func(w *world) { w.redis("ZADD", ledger, w.now().UnixMilli(), "a text of somebody") }, 0, []string{
		"the ledger {mail}:permits holds 1 entry that no known version wrote and that cannot be read … Redisson's calls fail",
	}},
	{"a take of less than nothing", func(w *world) {
		w.redis("ZADD", ledger, w.now().UnixMilli(), redissonEntry(9, 4294967291))
		w.redis("DECRBY", value, 4294967291)
	}, 0, []string{
		"the ledger {mail}:permits holds 1 entry of more than two thousand million permits … below zero",
	}},
	{"another limiter with the same ledger", func(w *world) { w.redissonConfig("{mail}", 1, 1000, 0) }, 0, []string{
		"the limiters mail and {mail} have the same value and ledger, {mail}:permits … give one of them another name",
	}},
}

// old adds an entry of an old format.
func old(member string) func(w *world) {
	return func(w *world) {
		w.redis("ZADD", ledger, w.now().UnixMilli(), unhex(member))
		w.redis("DECRBY", value, 1)
	}
}

// redis runs a command whose reply does not matter.
func (w *world) redis(args ...any) {
	w.t.Helper()
	if _, err := w.conn.Do(w.t.Context(), args...); err != nil {
		w.t.Fatalf("%v: %v", args, err)
	}
}

func TestLimiterShow_says_what_is_wrong_with_the_keys_and_writes_nothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, fault := range faults {
		t.Run(fault.name, func(t *testing.T) {
			w.t = t
			w.redis("FLUSHALL")
			w.redissonConfig(config, 10, 3_600_000, 0)
			w.redissonState(value, ledger, 6, aged{time.Minute, redissonEntry(1, 1)}, aged{time.Second, redissonEntry(2, 3)})
			fault.spoil(w)
			w.wantProblems(config, fault.status, fault.want)
		})
	}
}

// wantProblems checks what show says of a limiter, and that it writes nothing.
func (w *world) wantProblems(name string, status int, want []string) {
	w.t.Helper()
	before, offset := w.dump(), w.conn.ReplOffset(w.t)
	w.redis("CONFIG", "RESETSTAT")
	got := w.show(status, name).Problems
	w.want(status, "limiter", "show", name)
	w.want(status, "limiter", "ledger", name)
	w.want(0, "limiter", "list")
	if stats := w.conn.Info(w.t, "commandstats"); true {
		for command := range stats {
			if !slices.Contains(readOnly, strings.TrimPrefix(command, "cmdstat_")) {
				w.t.Errorf("it has run %s, want only commands that read", command)
			}
		}
	}
	if after := w.conn.ReplOffset(w.t); after != offset {
		w.t.Errorf("%d bytes were written, want none", after-offset)
	}
	if after := w.dump(); after != before {
		w.t.Errorf("the keys are\n%swant as before\n%s", after, before)
	}
	if len(got) != len(want) {
		w.t.Errorf("the problems are %q, want %q", got, want)
		return
	}
	for i, problem := range got {
		rest := problem
		for j, part := range strings.Split(want[i], " … ") {
			_, after, found := strings.Cut(rest, part)
			if !found || j == 0 && !strings.HasPrefix(rest, part) {
				w.t.Errorf("a problem is %q, want %q", problem, want[i])
				break
			}
			rest = after
		}
	}
}

// readOnly are the commands of list, show and ledger, and those of the test.
var readOnly = []string{
	"time", "type", "hmget", "hexists", "pttl", "get", "zcard", "zrange", "zrangebyscore", "scan", "exists", "multi", "exec",
	"hello", "client|setinfo", "info", "config|resetstat", "ping",
}

// dump is all that is stored.
func (w *world) dump() string {
	w.t.Helper()
	keys := w.conn.Strings(w.t, "KEYS", "*")
	slices.Sort(keys)
	var b strings.Builder
	for _, key := range keys {
		fmt.Fprintf(&b, "%q %x, expires at %d\n", key, w.conn.Str(w.t, "DUMP", key), w.conn.Int(w.t, "PEXPIRETIME", key))
	}
	return b.String()
}

func TestLimiterShow_says_what_is_wrong_with_the_keys_of_a_client(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.redissonConfig("api", 10, 3_600_000, 1)
	for _, id := range redissonIDs {
		w.redissonState("{api}:value:"+id, "{api}:permits:"+id, 9, aged{time.Minute, redissonEntry(1, 1)})
	}
	w.wantProblems("api", 0, nil)
	w.redis("DEL", "{api}:permits:"+redissonIDs[0])
	w.redis("SET", "{api}:value:"+redissonIDs[1], 10)
	w.redis("PEXPIRE", "{api}:value:"+redissonIDs[1], 60_000)
	w.redis("PEXPIRE", "{api}:permits:"+redissonIDs[1], 60_000)
	w.wantProblems("api", 0, []string{
		"the ledger {api}:permits:" + redissonIDs[0] + " is lost",
		"the value {api}:value:" + redissonIDs[1] + " is 10, but the ledger leaves 9 of 10",
		"the value and the ledger {api}:permits:" + redissonIDs[1] + " live … but the last grant leaves the window in 58m … this client's next take",
	})
}

func TestLimiterShow_what_this_library_leaves_is_no_problem(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, mode := range []string{"overall", "client"} {
		for _, keep := range []string{"0s", "2h"} {
			name := mode + keep
			well := func(after string) {
				t.Helper()
				if got := w.show(0, name).Problems; len(got) != 0 {
					t.Errorf("%s, after %s: the problems are %q, want none", name, after, got)
				}
			}
			limiter := w.client.Limiter(name)
			w.want(0, "limiter", "set", name, "-rate", "5/1h", "-mode", mode, "-keep-alive", keep)
			well("set")
			w.want(0, "acquire", name, "-n", "2", "-client", "ann")
			w.want(0, "acquire", name, "-n", "1", "-client", "ben")
			well("acquire")
			if _, err := limiter.Reserve(t.Context(), 5, 2*time.Hour); err != nil {
				t.Fatal(err)
			}
			well("a reservation")
			w.want(0, "limiter", "set", name, "-rate", "4/1h", "-update")
			if mode == "overall" {
				well("set -update")
			} else if got := w.show(0, name).Problems; len(got) != 3 || !strings.Contains(got[0], "a change of the rate leaves that behind until the client's next take") {
				t.Errorf("%s, after set -update: the problems are %q, want that each client goes over with its next take", name, got)
			}
			w.want(0, "limiter", "set", name, "-rate", "5/1h", "-update")
			w.want(0, "limiter", "release", name, "-n", "1", "-client", "ann")
			well("release")
			if _, err := limiter.Expire(t.Context(), 3*time.Hour); err != nil {
				t.Fatal(err)
			}
			if mode == "overall" { // other clients' ledgers keep their own time
				well("Expire")
			}
			if _, err := limiter.Persist(t.Context()); err != nil {
				t.Fatal(err)
			}
			well("Persist")
		}
	}
}

func TestLimiterShow_a_name_whose_keys_lie_in_two_cluster_slots(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.redissonConfig("a}b", 10, 3_600_000, 0)
	w.redissonState("{a}b}:value", "{a}b}:permits", 9, aged{time.Minute, redissonEntry(1, 1)})
	w.wantProblems("a}b", 0, []string{
		"the keys of the name a}b lie in two cluster slots … on a cluster every take fails … without a '}' that no '{' opens … redis-cli DEL 'a}b' '{a}b}:value' '{a}b}:permits'",
	})
	if got := w.show(0, "a}b"); got.Granted != 1 || got.Available != 9 {
		t.Errorf("show is %+v, want what is stored", got)
	}
	w.wantProblems("x}y", 2, nil) // nothing is there
}
