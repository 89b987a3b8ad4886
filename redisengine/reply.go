package redisengine

import (
	"encoding/binary"
	"fmt"
	"math"
	"time"

	"github.com/sluice-rate/sluice"
)

// The codes with which each reply begins: see lua/store.lua.
const (
	codeDone = iota
	codeNoConfig
	codeMode
	codeCorrupt
	codeAsBelieved // done, in the short form of lua/fast.lua
)

// The places of a list that says done.
const (
	atCode = iota
	atNow
	atRate
	atInterval
	atHealed
	headFields
)

// reply is a script's answer: integers, but for texts where the script's header says so.
type reply []any

// packedSize is the length of a reply of lua/fast.lua: four doubles.
const packedSize = 4 * 8

// unpack reads such a reply: now, status, wait, remaining.
func unpack(packed string) reply {
	r := reply{int64(codeAsBelieved), nil, nil, nil, nil}
	for i := range 4 {
		bits := binary.LittleEndian.Uint64([]byte(packed[8*i : 8*i+8]))
		r[1+i] = int64(math.Float64frombits(bits))
	}
	return r
}

// complete makes the list that lua/take.lua would have given.
func (r reply) complete(b belief) reply {
	now := r.int(atNow)
	status, reset := int64(statusRefused), b.interval*1000
	if r.int(2) == statusGranted {
		status, reset = statusGranted, (now+999)/1000*1000+b.interval*1000-now
	}
	return reply{int64(codeDone), now, b.rate, b.interval, int64(0), status, r[3], r[4], reset}
}

// belief is what the script saw of the configuration.
func (r reply) belief(mode sluice.Mode) belief {
	return belief{rate: r.int(atRate), mode: mode, interval: r.int(atInterval)}
}

func (r reply) int(i int) int64 {
	n, _ := r[i].(int64)
	return n
}

func (r reply) text(i int) string {
	s, _ := r[i].(string)
	return s
}

// micros is a time in microseconds.
func (r reply) micros(i int) time.Duration { return time.Duration(r.int(i)) * time.Microsecond }

// at is the moment at which the script ran.
func (r reply) at() time.Time { return time.UnixMicro(r.int(atNow)) }

// limit is the rate that the script found.
func (r reply) limit() sluice.Rate {
	return sluice.Per(r.int(atRate), time.Duration(r.int(atInterval))*time.Millisecond)
}

// refusal is the error of a reply whose code is not codeDone.
func (r reply) refusal(verb string, keys []string) error {
	switch r.int(atCode) {
	case codeNoConfig:
		return sluice.ErrNotInitialized
	case codeCorrupt:
		return &sluice.CorruptError{Key: keys[r.int(1)-1], Problem: r.text(2)}
	}
	return fmt.Errorf("redisengine: %s: %w: the reply is %v", verb, sluice.ErrStoreUnavailable, []any(r))
}
