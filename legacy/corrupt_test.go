package legacy_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/sluice-rate/sluice"
	"github.com/sluice-rate/sluice/internal/redistest"
)

// spoilt is a limiter of ten per ten minutes, four of them used, of which one key was spoilt.
type spoilt struct {
	name     string
	commands [][]any
	key      string // the error names it …
	problem  string // … and says this of it
	whole    bool   // reads of the configuration meet it too
	missing  bool   // TrySetRate puts it right
}

const (
	value, ledger             = "{x}:value", "{x}:permits"
	clientValue, clientLedger = value + ":" + clientID, ledger + ":" + clientID
)

var spoilts = func() (all []spoilt) {
	for _, kind := range [][]any{{"RPUSH", value, 5}, {"SADD", value, 5}, {"HSET", value, "rate", 5}, {"ZADD", value, 5, 6}, {"XADD", value, "*", "a", 5}} {
		all = append(all, spoilt{name: fmt.Sprint("the value by ", kind[0]), commands: [][]any{{"DEL", value}, kind}, key: value, problem: "is not a string"})
	}
	for _, text := range []string{
		"", "abc", "5.5", "5.0", "1e1", "inf", "nan", "0x5", " 5", "5 ", "+5", "--5", "-0", "05", "5abc", "\x00", "\xff\xfe",
		"9223372036854775808", "9.2233720368547758e+18", strings.Repeat("9", 400), strings.Repeat("1", 100_000),
	} {
		all = append(all, spoilt{
			name: fmt.Sprintf("the value %.30q", text), commands: [][]any{{"SET", value, text, "KEEPTTL"}}, key: value,
			problem: fmt.Sprintf("is \"%.40s\", not a whole number of permits", text),
		})
	}
	for _, text := range []string{"6", "0", "-5", "10", "9.2233720368547758e+18"} { // as a newer Redisson leaves it
		all = append(all, spoilt{
			name: "the value for ever, " + text, commands: [][]any{{"SET", value, text}}, key: value,
			problem: `has no time to live, as a window has: Redisson 3.13.3 or newer`,
		})
	}
	for _, kind := range [][]any{{"ZADD", ledger, 5, "\x10aaaaaaaaaaaaaaaa\x01\x00\x00\x00"}, {"SET", ledger, "x"}} {
		all = append(all,
			spoilt{name: fmt.Sprint("a ledger by ", kind[0]), commands: [][]any{kind}, key: ledger, problem: `exists: Redisson 3.13.3 or newer`},
			spoilt{name: fmt.Sprint("a ledger without a value by ", kind[0]), commands: [][]any{{"DEL", value}, kind}, key: ledger, problem: `DEL "{x}:permits" "{x}:value"`},
		)
	}
	perClient := []any{"HSET", "x", "type", 1}
	all = append(all,
		spoilt{name: "a client's ledger", commands: [][]any{perClient, {"ZADD", clientLedger, 5, "x"}}, key: clientLedger, problem: fmt.Sprintf("DEL %q %q", clientLedger, clientValue)},
		spoilt{name: "a client's value for ever", commands: [][]any{perClient, {"SET", clientValue, 5}}, key: clientValue, problem: "has no time to live"},
		spoilt{name: "a client's value abc", commands: [][]any{perClient, {"SET", clientValue, "abc", "EX", 100}}, key: clientValue, problem: "not a whole number"},
	)
	for _, kind := range [][]any{{"SET", "x", "5"}, {"RPUSH", "x", 5}, {"SADD", "x", 5}, {"ZADD", "x", 5, 6}, {"XADD", "x", "*", "rate", 5}} {
		all = append(all, spoilt{name: fmt.Sprint("the configuration by ", kind[0]), commands: [][]any{{"DEL", "x"}, kind}, key: "x", problem: "is not a hash", whole: true})
	}
	field := func(name, want string, texts ...string) {
		for _, text := range texts {
			all = append(all, spoilt{
				name: fmt.Sprintf("%s is %.30q", name, text), commands: [][]any{{"HSET", "x", name, text}}, key: "x",
				problem: fmt.Sprintf("has a field %s that is %.40s%s", name, text, want), whole: true,
			})
		}
	}
	nonsense := []string{"", "abc", "0", "-5", "0.5", "2.5", "inf", "-inf", "nan", "1e400", "5abc", "\x00", "1e3", "0x10", " 7", "07", "9223372036854775808", strings.Repeat("9", 400)}
	field("rate", ", not a whole number of permits of at least 1", nonsense...)
	field("interval", ", not a whole number of milliseconds from 1 to 100 years", append(nonsense, "3153600000001", "9223372036854775807")...)
	field("keepAliveTime", ": a newer limiter was configured here", "1500", "abc", "", "-1")
	for _, name := range []string{"rate", "interval", "type"} {
		all = append(all, spoilt{
			name: "no " + name, commands: [][]any{{"HDEL", "x", name}}, key: "x", problem: "has a field " + name + " that is missing", whole: true,
			missing: true,
		})
	}
	return all
}()

