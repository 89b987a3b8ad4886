package cli_test

import (
	"encoding/hex"
	"fmt"
	"time"
)

// The bytes here are those that Redisson stores, written down from its source.

// redissonIDs are what Redisson calls its instances.
var redissonIDs = []string{"0b7d6c4e-3a4f-4c8e-9d3b-5f0a1b2c3d4e", "d3c1a8a2-9d52-4b7c-8f35-1f9a0b8a7c11"}

// redissonEntry is a member of the ledger as Redisson 3.21 and later write it, with 16 random bytes of which the first is seed.
func redissonEntry(seed byte, permits uint32) []byte {
	id := "aaabacadaeafb0b1b2b3b4b5b6b7b8"
	return unhex(fmt.Sprintf("10%02x%s%02x%02x%02x%02x", seed, id, byte(permits), byte(permits>>8), byte(permits>>16), byte(permits>>24)))
}

func unhex(text string) []byte {
	b, err := hex.DecodeString(text)
	if err != nil {
		panic(err)
	}
	return b
}

// redissonConfig stores what trySetRate of Redisson 3.38 and later stores.
func (w *world) redissonConfig(name string, rate, intervalMS, mode int) {
	w.t.Helper()
	w.conn.Int(w.t, "HSETNX", name, "rate", rate)
	w.conn.Int(w.t, "HSETNX", name, "interval", intervalMS)
	w.conn.Int(w.t, "HSETNX", name, "keepAliveTime", 0)
	w.conn.Int(w.t, "HSETNX", name, "type", mode)
}

// redissonState stores a value and the entries of a ledger, each dated so long before now.
func (w *world) redissonState(value, ledger string, free int, entries ...aged) {
	w.t.Helper()
	w.conn.Str(w.t, "SET", value, free)
	for _, e := range entries {
		w.conn.Int(w.t, "ZADD", ledger, w.now().Add(-e.age).UnixMilli(), e.member)
	}
}

// aged is an entry of some age.
type aged struct {
	age    time.Duration
	member []byte
}

// now is the store's clock.
func (w *world) now() time.Time {
	w.t.Helper()
	t := w.conn.Strings(w.t, "TIME")
	var seconds, micros int64
	fmt.Sscan(t[0], &seconds)
	fmt.Sscan(t[1], &micros)
	return time.UnixMicro(seconds*1_000_000 + micros)
}
