package clienttest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/sluice-rate/sluice"
)

// behaviours are what every client has to carry: all methods of a limiter, and whatever could get lost on the way.
var behaviours = []struct {
	name string
	test func(p *place)
}{
	{"a configuration is stored and changed", configures},
	{"a rate is granted and no more", grants},
	{"clients count for themselves", countsPerClient},
	{"a caller waits its turn", waits},
	{"callers wait at the same time", waitTogether},
	{"a reservation is waited out or cancelled", reserves},
	{"permits come back", givesBack},
	{"a receipt may hold any bytes", carriesAnyBytes},
	{"a long ledger is read in pages", pages},
	{"nothing among the answers", looksForWhatIsGone},
	{"a limiter expires and is deleted", expires},
	{"a limiter is renamed within a hash tag", renames},
	{"a limiter is renamed to anywhere", renamesAcrossSlots},
	{"names that cannot be are refused", checksNames},
	{"every node has its limiters", spreads},
	{"a key of another type is reported", reportsCorruption},
	{"a script that the server has forgotten is sent once", healsNoScript},
	{"a context that has ended sends nothing", heedsContext},
}

func configures(p *place) {
	ctx, l := p.Context(), p.client.Limiter(p.name())
	first := sluice.Config{Rate: sluice.Per(3, time.Minute)}
	second := sluice.Config{Rate: sluice.Per(5, time.Hour), Mode: sluice.PerClient, KeepAlive: 2 * time.Hour}

	if _, err := l.Config(ctx); !errors.Is(err, sluice.ErrNotInitialized) {
		p.Errorf("Config() of none: error %v, want ErrNotInitialized", err)
	}
	if _, err := l.TryAcquire(ctx, 1); !errors.Is(err, sluice.ErrNotInitialized) {
		p.Errorf("TryAcquire(1) of none: error %v, want ErrNotInitialized", err)
	}
	done, err := l.Exists(ctx)
	expect(p, "Exists() of none", done, err, false)
	done, err = l.UpdateRate(ctx, first)
	expect(p, "UpdateRate() of none", done, err, false)
	done, err = l.TrySetRate(ctx, first)
	expect(p, "TrySetRate()", done, err, true)
	done, err = l.TrySetRate(ctx, second)
	expect(p, "TrySetRate() again", done, err, false)
	done, err = l.Exists(ctx)
	expect(p, "Exists()", done, err, true)
	config, err := l.Config(ctx)
	expect(p, "Config()", config, err, first)
	done, err = l.UpdateRate(ctx, sluice.Config{Rate: sluice.Per(4, time.Minute)})
	expect(p, "UpdateRate()", done, err, true)
	if err := l.SetRate(ctx, second); err != nil {
		p.Error(err)
	}
	config, err = l.Config(ctx)
	expect(p, "Config() after SetRate", config, err, second)
}

func grants(p *place) {
	l := p.limiter(sluice.Config{Rate: sluice.Per(5, time.Hour)})
	if d := p.take(l, 3); d.Remaining != 2 || d.Limit != sluice.Per(5, time.Hour) || d.Receipt.IsZero() || time.Since(d.At).Abs() > time.Minute {
		p.Errorf("TryAcquire(3) = %+v, want 2 remaining of 5/1h, a receipt, and about now", d)
	}
	d, err := l.TryAcquire(p.Context(), 3)
	if err != nil || d.Allowed || d.Remaining != 2 || d.RetryAfter < 59*time.Minute || d.RetryAfter > time.Hour+time.Millisecond {
		p.Errorf("TryAcquire(3) of 2 = %+v, %v, want a refusal for an hour", d, err)
	}
	p.take(l, 2)
	d, err = l.TryAcquireFor(p.Context(), 1, time.Minute)
	expect(p, "TryAcquireFor(1, 1m)", d.Allowed, err, false)
	if _, err := l.TryAcquire(p.Context(), 6); !errors.Is(err, sluice.ErrExceedsRate) {
		p.Errorf("TryAcquire(6) of 5: error %v, want ErrExceedsRate", err)
	}
	p.wantAvailable(l, 0)
}