// TestSpoilt: each method that meets what no old limiter wrote says which key and what is wrong with it, and changes nothing.
func TestSpoilt(t *testing.T) {
	p := startPool(t, redistest.Release{})
	for _, c := range spoilts {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := p.store(t)
			l := s.limiter("x", sluice.Per(10, 10*time.Minute))
			take(t, l, 4)
			for _, command := range c.commands {
				s.do(command...)
			}
			for method, call := range map[string]func() error{
				"TrySetRate": func() error {
					return second(l.TrySetRate(t.Context(), sluice.Config{Rate: sluice.Per(10, 10*time.Minute)}))
				},
				"TryAcquire":    func() error { return second(l.TryAcquire(t.Context(), 1)) },
				"TryAcquireFor": func() error { return second(l.TryAcquireFor(t.Context(), 7, time.Hour)) },
				"Acquire":       func() error { return l.Acquire(t.Context(), 7) },
				"Available":     func() error { return second(l.Available(t.Context())) },
				"Config":        func() error { return second(l.Config(t.Context())) },
				"Exists":        func() error { return second(l.Exists(t.Context())) },
				"Delete":        func() error { return second(l.Delete(t.Context())) },
			} {
				if c.meets(method) {
					before := s.keys()
					c.check(t, method, call())
					s.want(before)
				}
			}
			if !c.whole && !strings.Contains(c.key, "permits") {
				s.must(second(l.Config(t.Context())))
				s.must(second(l.Exists(t.Context())))
			}
		})
	}
}

func (c spoilt) meets(method string) bool {
	switch method {
	case "TrySetRate":
		return !c.missing
	case "Config", "Exists":
		return c.whole
	case "Delete":
		return strings.Contains(c.key, "permits") // it takes everything else away
	}
	return true
}

func (c spoilt) check(t *testing.T, method string, err error) {
	t.Helper()
	var corrupt *sluice.CorruptError
	if !errors.As(err, &corrupt) || !errors.Is(err, sluice.ErrCorrupt) {
		t.Errorf("%s = %v, want a CorruptError", method, err)
	} else if corrupt.Key != c.key || !strings.Contains(corrupt.Problem, c.problem) {
		t.Errorf("%s = %v, want it to name %s and to say that it %s", method, err, c.key, c.problem)
	}
}

// TestOddTypeIsOverall: Redisson takes every type but 1 for OVERALL.
func TestOddTypeIsOverall(t *testing.T) {
	s := newStore(t, redistest.Start(t))
	for _, text := range []string{"0", "", "2", "7", "abc", "01", "1.0", " 1"} {
		s.clear()
		s.do("HSET", "x", "rate", 3, "interval", 60_000, "type", text)
		take(t, s.client.Limiter("x"), 1)
		s.want(map[string]string{"x": "hash rate=3 interval=60000 type=" + text, value: "string 2 for a time"})
	}
}
