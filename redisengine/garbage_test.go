package redisengine_test

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/sluice-rate/sluice"
	"github.com/sluice-rate/sluice/internal/redistest"
	"github.com/sluice-rate/sluice/redisengine"
)

// TestGarbage puts into a key what no limiter wrote and then calls a method, for every method and much garbage (law 4).
// No call may fail by an error of a script, and none may let more through than the rate. What only a human can put right is
// a *CorruptError that names key and problem; all else is well again within an interval.
func TestGarbage(t *testing.T) {
	p := startPool(t)
	for _, g := range slices.Concat(valueGarbage(), ledgerGarbage(), configGarbage()) {
		t.Run(g.name, func(t *testing.T) {
			t.Parallel()
			conn := p.dial(t)
			for _, m := range methods {
				newVictim(t, conn, g, m.name).suffer(g, m)
			}
		})
	}
}

// TestGarbageTogether loses or spoils several keys at once.
func TestGarbageTogether(t *testing.T) {
	p := startPool(t)
	values := []garbage{
		garbageOf("value lost", "DEL", valueKey),
		replaced("value a list", valueKey, "RPUSH", valueKey, 1),
		garbageOf("value nan", "SET", valueKey, "nan"),
		garbageOf("value high", "SET", valueKey, 1000),
	}
	ledgers := []garbage{
		garbageOf("ledger lost", "DEL", ledgerKey),
		replaced("ledger a string", ledgerKey, "SET", ledgerKey, "x"),
		garbageOf("entry at infinity", "ZADD", ledgerKey, "+inf", "x"),
		garbageOf("entry of long ago", "ZADD", ledgerKey, 1, "\x10aaaaaaaaaaaaaaaa\x09\x00\x00\x00"),
	}
	configs := []garbage{
		garbageOf("config fine", "PING"),
		garbageOf("config lost", "DEL", configKey),
		garbageOf("type lost", "HDEL", configKey, "type"),
		replaced("config a list", configKey, "RPUSH", configKey, 1),
	}
	for _, c := range configs {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			conn := p.dial(t)
			for _, value := range values {
				for _, ledger := range ledgers {
					all := garbage{name: value.name + ", " + ledger.name, most: victimRate, heals: time.Second, corrupt: true, byHand: c.name == "config a list"}
					all.commands = func(now time.Time) [][]any {
						return slices.Concat(value.commands(now), ledger.commands(now), c.commands(now))
					}
					for _, m := range methods {
						newVictim(t, conn, all, all.name+": "+m.name).suffer(all, m)
					}
				}
			}
		})
	}
}

const (
	configKey, valueKey, ledgerKey = "x", "{x}:value", "{x}:permits"
	victimRate                     = 10
)

var victimConfig = sluice.Config{Rate: sluice.Per(victimRate, time.Second)}

// victim is a limiter of which four permits of ten are in use when the garbage comes.
type victim struct {
	t       *testing.T
	what    string
	conn    *redistest.Conn
	now     time.Time
	engine  *redisengine.Engine
	limiter *sluice.Limiter
	receipt sluice.Receipt
	key     sluice.Key
}

func newVictim(t *testing.T, conn *redistest.Conn, g garbage, method string) *victim {
	v := &victim{t: t, what: method, conn: conn, now: time.Now().Truncate(time.Millisecond)}
	v.redis("FLUSHALL")
	v.engine = redisengine.New(conn, &redisengine.Options{Now: func() time.Time { return v.now }})
	v.key = sluice.Key{Limiter: configKey, Client: "c"}
	v.limiter = sluice.New(v.engine, sluice.WithClientID("c")).Limiter(configKey)
	if _, err := v.limiter.TrySetRate(t.Context(), victimConfig); err != nil {
		t.Fatal(err)
	}
	d, err := v.limiter.TryAcquire(t.Context(), 4)
	if err != nil {
		t.Fatal(err)
	}
	v.receipt = d.Receipt
	for _, command := range g.commands(v.now) {
		v.redis(command...)
	}
	return v
}