func countsPerClient(p *place) {
	config := sluice.Config{Rate: sluice.Per(2, time.Hour), Mode: sluice.PerClient}
	l := p.limiter(config)
	other := sluice.New(p.engine, sluice.WithClientID("another")).Limiter(l.Name())
	p.take(l, 2)
	p.wantAvailable(l, 0)
	p.take(other, 1)
	p.wantAvailable(other, 1)
	config.Mode = sluice.Overall
	if err := l.SetRate(p.Context(), config); err != nil {
		p.Fatal(err)
	}
	p.take(other, 1) // it believes in the old mode
	p.wantAvailable(l, 1)
}

func waits(p *place) {
	const interval = 200 * time.Millisecond
	l := p.limiter(sluice.Config{Rate: sluice.Per(1, interval)})
	p.take(l, 1)
	start := time.Now()
	if err := l.Acquire(p.Context(), 1); err != nil {
		p.Fatal(err)
	}
	d, err := l.TryAcquireFor(p.Context(), 1, time.Minute)
	if err != nil || !d.Allowed || d.Wait < interval/2 {
		p.Errorf("TryAcquireFor(1, 1m) = %+v, %v, want a wait of about %v", d, err, interval)
	}
	// The first permit was taken before the start, by the time of one round trip.
	if took := time.Since(start); took < 2*interval-50*time.Millisecond {
		p.Errorf("two waits took %v, want %v", took, 2*interval)
	}

	ctx, cancel := context.WithTimeout(p.Context(), interval/10)
	defer cancel()
	err = l.Acquire(ctx, 1)
	if limited, ok := errors.AsType[*sluice.LimitedError](err); !ok || limited.RetryAfter <= 0 || !errors.Is(err, context.DeadlineExceeded) {
		p.Errorf("Acquire(1) with too little time = %v, want a LimitedError by the deadline", err)
	}
}

func waitTogether(p *place) {
	const callers, interval = 20, 100 * time.Millisecond
	l := p.limiter(sluice.Config{Rate: sluice.Per(callers/2, interval)})
	p.take(l, callers/2)
	var group sync.WaitGroup
	for range callers {
		group.Go(func() {
			if err := l.Acquire(p.Context(), 1); err != nil {
				p.Error(err)
			}
		})
	}
	group.Wait()
}

func reserves(p *place) {
	const interval = 200 * time.Millisecond
	l := p.limiter(sluice.Config{Rate: sluice.Per(1, interval)})
	p.take(l, 1)
	first, err := l.Reserve(p.Context(), 1, time.Minute)
	if err != nil || !first.Allowed || first.Delay() <= 0 {
		p.Fatalf("Reserve() = %+v, %v, want one in the future", first, err)
	}
	second, err := l.Reserve(p.Context(), 1, time.Minute)
	if err != nil || second.Delay() <= interval/2 {
		p.Fatalf("Reserve() = %+v, %v, want one behind the first", second, err)
	}
	if err := second.Cancel(p.Context()); err != nil {
		p.Error(err)
	}
	if n := p.store.do(p, "ZCARD", l.Name()+":permits"); n != int64(2) {
		p.Errorf("%v entries after a cancellation, want 2", n)
	}
	if err := first.Wait(p.Context()); err != nil || first.Delay() != 0 {
		p.Errorf("Wait() = %v with %v to go, want it waited out", err, first.Delay())
	}
	refused, err := l.Reserve(p.Context(), 1, 0)
	if err != nil || refused.Allowed {
		p.Errorf("Reserve() with no patience = %+v, %v, want it refused", refused, err)
	}
}

