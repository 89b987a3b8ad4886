package redisengine

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/sluice-rate/sluice"
	"github.com/sluice-rate/sluice/internal/redistest"
)

// asCluster is a server that refuses keys of two slots, as a cluster does, and loses the answer to a call that charges the keys of one slot.
type asCluster struct {
	*redistest.Conn
	loses  uint16
	trips  int
	losing bool
}

type spreadReply struct {
	value any
	err   error
}

func (r spreadReply) Result() (any, error) { return r.value, r.err }

func (c *asCluster) Eval(ctx context.Context, script string, keys []string, args ...any) spreadReply {
	for _, k := range keys[1:] {
		if hashSlot(k) != hashSlot(keys[0]) {
			return spreadReply{err: errors.New("CROSSSLOT Keys in request don't hash to the same slot")}
		}
	}
	c.trips++
	value, err := c.Conn.Eval(ctx, script, keys, args...).Result()
	if c.losing && script == scriptCharge.text && hashSlot(keys[0]) == c.loses {
		return spreadReply{err: errors.New("the connection is gone")}
	}
	return spreadReply{value, err}
}

func (c *asCluster) EvalSha(context.Context, string, []string, ...any) spreadReply {
	return spreadReply{err: errors.New("NOSCRIPT")}
}

// TestLostAnswerOfOneSlot: the call fails, and what it took in any slot is given back, also where its answer was lost.
func TestLostAnswerOfOneSlot(t *testing.T) {
	server := redistest.Start(t)
	cluster := &asCluster{Conn: redistest.Dial(t, server.Addr())}
	c := sluice.New(New(cluster, nil))
	limit := sluice.Limit{Rate: sluice.Per(3, time.Hour)}
	charges := []sluice.Charge{limit.Charge("a"), limit.Charge("b"), limit.Charge("c")}
	cluster.loses = hashSlot(inlineKey(charges[1].Slot()))

	if o, err := c.Take(t.Context(), charges...); err != nil || !o.Allowed {
		t.Fatalf("Take = %+v, %v, want allowed", o, err)
	}
	cluster.losing = true
	if o, err := c.Take(t.Context(), charges...); !errors.Is(err, sluice.ErrStoreUnavailable) {
		t.Errorf("Take = %+v, %v, want ErrStoreUnavailable", o, err)
	}
	cluster.losing = false
	o, err := c.Peek(t.Context(), charges...)
	if err != nil {
		t.Fatal(err)
	}
	for i, p := range o.Parts {
		if p.Remaining != 2 {
			t.Errorf("%d of charge %d remain, want 2", p.Remaining, i)
		}
	}
}

// TestOneTripASlot: charges that share a slot go together.
func TestOneTripASlot(t *testing.T) {
	server := redistest.Start(t)
	cluster := &asCluster{Conn: redistest.Dial(t, server.Addr())}
	c := sluice.New(New(cluster, nil))
	minute, hour := sluice.Limit{Rate: sluice.Per(3, time.Minute)}, sluice.Limit{Rate: sluice.Per(9, time.Hour)}
	charges := []sluice.Charge{minute.Charge("a"), minute.Charge("b"), hour.Charge("a"), hour.Charge("c").With("b")}
	for range 2 { // the first time it learns that there are slots
		cluster.trips = 0
		if o, err := c.Take(t.Context(), charges...); err != nil || !o.Allowed {
			t.Fatalf("Take = %+v, %v, want allowed", o, err)
		}
	}
	if cluster.trips != 2 {
		t.Errorf("a call in two slots takes %d trips, want 2", cluster.trips)
	}
}
