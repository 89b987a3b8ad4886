package redisengine_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/sluice-rate/sluice"
	"github.com/sluice-rate/sluice/internal/redistest"
	"github.com/sluice-rate/sluice/redisengine"
)

// TestCaseBigNumbersInScientificNotation: what is stored and answered is digits, and a text that another wrote in the place of a number does not
// stop the limiter.
func TestCaseBigNumbersInScientificNotation(t *testing.T) {
	t.Parallel()
	now := time.Unix(1_800_000_000, 0)
	s := newCaseStore(t, func() time.Time { return now })
	for _, n := range []int64{999_999_999_999_999, 123_451_234_512_345, sluice.MaxRate} {
		l := s.client.Limiter("x")
		s.must(l.SetRate(t.Context(), sluice.Config{Rate: sluice.Per(n, time.Hour)}))
		d, err := l.TryAcquire(t.Context(), 1)
		if err != nil || d.Remaining != n-1 || d.Limit.Permits != n {
			t.Errorf("TryAcquire of %d = %+v, %v, want one less", n, d, err)
		}
		if rate, value := s.conn.Str(t, "HGET", "x", "rate"), s.conn.Str(t, "GET", "{x}:value"); rate != fmt.Sprint(n) || value != fmt.Sprint(n-1) {
			t.Errorf("stored are the rate %s and the value %s, want %d and one less", rate, value, n)
		}
		for _, text := range []string{"201605131024011014", "1.7629056001235e+18", "1e+15", "-9223372036854775808", "nan", "inf"} {
			s.conn.Str(t, "SET", "{x}:value", text)
			now = now.Add(time.Second)
			if d, err := l.TryAcquire(t.Context(), 1); err != nil || !d.Allowed || d.Remaining > n-2 {
				t.Errorf("TryAcquire of %d with a value of %s = %+v, %v, want what the ledger says", n, text, d, err)
			}
			s.conn.Int(t, "DEL", "{x}:permits", "{x}:value") // only one permit is used at a time
			s.must(second(l.TryAcquire(t.Context(), 1)))
		}
		s.conn.Str(t, "FLUSHALL")
	}
	for _, a := range algorithms {
		for _, text := range []string{"1.7629056001235e+18", "1762905600123456789", "0", ""} {
			c := sluice.Limit{Rate: sluice.Per(10, time.Minute), Algorithm: a}.Charge("k")
			s.take(c)
			s.conn.Str(t, "SET", s.key(), text)
			for left := int64(9); left >= 8; left-- {
				if o := s.take(c); !o.Allowed || o.Remaining != left {
					t.Errorf("%v with a state of %q: %+v, want a new one with %d left", a, text, o, left)
				}
			}
			s.conn.Str(t, "FLUSHALL")
		}
	}
}

// TestCaseUndeclaredKeys runs calls as a user who may touch the keys of one limiter and one key of an inline limit, and no others.
func TestCaseUndeclaredKeys(t *testing.T) {
	t.Parallel()
	s := newCaseStore(t, nil)
	s.conn.Str(t, "ACL", "SETUSER", "default", "resetkeys", "~order", "~{order}:value*", "~{order}:permits*", "~sl:{user}:[sbfa]60000")
	ctx, l := t.Context(), s.client.Limiter("order")
	s.must(second(l.TrySetRate(ctx, sluice.Config{Rate: sluice.Per(3, time.Minute)})))
	d, err := l.TryAcquire(ctx, 3)
	s.must(err)
	r, err := l.Reserve(ctx, 1, time.Hour)
	s.must(err)
	s.must(r.Cancel(ctx))
	s.must(second(l.Refund(ctx, d.Receipt)))
	s.must(second(l.Available(ctx)))
	s.must(second(l.UpdateRate(ctx, sluice.Config{Rate: sluice.Per(4, time.Minute)})))
	s.must(second(l.Expire(ctx, time.Hour)))
	s.must(second(l.Delete(ctx)))
	var charges []sluice.Charge
	for _, a := range algorithms {
		charges = append(charges, sluice.Limit{Rate: sluice.Per(3, time.Minute), Algorithm: a}.Charge("user"))
	}
	o := s.take(charges...)
	s.must(second(s.client.Book(ctx, time.Hour, charges...)))
	s.must(second(s.client.Peek(ctx, charges...)))
	s.must(second(s.client.Refund(ctx, o.Receipt, charges...)))
	s.must(s.client.Reset(ctx, charges...))
	if _, err := s.client.Take(ctx, sluice.Limit{Rate: sluice.Per(3, time.Minute)}.Charge("other")); err == nil || !strings.Contains(err.Error(), "NOPERM") {
		t.Errorf("a key that is not this user's: %v, want NOPERM: else this test shows nothing", err)
	}
}

var (
	commandInLua = regexp.MustCompile(`call\('([A-Z]+)'(?:, ?([^,)]*))?`)
	forbidden    = []string{"replicate_commands", "tostring(", "math.random", "'TIME', "}
)