func (v *victim) redis(args ...any) any {
	v.t.Helper()
	reply, err := v.conn.Do(v.t.Context(), args...)
	if err != nil {
		v.t.Fatalf("%s: %v: %v", v.what, args, err)
	}
	return reply
}

func (v *victim) suffer(g garbage, m method) {
	v.t.Helper()
	v.check(v.call(m))
	most := g.most
	if strings.Contains(m.name, "Rate") {
		most = max(most, victimRate) // it may have been mended
	}
	if granted := v.drain(); granted > most {
		v.t.Errorf("%s: %d permits were granted at once, want at most %d", v.what, granted, most)
	}
	for range g.calls {
		v.drain()
	}
	v.now = v.now.Add(g.heals)
	v.recover(g)
}

// call runs a method, in which a panic is one more way to fail.
func (v *victim) call(m method) (err error) {
	defer func() {
		if p := recover(); p != nil {
			v.t.Errorf("%s panics: %v", v.what, p)
		}
	}()
	return m.call(v.t.Context(), v)
}

// check judges an error.
func (v *victim) check(err error) {
	v.t.Helper()
	var corrupt *sluice.CorruptError
	switch {
	case err == nil, errors.Is(err, sluice.ErrNotInitialized), errors.Is(err, sluice.ErrLimited), errors.Is(err, sluice.ErrExceedsRate):
	case !errors.As(err, &corrupt):
		v.t.Errorf("%s fails: %v", v.what, err)
	case corrupt.Key == "" || corrupt.Problem == "":
		v.t.Errorf("%s: the error names no key or problem: %#v", v.what, corrupt)
	}
}

// drain takes what can be had in one moment.
func (v *victim) drain() (granted int) {
	v.t.Helper()
	takes := make([]sluice.Take, 3*victimRate)
	for i := range takes {
		takes[i] = sluice.Take{Key: v.key, Receipt: receipt(1, byte(i))}
	}
	answers, err := v.engine.Take(v.t.Context(), takes)
	v.check(err)
	for _, a := range answers {
		v.check(a.Err)
		if a.Decision.Allowed {
			granted++
		}
	}
	return granted
}

// recover sees that the limiter gives full service: as it is, or, if the error says that it is corrupt, with its
// rate set anew, or, if that does not help either, after it was deleted.
func (v *victim) recover(g garbage) {
	v.t.Helper()
	ctx := v.t.Context()
	err := v.full(g)
	if errors.Is(err, sluice.ErrNotInitialized) {
		if _, err := v.limiter.TrySetRate(ctx, victimConfig); err != nil {
			v.t.Errorf("%s: then a rate cannot be set: %v", v.what, err)
		}
		err = v.full(g)
	}
	if g.corrupt && errors.Is(err, sluice.ErrCorrupt) {
		if err := v.limiter.SetRate(ctx, victimConfig); g.byHand == (err == nil) {
			v.t.Errorf("%s: SetRate = %v, want success: %v", v.what, err, !g.byHand)
		} else if err != nil {
			v.check(err)
			if _, err := v.limiter.Delete(ctx); err != nil {
				v.t.Errorf("%s: then it cannot be deleted: %v", v.what, err)
			}
			if _, err := v.limiter.TrySetRate(ctx, victimConfig); err != nil {
				v.t.Errorf("%s: then a rate cannot be set: %v", v.what, err)
			}
		}
		err = v.full(g)
	}
	if err != nil {
		v.t.Errorf("%s: no full service after %v: %v", v.what, g.heals, err)
	}
}

// full takes the whole rate, and sees that value and ledger make it.
func (v *victim) full(g garbage) error {
	v.t.Helper()
	n := int64(victimRate)
	if g.most > 0 {
		n = int64(min(g.most, victimRate))
	}
	d, err := v.limiter.TryAcquire(v.t.Context(), n)
	if err != nil {
		return err
	}
	if !d.Allowed {
		return fmt.Errorf("refused, %d left, retry in %v", d.Remaining, d.RetryAfter)
	}
	text, _ := v.redis("GET", valueKey).(string)
	value, err := strconv.ParseInt(text, 10, 64)
	held := heldIn(v.redis("ZRANGE", ledgerKey, 0, -1).([]any))
	if err != nil || value+held != d.Limit.Permits {
		return fmt.Errorf("the value is %q and the ledger holds %d, want them to make %d", text, held, d.Limit.Permits)
	}
	return nil
}

