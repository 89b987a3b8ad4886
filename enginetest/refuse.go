package enginetest

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sluice-rate/sluice"
)

// badInput calls the methods with what can never be right, and sees that the error says so by its type, and that the
// store is as it was.
func (h Harness) badInput(t *testing.T) {
	t.Run("arguments", func(t *testing.T) { t.Parallel(); h.arguments(t) })
	t.Run("configurations (P15, P16, P17)", func(t *testing.T) { t.Parallel(); h.configurations(t) })
	t.Run("names (P19)", func(t *testing.T) { t.Parallel(); h.names(t) })
	t.Run("a limiter without a rate", func(t *testing.T) { t.Parallel(); h.withoutRate(t) })
}

// refused runs a call that has to fail, and sees that it has changed nothing.
func (w *world) refused(what string, call func() error, want func(error) string) {
	w.Helper()
	before := w.state()
	err := call()
	if problem := want(err); problem != "" {
		w.Errorf("%s = %v, want %s", what, err, problem)
	}
	if after := w.state(); after != before {
		w.Errorf("%s has changed the store from %s to %s", what, before, after)
	}
}

// state is what is in the store: in Redis also how much was written to it.
func (w *world) state() string {
	w.Helper()
	if w.keys != nil {
		keys := w.strings("KEYS", "*")
		slices.Sort(keys) // the server gives them in any order
		return fmt.Sprint(w.written(), keys)
	}
	s, err := w.engine.Inspect(w.Context(), w.key(), sluice.Page{Limit: 1000})
	must(w, err)
	return fmt.Sprintf("%+v", s)
}

// invalid wants an *InvalidError of these fields, the first of which errors.As finds.
func invalid(fields ...string) func(error) string {
	return func(err error) string {
		var first *sluice.InvalidError
		if errors.Is(err, sluice.ErrInvalid) && errors.As(err, &first) && first.Field == fields[0] && first.Want != "" {
			all := slices.IndexFunc(fields, func(f string) bool { return !strings.Contains(err.Error(), "sluice: "+f+" is ") })
			if all < 0 && strings.Count(err.Error(), "but must be") == len(fields) {
				return ""
			}
		}
		return fmt.Sprintf("an *InvalidError of %q", fields)
	}
}

// sentinel wants an error that matches.
func sentinel(target error) func(error) string {
	return func(err error) string {
		if errors.Is(err, target) {
			return ""
		}
		return target.Error()
	}
}

func (h Harness) arguments(t *testing.T) {
	w, ctx := newWorld(t, h), t.Context()
	l := w.limiter()
	_, err := l.TrySetRate(ctx, sluice.Config{Rate: sluice.Per(10, time.Second)})
	must(t, err)
	d, err := l.TryAcquire(ctx, 4)
	must(t, err)

	for _, n := range []int64{0, -1, math.MinInt64, sluice.MaxPermits + 1, 1<<32 + 1, math.MaxInt64} {
		takers(ctx, l, n, func(what string, call func() error) { w.refused(what, call, invalid("permits")) })
		w.refused(fmt.Sprintf("Release(%d)", n), func() error { return second(l.Release(ctx, n)) }, invalid("permits"))
		w.refused(fmt.Sprintf("RefundN(%d)", n), func() error {
			_, _, err := l.RefundN(ctx, d.Receipt, n)
			return err
		}, invalid("permits"))
	}
	for _, n := range []int64{11, sluice.MaxPermits} {
		takers(ctx, l, n, func(what string, call func() error) {
			w.refused(what, call, func(err error) string {
				var exceeds *sluice.ExceedsRateError
				want := sluice.ExceedsRateError{Limiter: "x", Permits: n, Rate: sluice.Per(10, time.Second)}
				if errors.Is(err, sluice.ErrExceedsRate) && errors.As(err, &exceeds) && *exceeds == want {
					return ""
				}
				return want.Error()
			})
		})
	}
	for _, c := range []struct {
		what  string
		field string
		call  func() error
	}{
		{"Refund without a receipt", "permits", func() error { return second(l.Refund(ctx, sluice.Receipt{})) }},
		{"RefundN without a receipt", "receipt", func() error {
			_, _, err := l.RefundN(ctx, sluice.Receipt{}, 1)
			return err
		}},
		{"RefundN of more than the receipt", "permits", func() error {
			_, _, err := l.RefundN(ctx, d.Receipt, 5)
			return err
		}},
		{"Reserve(-1)", "maxWait", func() error { return second(l.Reserve(ctx, 1, -1)) }},
		{"Reserve for ever", "maxWait", func() error { return second(l.Reserve(ctx, 1, sluice.MaxInterval+1)) }},
		{"Expire(0)", "expiry", func() error { return second(l.Expire(ctx, 0)) }},
		{"Expire(-1)", "expiry", func() error { return second(l.Expire(ctx, -1)) }},
		{"Expire(999µs)", "expiry", func() error { return second(l.Expire(ctx, 999*time.Microsecond)) }},
		{"Expire in more than 100 years", "expiry", func() error { return second(l.Expire(ctx, sluice.MaxInterval+1)) }},
		{"ExpireAt(zero)", "expiry", func() error { return second(l.ExpireAt(ctx, time.Time{})) }},
		{"ExpireAt(1970)", "expiry", func() error { return second(l.ExpireAt(ctx, time.Unix(0, 0))) }},
		{"Rename to itself", "new name", func() error { return l.Rename(ctx, "x") }},
		{"Rename to nothing", "name", func() error { return l.Rename(ctx, "") }},
		{"Rename to a name in two slots", "name", func() error { return l.Rename(ctx, "a}b") }},
	} {
		w.refused(c.what, c.call, invalid(c.field))
	}
	ended, cancel := context.WithCancel(ctx)
	cancel()
	takers(ended, l, 1, func(what string, call func() error) {
		w.refused(what+" after the context's end", call, sentinel(context.Canceled))
	})
}

