package enginetest

import (
	"context"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"time"
)

// meddling is what others do to the keys: peers, evictions, hands.
var meddling map[string]command

func init() { // not in the declaration, which would refer to itself through keyNamed
	meddling = map[string]command{
		"keys": listKeys, "lose": lose, "put": put, "hset": hset, "hdel": hdel, "foreign": foreign, "member": member,
	}
}

func needsKeys(steps []step) bool {
	return slices.ContainsFunc(steps, func(s step) bool { return meddling[s.verb] != nil })
}

// redis runs a command that cannot fail.
func (w *world) redis(args ...any) any {
	w.Helper()
	reply, err := w.keys.Do(context.WithoutCancel(w.Context()), args...)
	if err != nil {
		w.Fatalf("%s: %v: %v", w.at, args, err)
	}
	return reply
}

func (w *world) number(args ...any) int64 {
	w.Helper()
	switch n := w.redis(args...).(type) {
	case int64:
		return n
	case string:
		i, _ := strconv.ParseInt(n, 10, 64)
		return i
	}
	return 0
}

// keyNames is the configuration, the value and the ledger that count for the client that asks.
func (w *world) keyNames() (config, value, permits string) {
	value, permits = "{"+w.name+"}:value", "{"+w.name+"}:permits"
	if strings.Contains(w.name, "{") {
		value, permits = w.name+":value", w.name+":permits"
	}
	if mode, _ := w.keys.Do(w.Context(), "HGET", w.name, "type"); mode == "1" {
		value, permits = value+":"+w.client, permits+":"+w.client
	}
	return w.name, value, permits
}

func (w *world) keyNamed(s *step, which string) string {
	config, value, permits := w.keyNames()
	switch which {
	case "config":
		return config
	case "value":
		return value
	case "ledger":
		return permits
	}
	panic(s.badf("a limiter has a value, a ledger and a config, not a %q", which))
}

func lose(w *world, s *step) string {
	for _, which := range s.args {
		w.redis("DEL", w.keyNamed(s, which))
	}
	w.meddled = true
	return ""
}

func put(w *world, s *step) string {
	w.redis("SET", w.keyNamed(s, s.arg(0)), s.arg(1))
	w.meddled = true
	if s.arg(0) == "value" {
		w.drift()
	}
	return ""
}

// drift notes an edit that only an audit can find. There is one whenever the oldest grant goes on to another interval,
// so all is well after two of them.
func (w *world) drift() {
	interval := time.Duration(w.number("HGET", w.name, "interval")) * time.Millisecond
	w.driftUntil = w.clock.now().Add(2 * interval)
}

func hset(w *world, s *step) string {
	args := []any{"HSET", w.name}
	for _, a := range s.args {
		args = append(args, a)
	}
	w.redis(args...)
	w.meddled = true
	w.keepAlive = w.keepAlive || slices.Contains(s.args, "keepAliveTime")
	return ""
}

func hdel(w *world, s *step) string {
	args := []any{"HDEL", w.name}
	for _, a := range s.args {
		args = append(args, a)
	}
	w.redis(args...)
	w.meddled = true
	return ""
}

// foreign takes as Redisson's script does when it grants: by the caller's clock, from the value alone.
func foreign(w *world, s *step) string {
	n := s.number(s.arg(0))
	date := w.clock.now().Add(s.duration(s.opt("at", "0s"))).UnixMilli()
	size := int(s.number(s.opt("size", "21")))
	m := make([]byte, size)
	for i := range m {
		m[i] = byte(rand.Uint32())
	}
	switch size {
	case 13, 21:
		m[0] = byte(size - 5)
	case 20:
		copy(m, "\x08\x00\x00\x00\x00\x00\x00\x00")
	}
	binary.LittleEndian.PutUint32(m[size-4:], uint32(n))
	if label, named := s.opts["as"]; named && size == 21 {
		w.labels[[16]byte(m[1:])] = label
	}
	_, value, permits := w.keyNames()
	if w.redis("GET", value) == nil {
		w.redis("SET", value, w.redis("HGET", w.name, "rate"))
	}
	w.redis("ZADD", permits, date, m)
	w.redis("DECRBY", value, n)
	if w.meddled {
		w.drift() // it may have gone by a wrong value, which the entry hides now
	}
	w.meddled = true
	return ""
}

