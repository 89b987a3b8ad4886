package redisengine

import (
	"context"
	"errors"

	"github.com/sluice-rate/sluice"
	"github.com/sluice-rate/sluice/internal/ledger"
)

// The status of a take: see lua/take.lua.
const (
	statusRefused = iota
	statusGranted
	statusTooMany
	statusChecked // refused, after a look at the whole state; only lua/fast.lua says so
)

const answerFields = 4 // status, wait, remaining, reset

// Take implements sluice.Engine: one round trip for each limiter among the takes, in the order in which they first appear.
// When one fails, the answers of those before it are lost with it; their receipts can be given back.
func (e *Engine) Take(ctx context.Context, takes []sluice.Take) ([]sluice.Answer, error) {
	answers := make([]sluice.Answer, len(takes))
	for _, group := range byKey(takes) {
		if err := e.take(ctx, takes, group, answers); err != nil {
			return nil, err
		}
	}
	return answers, nil
}

// byKey is the places of the takes of each key.
func byKey(takes []sluice.Take) [][]int {
	if len(takes) == 1 {
		return [][]int{{0}}
	}
	var groups [][]int
	where := make(map[sluice.Key]int)
	for i, t := range takes {
		g, known := where[t.Key]
		if !known {
			g = len(groups)
			where[t.Key] = g
			groups = append(groups, nil)
		}
		groups[g] = append(groups[g], i)
	}
	return groups
}

// take decides the takes at these places, which are of one key.
func (e *Engine) take(ctx context.Context, takes []sluice.Take, places []int, answers []sluice.Answer) error {
	args := make([]any, 0, 3*len(places))
	for _, i := range places {
		args = append(args, takes[i].MaxWait.Microseconds(), takes[i].Receipt.Permits(), member(takes[i].Receipt))
	}
	r, err := e.on(ctx, scriptTake, takes[places[0]].Key, args...)
	if errors.Is(err, sluice.ErrNotInitialized) || errors.Is(err, sluice.ErrCorrupt) {
		for _, i := range places {
			answers[i].Err = err
		}
		return nil
	}
	if err != nil {
		return err
	}
	for n, i := range places {
		answers[i] = r.answer(headFields+n*answerFields, takes[i])
	}
	return nil
}

// answer is the answer to a take that begins at place i of the reply.
func (r reply) answer(i int, t sluice.Take) sluice.Answer {
	n := t.Receipt.Permits()
	if r.int(i) == statusTooMany {
		return sluice.Answer{Err: &sluice.ExceedsRateError{Limiter: t.Key.Limiter, Permits: n, Rate: r.limit()}}
	}
	d := sluice.Decision{Permits: n, Remaining: r.int(i + 2), ResetAfter: r.micros(i + 3), Limit: r.limit(), At: r.at()}
	if r.int(i) == statusGranted {
		d.Allowed, d.Wait, d.Receipt = true, r.micros(i+1), t.Receipt
		d.Date = d.At.Add(d.Wait)
	} else {
		d.RetryAfter = r.micros(i + 1)
	}
	return sluice.Answer{Decision: d}
}

// GiveBack implements sluice.Engine. A limiter without configuration has nothing to give back to.
func (e *Engine) GiveBack(ctx context.Context, key sluice.Key, returns []sluice.Return) ([]int64, error) {
	args := make([]any, 0, 2*len(returns))
	for _, back := range returns {
		m := ""
		if !back.Receipt.IsZero() {
			m = member(back.Receipt)
		}
		args = append(args, back.Permits, m)
	}
	freed := make([]int64, len(returns))
	r, err := e.on(ctx, scriptGiveBack, key, args...)
	if errors.Is(err, sluice.ErrNotInitialized) {
		return freed, nil
	}
	if err != nil {
		return nil, err
	}
	for i := range freed {
		freed[i] = r.int(headFields + i)
	}
	return freed, nil
}

// Look implements sluice.Engine.
func (e *Engine) Look(ctx context.Context, key sluice.Key, receipts []sluice.Receipt) ([]sluice.Sight, error) {
	args := make([]any, len(receipts))
	for i, receipt := range receipts {
		args[i] = member(receipt)
	}
	r, err := e.on(ctx, scriptLook, key, args...)
	if err != nil {
		return nil, err
	}
	sights := make([]sluice.Sight, len(receipts))
	for i := range sights {
		if at := headFields + 1 + i; r[at] == nil {
			sights[i].Gone = true
		} else {
			sights[i] = sluice.Sight{At: r.at().Add(r.micros(at)), Wait: r.micros(at)}
		}
		sights[i].Settled = int64(i) < r.int(headFields)
	}
	return sights, nil
}

// member is the bytes of a receipt's entry in the sorted set.
func member(r sluice.Receipt) string {
	m := ledger.Member{ID: r.ID(), Permits: uint32(r.Permits())}
	return string(m.Append(make([]byte, 0, ledger.MemberSize)))
}