func givesBack(p *place) {
	ctx, l := p.Context(), p.limiter(sluice.Config{Rate: sluice.Per(10, time.Hour)})
	first, second := p.take(l, 4).Receipt, p.take(l, 5).Receipt
	text, _ := first.MarshalText()
	if err := first.UnmarshalText(text); err != nil {
		p.Fatal(err)
	}
	freed, rest, err := l.RefundN(ctx, first, 1)
	expect(p, "RefundN(1)", freed, err, 1)
	freed, err = l.Refund(ctx, first)
	expect(p, "Refund() of a receipt that was changed", freed, err, 0)
	freed, err = l.Refund(ctx, rest)
	expect(p, "Refund() of the rest", freed, err, 3)
	freed, err = l.Release(ctx, 2)
	expect(p, "Release(2)", freed, err, 2)
	freed, err = l.Refund(ctx, second)
	expect(p, "Refund() of what a release has reached", freed, err, 0)
	freed, err = l.Release(ctx, 7)
	expect(p, "Release(7) of 3", freed, err, 3)
	p.wantAvailable(l, 10)
}

// carriesAnyBytes takes with receipts that would break wherever bytes are taken for text.
func carriesAnyBytes(p *place) {
	l := p.limiter(sluice.Config{Rate: sluice.Per(100, time.Hour)})
	for i, random := range []string{
		"\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00", "\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff",
		"\r\n$5\r\n*3\r\n", `"'\%s{}[]`, "\xc3\x28\xa0\xa1\xe2\x28\xa1\xf0\x28\x8c", "\x80\x81\xfe \t\v\x1b\x7f\x00\n",
	} {
		id := [16]byte{'S', 'L'}
		copy(id[6:], random)
		n := uint32(i + 1)
		receipt := sluice.ReceiptFrom(id, n)
		answers, err := p.engine.Take(p.Context(), []sluice.Take{{Key: sluice.Key{Limiter: l.Name(), Client: "c"}, Receipt: receipt}})
		if err != nil || answers[0].Err != nil || !answers[0].Decision.Allowed {
			p.Fatalf("Take(%q) = %+v, %v, want allowed", random, answers, err)
		}
		member := "\x10" + string(id[:]) + string([]byte{byte(n), 0, 0, 0})
		if p.store.do(p, "ZSCORE", l.Name()+":permits", member) == nil {
			p.Errorf("the ledger has no entry with the bytes %q", member)
		}
		listed := false
		for e, err := range l.Ledger(p.Context()) {
			if err != nil {
				p.Fatal(err)
			}
			listed = listed || e.Receipt == receipt && e.Permits == int64(n) && e.Kind == sluice.KindGrant
		}
		if !listed {
			p.Errorf("Ledger() has no grant with the receipt %v", receipt)
		}
		freed, err := l.Refund(p.Context(), receipt)
		expect(p, fmt.Sprintf("Refund(%v)", receipt), freed, err, int64(n))
	}
	p.wantAvailable(l, 100)
}

func pages(p *place) {
	const grants = 1234 // two pages of 500 and a part of one
	l := p.limiter(sluice.Config{Rate: sluice.Per(2000, time.Hour)})
	takes := make([]sluice.Take, grants)
	for i := range takes {
		id := [16]byte{'S', 'L', 6: byte(i), byte(i >> 8)}
		takes[i] = sluice.Take{Key: sluice.Key{Limiter: l.Name(), Client: "c"}, Receipt: sluice.ReceiptFrom(id, 1)}
	}
	if _, err := p.engine.Take(p.Context(), takes); err != nil {
		p.Fatal(err)
	}
	seen := make(map[sluice.Receipt]bool)
	var last time.Time
	for e, err := range l.Ledger(p.Context()) {
		if err != nil {
			p.Fatal(err)
		}
		if seen[e.Receipt] || e.At.Before(last) {
			p.Fatalf("Ledger() gives %+v out of order", e)
		}
		seen[e.Receipt], last = true, e.At
	}
	for _, t := range takes {
		if !seen[t.Receipt] {
			p.Fatalf("Ledger() gives %d grants, without %v", len(seen), t.Receipt)
		}
	}
}