// takers gives the methods that take n permits.
func takers(ctx context.Context, l *sluice.Limiter, n int64, each func(what string, call func() error)) {
	each(fmt.Sprintf("TryAcquire(%d)", n), func() error { return second(l.TryAcquire(ctx, n)) })
	each(fmt.Sprintf("TryAcquireFor(%d)", n), func() error { return second(l.TryAcquireFor(ctx, n, time.Minute)) })
	each(fmt.Sprintf("Acquire(%d)", n), func() error { return l.Acquire(ctx, n) })
	each(fmt.Sprintf("Reserve(%d)", n), func() error { return second(l.Reserve(ctx, n, time.Minute)) })
}

func (h Harness) configurations(t *testing.T) {
	w := newWorld(t, h)
	rate := func(n int64, interval time.Duration) sluice.Config {
		return sluice.Config{Rate: sluice.Per(n, interval)}
	}
	keep := func(d time.Duration) sluice.Config {
		return sluice.Config{Rate: sluice.Per(1, time.Second), KeepAlive: d}
	}
	mode := func(m sluice.Mode) sluice.Config { return sluice.Config{Rate: sluice.Per(1, time.Second), Mode: m} }
	cases := []struct {
		config sluice.Config
		fields []string
	}{
		{rate(0, time.Second), []string{"rate.permits"}},
		{rate(-1, time.Second), []string{"rate.permits"}},
		{rate(math.MinInt64, time.Second), []string{"rate.permits"}},
		{rate(sluice.MaxRate+1, time.Second), []string{"rate.permits"}},
		{rate(math.MaxInt64, time.Second), []string{"rate.permits"}},
		{rate(1, 0), []string{"rate.interval"}},
		{rate(1, -time.Second), []string{"rate.interval"}},
		{rate(1, 999*time.Microsecond), []string{"rate.interval"}},
		{rate(1, 1500*time.Microsecond), []string{"rate.interval"}},
		{rate(1, time.Second+1), []string{"rate.interval"}},
		{rate(1, sluice.MaxInterval+time.Millisecond), []string{"rate.interval"}},
		{rate(1, math.MaxInt64), []string{"rate.interval"}},
		{keep(-time.Second), []string{"keep-alive"}},
		{keep(time.Millisecond), []string{"keep-alive"}},
		{keep(999 * time.Millisecond), []string{"keep-alive"}},
		{keep(time.Second + 1), []string{"keep-alive"}},
		{keep(sluice.MaxInterval + time.Millisecond), []string{"keep-alive"}},
		{keep(math.MaxInt64), []string{"keep-alive"}},
		{mode(2), []string{"mode"}},
		{mode(-1), []string{"mode"}},
		{sluice.Config{Mode: 7, KeepAlive: -1}, []string{"rate.permits", "rate.interval", "mode", "keep-alive"}},
	}
	for _, stored := range []bool{false, true} {
		if stored {
			_, err := w.limiter().TrySetRate(t.Context(), rate(10, time.Second))
			must(t, err)
		}
		for _, c := range cases {
			ctx := t.Context()
			l, want := w.limiter(), invalid(c.fields...)
			w.refused(fmt.Sprintf("TrySetRate(%v)", c.config), func() error { return second(l.TrySetRate(ctx, c.config)) }, want)
			w.refused(fmt.Sprintf("SetRate(%v)", c.config), func() error { return l.SetRate(ctx, c.config) }, want)
			w.refused(fmt.Sprintf("UpdateRate(%v)", c.config), func() error { return second(l.UpdateRate(ctx, c.config)) }, want)
		}
	}
	for _, c := range []sluice.Config{rate(sluice.MaxRate, sluice.MaxInterval), rate(1, sluice.MinInterval), keep(time.Second), keep(sluice.MaxInterval)} {
		must(t, w.limiter().SetRate(t.Context(), c))
		if got, err := w.limiter().Config(t.Context()); err != nil || got != c {
			t.Errorf("Config = %v, %v, want %v", got, err, c)
		}
	}
}