// heldIn is how many permits these members hold, by the format alone.
func heldIn(members []any) (permits int64) {
	for _, m := range members {
		if m := m.(string); len(m) > 4 && (int(m[0])+5 == len(m) || len(m) == 8 || len(m) == 20) {
			permits += int64(binary.LittleEndian.Uint32([]byte(m[len(m)-4:])))
		}
	}
	return permits
}

// receipt is one of ours for a caller who does not wait.
func receipt(n uint32, i byte) sluice.Receipt {
	return sluice.ReceiptFrom([16]byte{'S', 'L', 15: i}, n)
}

type method struct {
	name string
	call func(ctx context.Context, v *victim) error
}

var methods = []method{
	{"TryAcquire", func(ctx context.Context, v *victim) error { return second(v.limiter.TryAcquire(ctx, 1)) }},
	{"TryAcquire all", func(ctx context.Context, v *victim) error { return second(v.limiter.TryAcquire(ctx, 10)) }},
	{"TryAcquireFor", func(ctx context.Context, v *victim) error {
		return second(v.limiter.TryAcquireFor(ctx, 1, time.Millisecond))
	}},
	{"Acquire", func(ctx context.Context, v *victim) error {
		ctx, cancel := context.WithTimeout(ctx, 50*time.Millisecond)
		defer cancel()
		return v.limiter.Acquire(ctx, 1)
	}},
	{"Reserve", func(ctx context.Context, v *victim) error {
		r, err := v.limiter.Reserve(ctx, 8, 5*time.Second)
		if err == nil {
			err = r.Cancel(ctx)
		}
		return err
	}},
	{"Take of several", func(ctx context.Context, v *victim) error {
		answers, err := v.engine.Take(ctx, []sluice.Take{{Key: v.key, Receipt: receipt(3, 101)}, {Key: v.key, Receipt: receipt(2, 102), MaxWait: time.Millisecond}})
		for _, a := range answers {
			err = errors.Join(err, a.Err)
		}
		return err
	}},
	{"Look", func(ctx context.Context, v *victim) error {
		return second(v.engine.Look(ctx, v.key, []sluice.Receipt{v.receipt, receipt(1, 103)}))
	}},
	{"Refund", func(ctx context.Context, v *victim) error { return second(v.limiter.Refund(ctx, v.receipt)) }},
	{"RefundN", func(ctx context.Context, v *victim) error {
		_, _, err := v.limiter.RefundN(ctx, v.receipt, 1)
		return err
	}},
	{"Release", func(ctx context.Context, v *victim) error { return second(v.limiter.Release(ctx, 3)) }},
	{"Release more than there is", func(ctx context.Context, v *victim) error { return second(v.limiter.Release(ctx, 1e9)) }},
	{"Available", func(ctx context.Context, v *victim) error { return second(v.limiter.Available(ctx)) }},
	{"Config", func(ctx context.Context, v *victim) error { return second(v.limiter.Config(ctx)) }},
	{"Ledger", func(ctx context.Context, v *victim) (all error) {
		for _, err := range v.limiter.Ledger(ctx) {
			all = errors.Join(all, err)
		}
		return all
	}},
	{"Exists", func(ctx context.Context, v *victim) error { return second(v.limiter.Exists(ctx)) }},
	{"TTL", func(ctx context.Context, v *victim) error { return second(v.limiter.TTL(ctx)) }},
	{"Expire", func(ctx context.Context, v *victim) error { return second(v.limiter.Expire(ctx, time.Hour)) }},
	{"ExpireAt", func(ctx context.Context, v *victim) error {
		return second(v.limiter.ExpireAt(ctx, v.now.Add(time.Hour)))
	}},
	{"Persist", func(ctx context.Context, v *victim) error { return second(v.limiter.Persist(ctx)) }},
	{"Delete", func(ctx context.Context, v *victim) error { return second(v.limiter.Delete(ctx)) }},
	{"Rename and back", func(ctx context.Context, v *victim) error {
		err := v.limiter.Rename(ctx, "y")
		if err == nil {
			err = sluice.New(v.engine, sluice.WithClientID("c")).Limiter("y").Rename(ctx, configKey)
		}
		return err
	}},
	{"TrySetRate", func(ctx context.Context, v *victim) error { return second(v.limiter.TrySetRate(ctx, victimConfig)) }},
	{"SetRate", func(ctx context.Context, v *victim) error { return v.limiter.SetRate(ctx, victimConfig) }},
	{"SetRate lower", func(ctx context.Context, v *victim) error {
		err := v.limiter.SetRate(ctx, sluice.Config{Rate: sluice.Per(5, time.Second)})
		return errors.Join(err, v.limiter.SetRate(ctx, victimConfig))
	}},
	{"UpdateRate", func(ctx context.Context, v *victim) error {
		_, err := v.limiter.UpdateRate(ctx, sluice.Config{Rate: sluice.Per(12, time.Second), KeepAlive: time.Hour})
		return errors.Join(err, second(v.limiter.UpdateRate(ctx, victimConfig)))
	}},
	{"UpdateRate of the mode", func(ctx context.Context, v *victim) error {
		_, err := v.limiter.UpdateRate(ctx, sluice.Config{Rate: victimConfig.Rate, Mode: sluice.PerClient})
		return errors.Join(err, second(v.limiter.UpdateRate(ctx, victimConfig)))
	}},
}

