package redisengine_test

import (
	"encoding/binary"
	"errors"
	"fmt"
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
	for i, g := range slices.Concat(valueGarbage(), ledgerGarbage(), configGarbage()) {
		t.Run(g.name, func(t *testing.T) {
			t.Parallel()
			conn := p.dial(t)
			for j, m := range methods {
				if g.oneOfMany && (i+j)%3 != 0 {
					continue // its neighbours meet this method
				}
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
					all := garbageOf(value.name + ", " + ledger.name)
					all.corrupt, all.byHand = true, c.name == "config a list"
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
