package redisengine_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/sluice-rate/sluice"
)

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
		answers, err := v.engine.Take(ctx, []sluice.Take{
			{Key: v.key, Receipt: receipt(3, 101)},
			{Key: v.key, Receipt: receipt(2, 102), MaxWait: time.Millisecond},
		})
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

	oneOfMany bool // it has many neighbours that are much the same
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
			g.oneOfMany = true
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
	field(victimRate, "interval", "", "abc", "0", "-1000", "0.5", "999.5", "inf", "-inf", "nan", "1e400", "5abc")
	field(victimRate, "interval", "3153600000001", "9223372036854775807")
	field(victimRate, "interval", "1e3", "1000.0", " 1000", "0x3e8")
	field(victimRate, "type", "", "7", "abc", "-1", "1.0", "2", "inf", "\x00")
	field(victimRate, "keepAliveTime", "", "abc", "-5", "-9223372036854775808", "0.5", "1500.5", "inf", "nan", "5")
	field(victimRate, "keepAliveTime", "1e15", "1e17", "1e18", "1e300", "1e400", "9223372036854775807", "1000000000000000000")
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