// everyMethod calls each method of a limiter with arguments that are right.
func everyMethod(ctx context.Context, l *sluice.Limiter, each func(what string, call func() error)) {
	config := sluice.Config{Rate: sluice.Per(1, time.Second)}
	takers(ctx, l, 1, each)
	each("Release", func() error { return second(l.Release(ctx, 1)) })
	each("Refund", func() error { return second(l.Refund(ctx, receiptFor(1, 0))) })
	each("RefundN", func() error {
		_, _, err := l.RefundN(ctx, receiptFor(2, 0), 1)
		return err
	})
	each("TrySetRate", func() error { return second(l.TrySetRate(ctx, config)) })
	each("SetRate", func() error { return l.SetRate(ctx, config) })
	each("UpdateRate", func() error { return second(l.UpdateRate(ctx, config)) })
	each("Available", func() error { return second(l.Available(ctx)) })
	each("Config", func() error { return second(l.Config(ctx)) })
	each("Exists", func() error { return second(l.Exists(ctx)) })
	each("TTL", func() error { return second(l.TTL(ctx)) })
	each("Ledger", func() error {
		for _, err := range l.Ledger(ctx) {
			return err
		}
		return nil
	})
	each("Expire", func() error { return second(l.Expire(ctx, time.Minute)) })
	each("ExpireAt", func() error { return second(l.ExpireAt(ctx, time.Now().Add(time.Minute))) })
	each("Persist", func() error { return second(l.Persist(ctx)) })
	each("Delete", func() error { return second(l.Delete(ctx)) })
	each("Rename", func() error { return l.Rename(ctx, "y") })
}

func (h Harness) names(t *testing.T) {
	w := newWorld(t, h)
	for _, name := range []string{"", "a{b", "a{}b", "{}x", "{}", "{", "}", "a}b", "x}", "}x", "a{}{b}"} {
		everyMethod(t.Context(), w.of("self").Limiter(name), func(what string, call func() error) {
			w.refused(fmt.Sprintf("%s of %q", what, name), call, invalid("name"))
		})
	}
	everyMethod(t.Context(), sluice.New(w.engine, sluice.WithClientID("")).Limiter("x"), func(what string, call func() error) {
		w.refused(what+" without a client id", call, invalid("client id"))
	})
	for _, name := range []string{
		"x", "a b", "a:b", "ü", "{a}", "a{b}c", "a{b}{}", "a{b}}", "{a}}", "{{a}", "user:{42}:api", "}{a}{", "\x00", strings.Repeat("n", 10_000),
	} {
		l := w.of("self").Limiter(name)
		must(t, l.SetRate(t.Context(), sluice.Config{Rate: sluice.Per(1, time.Second)}))
		if d, err := l.TryAcquire(t.Context(), 1); err != nil || !d.Allowed {
			t.Errorf("TryAcquire of %.20q = %+v, %v, want a permit", name, d, err)
		}
		if d, err := l.TryAcquire(t.Context(), 1); err != nil || d.Allowed {
			t.Errorf("TryAcquire of %.20q = %+v, %v, want a refusal", name, d, err)
		}
	}
}

func (h Harness) withoutRate(t *testing.T) {
	w := newWorld(t, h)
	everyMethod(t.Context(), w.limiter(), func(what string, call func() error) {
		switch what {
		case "TrySetRate", "SetRate":
		case "Exists", "UpdateRate", "Expire", "ExpireAt", "Persist", "Delete", "Release", "Refund", "RefundN":
			w.refused(what, call, func(err error) string {
				if err == nil {
					return ""
				}
				return "no error"
			})
		default:
			w.refused(what, call, sentinel(sluice.ErrNotInitialized))
		}
	})
	must(t, second(w.limiter().Delete(t.Context())))
	w.refused("Engine.Look", func() error {
		return second(w.engine.Look(t.Context(), w.key(), []sluice.Receipt{receiptFor(1, 0)}))
	}, sentinel(sluice.ErrNotInitialized))
}