func second[T any](_ T, err error) error { return err }

// garbage is one key that holds what no limiter wrote.
type garbage struct {
	name     string
	commands func(now time.Time) [][]any
	most     int           // permits that may be granted in the moment after it
	corrupt  bool          // a *CorruptError may say so, and then SetRate mends it …
	byHand   bool          // … or only a human does
	heals    time.Duration // within this
	calls    int           // and after so many more calls, since one mends only so much
}

// garbageOf makes garbage of one command.
func garbageOf(name string, command ...any) garbage {
	return garbage{name: name, most: victimRate, heals: time.Second, commands: func(time.Time) [][]any { return [][]any{command} }}
}

// replaced makes garbage of a command that makes the key anew, as another type.
func replaced(name, key string, command ...any) garbage {
	g := garbageOf(name)
	g.commands = func(time.Time) [][]any { return [][]any{{"DEL", key}, command} }
	return g
}

// types is a key in each type of Redis but the right one.
func types(key, right string) (all []garbage) {
	for _, c := range []struct {
		kind    string
		command []any
	}{
		{"string", []any{"SET", key, "text"}},
		{"list", []any{"RPUSH", key, "5", "6"}},
		{"set", []any{"SADD", key, "5", "6"}},
		{"hash", []any{"HSET", key, "rate", "5"}},
		{"zset", []any{"ZADD", key, "5", "6"}},
		{"stream", []any{"XADD", key, "*", "rate", "5"}},
	} {
		if c.kind == right {
			continue
		}
		all = append(all, replaced(key+" is a "+c.kind, key, c.command...))
	}
	return all
}

func valueGarbage() (all []garbage) {
	all = types(valueKey, "string")
	for _, text := range []string{
		"", "abc", "5.5", "5.0", "1e1", "inf", "-inf", "nan", "1e400", "-1e400", "0x5", " 5", "5 ", "+5", "--5", "5abc", "\x00", "\xff\xfe",
		"5", "0", "-5", "-1000000", "11", "1000000", "9007199254740991", "9007199254740993", "9223372036854775807", "-9223372036854775808",
		"9.2233720368547758e+18", "-9.2233720368547758e+18", strings.Repeat("9", 400), strings.Repeat("1", 100_000),
	} {
		all = append(all, garbageOf(fmt.Sprintf("value is %.30q", text), "SET", valueKey, text))
	}
	return append(all, garbageOf("value is lost", "DEL", valueKey))
}