// looksForWhatIsGone has a null in the list that the script answers.
func looksForWhatIsGone(p *place) {
	l := p.limiter(sluice.Config{Rate: sluice.Per(1, time.Hour)})
	there, gone := p.take(l, 1).Receipt, sluice.ReceiptFrom([16]byte{'S', 'L', 15: 1}, 1)
	sights, err := p.engine.Look(p.Context(), sluice.Key{Limiter: l.Name(), Client: "c"}, []sluice.Receipt{gone, there, gone})
	if err != nil {
		p.Fatal(err)
	}
	var found []bool
	for _, s := range sights {
		found = append(found, !s.Gone)
	}
	if want := []bool{false, true, false}; !slices.Equal(found, want) {
		p.Errorf("Look() has found %v, want %v", found, want)
	}
}

func expires(p *place) {
	ctx, l := p.Context(), p.limiter(sluice.Config{Rate: sluice.Per(1, time.Second)})
	p.take(l, 1)
	ttl, err := l.TTL(ctx)
	expect(p, "TTL()", ttl, err, 0)
	done, err := l.Expire(ctx, time.Hour)
	expect(p, "Expire(1h)", done, err, true)
	if ttl, err := l.TTL(ctx); err != nil || ttl <= 59*time.Minute || ttl > time.Hour {
		p.Errorf("TTL() = %v, %v, want an hour", ttl, err)
	}
	done, err = l.ExpireAt(ctx, time.Now().Add(2*time.Hour))
	expect(p, "ExpireAt(in 2h)", done, err, true)
	done, err = l.Persist(ctx)
	expect(p, "Persist()", done, err, true)
	ttl, err = l.TTL(ctx)
	expect(p, "TTL() after Persist", ttl, err, 0)
	done, err = l.Delete(ctx)
	expect(p, "Delete()", done, err, true)
	done, err = l.Delete(ctx)
	expect(p, "Delete() again", done, err, false)
	done, err = l.Expire(ctx, time.Hour)
	expect(p, "Expire(1h) of none", done, err, false)
}

func renames(p *place) {
	l := p.limiter(sluice.Config{Rate: sluice.Per(3, time.Hour)})
	receipt := p.take(l, 2).Receipt
	other := p.client.Limiter(l.Name() + ":renamed")
	if err := l.Rename(p.Context(), other.Name()); err != nil {
		p.Fatal(err)
	}
	done, err := l.Exists(p.Context())
	expect(p, "Exists() by the old name", done, err, false)
	p.wantAvailable(other, 1)
	freed, err := other.Refund(p.Context(), receipt)
	expect(p, "Refund() by the new name", freed, err, 2)
	if err := l.Rename(p.Context(), other.Name()); !errors.Is(err, sluice.ErrNotInitialized) {
		p.Errorf("Rename() of none: error %v, want ErrNotInitialized", err)
	}
}

func renamesAcrossSlots(p *place) {
	l := p.limiter(sluice.Config{Rate: sluice.Per(3, time.Hour)})
	p.take(l, 2)
	other := p.client.Limiter(p.name())
	err := l.Rename(p.Context(), other.Name())
	if !p.kind.cluster {
		if err != nil {
			p.Fatal(err)
		}
		p.wantAvailable(other, 1)
		return
	}
	if invalid, ok := errors.AsType[*sluice.InvalidError](err); !ok || invalid.Field != "new name" || !errors.Is(err, sluice.ErrInvalid) {
		p.Errorf("Rename() to another slot: error %v, want an InvalidError of the new name", err)
	}
	p.wantAvailable(l, 1)
}