// TestCaseScriptsThatOldServersOrProxiesRefuse reads the scripts: each key comes from KEYS, a number becomes text by a format, and nothing is called
// that a script may not do before it writes.
func TestCaseScriptsThatOldServersOrProxiesRefuse(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("lua/*.lua")
	if err != nil || len(files) == 0 {
		t.Fatalf("no scripts found: %v", err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, word := range forbidden {
			if strings.Contains(string(text), word) {
				t.Errorf("%s says %s", file, word)
			}
		}
		for _, c := range commandInLua.FindAllStringSubmatch(string(text), -1) {
			if c[1] != "TIME" && !strings.HasPrefix(c[2], "KEYS[") {
				t.Errorf("%s: %s: its key is %s, want one of KEYS", file, c[0], c[2])
			}
		}
	}
}

// TestCaseTimeInAScriptThatWrites: decisions are dated by the server, after which the script writes.
func TestCaseTimeInAScriptThatWrites(t *testing.T) {
	t.Parallel()
	s := newCaseStore(t, nil)
	clock := func() time.Time {
		var sec, usec int64
		parts := s.conn.Strings(t, "TIME")
		fmt.Sscan(parts[0], &sec)
		fmt.Sscan(parts[1], &usec)
		return time.Unix(sec, usec*1000)
	}
	for _, a := range algorithms {
		before := clock()
		o := s.take(sluice.Limit{Rate: sluice.Per(3, time.Minute), Algorithm: a}.Charge("k"))
		if after := clock(); !o.Allowed || o.At.Before(before) || o.At.After(after) {
			t.Errorf("%v: the decision is dated %v, want from %v to %v", a, o.At, before, after)
		}
	}
}

// TestCaseFullWindowIsSlow compares decisions on a limit that has given many permits one by one with those on a small one.
func TestCaseFullWindowIsSlow(t *testing.T) {
	t.Parallel()
	const calls, mostBytes = 500, 12 << 10
	now := time.Unix(1_800_000_000, 0)
	s := newCaseStore(t, func() time.Time { return now })
	perCall := func(c sluice.Charge) (least float64) { // of several rounds, since others use the cores too
		for round := range 5 {
			before, usec := s.conn.ScriptStats(t)
			for range calls / 5 {
				s.take(c)
			}
			after, sum := s.conn.ScriptStats(t)
			if each := (sum - usec) / float64(after-before); round == 0 || each < least {
				least = each
			}
		}
		return least
	}
	for _, a := range algorithms {
		small := sluice.Limit{Rate: sluice.Per(10, time.Minute), Algorithm: a}.Charge("small")
		full := sluice.Limit{Rate: sluice.Per(3000, time.Minute), Algorithm: a}.Charge("full")
		for range 2750 {
			s.take(full)
			now = now.Add(20 * time.Millisecond)
		}
		one := perCall(small)
		many := perCall(full) // half of them are refused
		bytes := s.conn.Int(t, "MEMORY", "USAGE", fmt.Sprintf("sl:{full}:%c60000", "sbfa"[a]))
		t.Logf("%v: %.0f µs a call, %.0f µs when full; %d bytes", a, one, many, bytes)
		if many > 4*one+20 {
			t.Errorf("%v: a decision on a full window takes %.0f µs, on a small one %.0f µs", a, many, one)
		}
		if bytes > mostBytes {
			t.Errorf("%v: %d bytes for one key, want at most %d", a, bytes, mostBytes)
		}
	}
}

// follower is a client of a cluster: it asks any node, and then the one that it is told.
type follower struct {
	conns map[string]*redistest.Conn
	any   *redistest.Conn
}

func (f follower) Eval(ctx context.Context, script string, keys []string, args ...any) *redistest.Reply {
	return f.follow(func(c *redistest.Conn) *redistest.Reply { return c.Eval(ctx, script, keys, args...) })
}

func (f follower) EvalSha(ctx context.Context, sha1 string, keys []string, args ...any) *redistest.Reply {
	return f.follow(func(c *redistest.Conn) *redistest.Reply { return c.EvalSha(ctx, sha1, keys, args...) })
}

func (f follower) follow(run func(c *redistest.Conn) *redistest.Reply) *redistest.Reply {
	r := run(f.any)
	if _, err := r.Result(); err != nil && strings.HasPrefix(err.Error(), "MOVED ") {
		addr := err.Error()[strings.LastIndex(err.Error(), " ")+1:]
		return run(f.conns[addr])
	}
	return r
}

// TestCaseOneSlotHoldsAllKeys: the keys of users spread over a cluster, and those of one user or limiter lie together.
func TestCaseOneSlotHoldsAllKeys(t *testing.T) {
	t.Parallel()
	const users, masters = 9000, 3
	f := follower{conns: make(map[string]*redistest.Conn)}
	for _, server := range redistest.StartCluster(t, masters) {
		f.any = redistest.Dial(t, server.Addr())
		f.conns[server.Addr()] = f.any
	}
	client := sluice.New(redisengine.New(f, nil))
	minute, hour := sluice.Limit{Rate: sluice.Per(10, time.Minute)}, sluice.Limit{Rate: sluice.Per(1000, time.Hour)}
	for u := range users {
		user := fmt.Sprintf("user:%d", u)
		if o, err := client.Take(t.Context(), minute.Charge(user), hour.Charge(user)); err != nil || !o.Allowed {
			t.Fatalf("Take(%s) = %+v, %v, want allowed", user, o, err)
		}
	}
	for addr, c := range f.conns {
		if n := c.Int(t, "DBSIZE") / 2; n < users/masters*9/10 || n > users/masters*11/10 {
			t.Errorf("node %s has %d of %d users, want a third of them", addr, n, users)
		}
		c.Str(t, "FLUSHALL")
	}
	for u := range users / 10 {
		l := client.Limiter(fmt.Sprintf("user:%d", u))
		if _, err := l.TrySetRate(t.Context(), sluice.Config{Rate: sluice.Per(10, time.Minute)}); err != nil {
			t.Fatal(err)
		}
		if d, err := l.TryAcquire(t.Context(), 1); err != nil || !d.Allowed {
			t.Fatalf("TryAcquire of %s = %+v, %v, want allowed", l.Name(), d, err)
		}
	}
	for addr, c := range f.conns {
		if n := c.Int(t, "DBSIZE") / 3; n < users/10/masters*8/10 || n > users/10/masters*12/10 {
			t.Errorf("node %s has %d of %d limiters, want a third of them", addr, n, users/10)
		}
	}
}
