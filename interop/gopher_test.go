package interop

import (
	"context"
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/sluice-rate/sluice"
	"github.com/sluice-rate/sluice/redisengine"
)

// gopher is a client of this library, whose limiter's methods are called by name with arguments as text.
type gopher struct {
	limiter  *sluice.Limiter
	id       string
	receipt  sluice.Receipt      // of the last grant
	reserved *sluice.Reservation // the last
	instead  caller              // what answers the calls in its place; nil: it does so itself
}

// caller is something whose methods are called by name with arguments as text.
type caller interface {
	call(ctx context.Context, method string, args []string) (string, error)
}

func newGopher(tb testing.TB, url, name string) *gopher { return newGopherWith(tb, url, name, nil) }

func newGopherWith(tb testing.TB, url, name string, options *redisengine.Options) *gopher {
	tb.Helper()
	rdb := dial(tb, url)
	client := sluice.New(redisengine.New(rdb, options))
	return &gopher{limiter: client.Limiter(name), id: client.ID()}
}

// dial is a Redis client that is closed when the test ends.
func dial(tb testing.TB, url string) *redis.Client {
	tb.Helper()
	o, err := redis.ParseURL(url)
	if err != nil {
		tb.Fatal(err)
	}
	rdb := redis.NewClient(o)
	tb.Cleanup(func() { rdb.Close() })
	return rdb
}

// call calls a method. Cancel and Wait are those of the last reservation, Refund is of the last grant.
func (g *gopher) call(ctx context.Context, method string, args []string) (string, error) {
	if g.instead != nil {
		return g.instead.call(ctx, method, args)
	}
	a := arguments{args: args}
	l := g.limiter
	switch method {
	case "TrySetRate":
		return a.give(l.TrySetRate(ctx, a.config()))
	case "SetRate":
		return a.give(nil, l.SetRate(ctx, a.config()))
	case "UpdateRate":
		return a.give(l.UpdateRate(ctx, a.config()))
	case "Config":
		c, err := l.Config(ctx)
		text := fmt.Sprint(c.Mode, " ", c.Rate)
		if c.KeepAlive > 0 {
			text += fmt.Sprint(" keep ", c.KeepAlive)
		}
		return text, err
	case "TryAcquire":
		return g.decided(l.TryAcquire(ctx, a.number()))
	case "TryAcquireFor":
		return g.decided(l.TryAcquireFor(ctx, a.number(), a.duration()))
	case "Acquire":
		return a.give(nil, l.Acquire(ctx, a.number()))
	case "Many": // so many takes of one permit each
		for n := a.number(); n > 0 && a.err == nil; n-- {
			if d, err := l.TryAcquire(ctx, 1); err != nil || !d.Allowed {
				return "false", err
			}
		}
		return a.give("true", nil)
	case "Reserve":
		r, err := l.Reserve(ctx, a.number(), a.duration())
		if err != nil || !r.Allowed {
			return "false", err
		}
		g.reserved, g.receipt = r, r.Receipt
		return fmt.Sprint("true in ", r.Delay().Round(time.Millisecond)), nil
	case "Cancel":
		return a.give(nil, g.reserved.Cancel(ctx))
	case "Wait":
		return a.give(nil, g.reserved.Wait(ctx))
	case "Refund":
		return a.give(l.Refund(ctx, g.receipt))
	case "RefundN":
		n, rest, err := l.RefundN(ctx, g.receipt, a.number())
		g.receipt = rest
		return a.give(n, err)
	case "Release":
		return a.give(l.Release(ctx, a.number()))
	case "Available":
		return a.give(l.Available(ctx))
	case "Exists":
		return a.give(l.Exists(ctx))
	case "TTL":
		return a.give(l.TTL(ctx))
	case "Expire":
		return a.give(l.Expire(ctx, a.duration()))
	case "ExpireAt":
		return a.give(l.ExpireAt(ctx, time.Now().Add(a.duration())))
	case "Persist":
		return a.give(l.Persist(ctx))
	case "Delete":
		return a.give(l.Delete(ctx))
	case "Rename":
		return a.give(nil, l.Rename(ctx, a.word()))
	case "Ledger":
		var all []string
		for e, err := range l.Ledger(ctx) {
			if err != nil {
				return "", err
			}
			all = append(all, fmt.Sprint(e.Kind, ":", e.Permits))
		}
		return strings.Join(all, " "), nil
	}
	return "", fmt.Errorf("no method %s", method)
}

func (g *gopher) decided(d sluice.Decision, err error) (string, error) {
	if err != nil || !d.Allowed {
		return fmt.Sprint("false retry ", d.RetryAfter.Round(time.Millisecond)), err
	}
	g.receipt = d.Receipt
	return fmt.Sprintf("true %d left", d.Remaining), nil
}

// methodsOf are the exported methods of a type that this side can call.
func methodsOf(v any) (all []string) {
	for m := range reflect.TypeOf(v).Methods() {
		all = append(all, m.Name)
	}
	return all
}

// arguments reads text, and keeps what was wrong with it.
type arguments struct {
	args []string
	err  error
}

func (a *arguments) word() string {
	if len(a.args) == 0 {
		a.err = fmt.Errorf("an argument is missing")
		return ""
	}
	w := a.args[0]
	a.args = a.args[1:]
	return w
}

func (a *arguments) number() int64 {
	n, err := strconv.ParseInt(a.word(), 10, 64)
	if err != nil {
		a.err = err
	}
	return n
}

func (a *arguments) duration() time.Duration {
	d, err := time.ParseDuration(a.word())
	if err != nil {
		a.err = err
	}
	return d
}

// config reads "overall 3/5s" and "overall 3/5s keep 20s".
func (a *arguments) config() (c sluice.Config) {
	var err error
	if c.Mode, err = sluice.ParseMode(a.word()); err != nil {
		a.err = err
	}
	if c.Rate, err = sluice.ParseRate(a.word()); err != nil {
		a.err = err
	}
	if len(a.args) > 0 && a.word() == "keep" {
		c.KeepAlive = a.duration()
	}
	return c
}

// give is the text of a result; nil is "-".
func (a *arguments) give(v any, err error) (string, error) {
	if a.err != nil {
		err = a.err
	}
	if v == nil {
		v = "-"
	}
	return fmt.Sprint(v), err
}