func checksNames(p *place) {
	before := p.store.scriptCalls(p)
	for _, name := range []string{"", "a}b", "a{}b", "a{b", "{"} {
		if _, err := p.client.Limiter(name).TryAcquire(p.Context(), 1); !errors.Is(err, sluice.ErrInvalid) {
			p.Errorf("TryAcquire(1) of %q: error %v, want ErrInvalid", name, err)
		}
	}
	if n := p.store.scriptCalls(p) - before; n != 0 {
		p.Errorf("%d scripts have run for bad names, want none", n)
	}
	for _, name := range []string{"plain", "with spaces and ünïcode", "a{b}c", "{a}{b}", "{a}}", "\r\n\x00"} {
		l := p.client.Limiter(name)
		if err := l.SetRate(p.Context(), sluice.Config{Rate: sluice.Per(2, time.Hour)}); err != nil {
			p.Errorf("SetRate() of %q: %v", name, err)
			continue
		}
		p.take(l, 1)
		p.wantAvailable(l, 1)
		if _, err := l.Delete(p.Context()); err != nil {
			p.Error(err)
		}
	}
}

func spreads(p *place) {
	var takes []sluice.Take
	for i := range 60 {
		l := p.limiter(sluice.Config{Rate: sluice.Per(1, time.Hour)})
		receipt := sluice.ReceiptFrom([16]byte{'S', 'L', 15: byte(i)}, 1)
		takes = append(takes, sluice.Take{Key: sluice.Key{Limiter: l.Name(), Client: "c"}, Receipt: receipt})
	}
	answers, err := p.engine.Take(p.Context(), takes)
	if err != nil {
		p.Fatal(err)
	}
	for i, a := range answers {
		if a.Err != nil || !a.Decision.Allowed || a.Decision.Receipt != takes[i].Receipt {
			p.Fatalf("Take() of %s = %+v, want its receipt", takes[i].Key.Limiter, a)
		}
	}
	for i, node := range p.store.nodes {
		if node.Int(p, "DBSIZE") == 0 {
			p.Errorf("node %d has no keys", i)
		}
	}
}

func reportsCorruption(p *place) {
	l := p.client.Limiter(p.name())
	p.store.do(p, "SET", l.Name(), "text")
	_, err := l.TryAcquire(p.Context(), 1)
	if corrupt, ok := errors.AsType[*sluice.CorruptError](err); !ok || corrupt.Key != l.Name() {
		p.Errorf("TryAcquire(1) of a string: error %v, want a CorruptError of %s", err, l.Name())
	}
}

func healsNoScript(p *place) {
	l := p.limiter(sluice.Config{Rate: sluice.Per(100, time.Hour)})
	p.take(l, 1)
	p.store.everywhere(p, "SCRIPT", "FLUSH")
	before := p.store.scriptCalls(p)
	p.take(l, 1)
	p.take(l, 1)
	if n := p.store.scriptCalls(p) - before; n != 3 {
		p.Errorf("two takes after SCRIPT FLUSH made %d calls, want 3: one by its hash, one with its text, one by its hash", n)
	}

	p.store.everywhere(p, "SCRIPT", "FLUSH")
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			if d, err := l.TryAcquire(p.Context(), 1); err != nil || !d.Allowed {
				p.Errorf("TryAcquire(1) = %+v, %v, want allowed", d, err)
			}
		})
	}
	group.Wait()
	p.wantAvailable(l, 89)
}

func heedsContext(p *place) {
	l := p.limiter(sluice.Config{Rate: sluice.Per(1, time.Hour)})
	ctx, cancel := context.WithCancel(p.Context())
	cancel()
	if err := l.Acquire(ctx, 1); !errors.Is(err, context.Canceled) {
		p.Errorf("Acquire(1) with a context that has ended: error %v, want context.Canceled", err)
	}
	if _, err := l.Available(ctx); !errors.Is(err, context.Canceled) {
		p.Errorf("Available() with a context that has ended: error %v, want context.Canceled", err)
	}
	p.wantAvailable(l, 1)
}