func ledgerGarbage() (all []garbage) {
	all = append(types(ledgerKey, "zset"), garbageOf("ledger is lost", "DEL", ledgerKey))
	members := []struct{ name, text string }{
		{"empty", ""},
		{"x", "x"},
		{"four bytes", "abcd"},
		{"five bytes", "abcde"},
		{"five bytes that hold three", "\x00\x03\x00\x00\x00"},
		{"five bytes that hold all", "\x00\xff\xff\xff\xff"},
		{"none", "\x10aaaaaaaaaaaaaaaa\x00\x00\x00\x00"},
		{"a hundred bytes", strings.Repeat("a", 100)},
		{"text as of a port", "0123456789abcdef:5"},
		{"ours of one who does not wait", "\x10SL\x00\x00\x00\x00aaaaaaaaaa\x02\x00\x00\x00"},
		{"ours of one who waits", "\x10SL\x00\xff\xff\xffaaaaaaaaaa\x02\x00\x00\x00"},
		{"ours of one who wants more than the rate", "\x10SL\x00\xff\xff\xffaaaaaaaaaa\x0b\x00\x00\x00"},
		{"ours, merged", "\x10SL\x02\x00\x00\x00aaaaaaaaaa\x02\x00\x00\x00"},
		{"ours, all flags", "\x10SL\xff\x00\x00\x00aaaaaaaaaa\x02\x00\x00\x00"},
	}
	for _, m := range members {
		for _, at := range []float64{-1e9, -500, 0, 500.5, 3.6e6, 1e13, 1e300, math.Inf(1), math.Inf(-1)} {
			g := garbageOf(fmt.Sprintf("entry %s at %v", m.name, at))
			g.commands = func(now time.Time) [][]any {
				return [][]any{{"ZADD", ledgerKey, float64(now.UnixMilli()) + at, m.text}}
			}
			if strings.Contains(m.name, "waits") || strings.Contains(m.name, "wants") {
				g.heals += sluice.LookPeriod // it may be one who has to learn of it
			}
			all = append(all, g)
		}
	}
	many := garbageOf("ledger of 5000 entries that hold nothing, an hour ahead")
	many.calls = 5
	many.commands = func(now time.Time) [][]any {
		command := []any{"ZADD", ledgerKey}
		for i := range 5000 {
			command = append(command, now.UnixMilli()+3_600_000, strconv.Itoa(i))
		}
		return [][]any{command}
	}
	return append(all, many)
}

func configGarbage() (all []garbage) {
	for _, g := range types(configKey, "hash") {
		g.corrupt, g.byHand = true, true
		all = append(all, g)
	}
	field := func(most int, name string, texts ...string) {
		for _, text := range texts {
			g := garbageOf(fmt.Sprintf("%s is %.30q", name, text), "HSET", configKey, name, text)
			g.most, g.corrupt = most, true
			all = append(all, g)
		}
	}
	field(0, "rate", "", "abc", "0", "-5", "0.5", "inf", "-inf", "nan", "1e400", "-1e400", "5abc", "\x00", strings.Repeat("9", 400))
	field(2, "rate", "2.5", "2", "2e0", " 2", "0x2")
	field(30, "rate", "9223372036854775807", "1e17", "9007199254740992")
	field(victimRate, "interval", "", "abc", "0", "-1000", "0.5", "999.5", "inf", "-inf", "nan", "1e400", "3153600000001", "9223372036854775807", "5abc")
	field(victimRate, "interval", "1e3", "1000.0", " 1000", "0x3e8")
	field(victimRate, "type", "", "7", "abc", "-1", "1.0", "2", "inf", "\x00")
	field(victimRate, "keepAliveTime", "", "abc", "-5", "-9223372036854775808", "0.5", "1500.5", "inf", "nan", "1e15", "1e17", "1e18", "9223372036854775807", "1e400", "5")
	for _, name := range []string{"rate", "interval", "type", "keepAliveTime"} {
		g := garbageOf("no "+name, "HDEL", configKey, name)
		g.corrupt = true
		all = append(all, g)
	}
	return append(all,
		garbageOf("configuration is lost", "DEL", configKey),
		garbageOf("configuration has only a keep-alive", "HDEL", configKey, "rate", "interval", "type"),
	)
}