func member(w *world, s *step) string {
	m, err := hex.DecodeString(s.arg(0))
	if err != nil {
		panic(s.badf("%v", err))
	}
	date := w.clock.now().Add(s.duration(s.opt("at", "0s"))).UnixMilli()
	_, _, permits := w.keyNames()
	w.redis("ZADD", permits, date, m)
	w.meddled = true
	w.drift()
	return ""
}

func listKeys(w *world, s *step) string {
	names := w.strings("KEYS", "*")
	slices.Sort(names)
	var lines []string
	for _, name := range names {
		line := name + ": " + w.content(name)
		if ttl := w.ttl(name); ttl >= 0 {
			line += ", ttl " + lifetime(time.Duration(ttl)*time.Millisecond)
		}
		lines = append(lines, line)
	}
	if lines == nil {
		return "none"
	}
	return strings.Join(lines, "\n")
}

func (w *world) content(key string) string {
	switch kind := w.redis("TYPE", key); kind {
	case "string":
		if strings.HasPrefix(key, "sl:") { // of a limit that travels with the call: see redisengine/lua/inline_bytes.lua
			return fmt.Sprintf("%d bytes", w.number("STRLEN", key))
		}
		return w.redis("GET", key).(string)
	case "hash":
		fields := w.strings("HGETALL", key)
		var pairs []string
		for i := 0; i < len(fields); i += 2 {
			pairs = append(pairs, fields[i]+"="+fields[i+1])
		}
		slices.Sort(pairs)
		return strings.Join(pairs, " ")
	case "zset":
		entries := w.rawLedger(key)
		texts := make([]string, len(entries))
		for i, e := range entries {
			texts[i] = fmt.Sprintf("@%v %d", e.date, e.permits)
			if len(e.member) == 21 {
				if label, named := w.labels[[16]byte([]byte(e.member[1:17]))]; named {
					texts[i] += " " + label
				}
			}
			if i > 0 && e.date == entries[i-1].date && texts[i] < texts[i-1] { // two of a date come in any order
				texts[i-1], texts[i] = texts[i], texts[i-1]
			}
		}
		return strings.Join(texts, ", ")
	default:
		return fmt.Sprintf("a %v", kind)
	}
}

func (w *world) strings(args ...any) []string {
	w.Helper()
	list, _ := w.redis(args...).([]any)
	texts := make([]string, len(list))
	for i := range list {
		texts[i], _ = list[i].(string)
	}
	return texts
}

// rawEntry is an entry as it lies in Redis, its date in milliseconds from the start.
type rawEntry struct {
	member  string
	date    float64
	permits int64
}

// rawLedger reads a ledger by what is known of Redisson's formats, not by the code that is tested.
func (w *world) rawLedger(key string) []rawEntry {
	list := w.strings("ZRANGE", key, 0, -1, "WITHSCORES")
	entries := make([]rawEntry, len(list)/2)
	for i := range entries {
		m := list[2*i]
		score, _ := strconv.ParseFloat(list[2*i+1], 64)
		entries[i] = rawEntry{member: m, date: score - float64(w.clock.start.UnixMilli())}
		switch n := len(m); {
		case n == 8, n == 13 && m[0] == 8, n == 20, n == 21 && m[0] == 16:
			entries[i].permits = int64(binary.LittleEndian.Uint32([]byte(m[n-4:])))
		}
		if math.IsInf(score, 0) {
			entries[i].date = score
		}
	}
	return entries
}
