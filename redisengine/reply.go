package redisengine

import (
	"fmt"
	"time"

	"github.com/sluice-rate/sluice"
)

// The codes with which each reply begins: see lua/store.lua.
const (
	codeDone = iota
	codeNoConfig
	codeMode
	codeCorrupt
)

// reply is a script's answer: integers, but for texts where the script's header says so.
type reply []any

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
func (r reply) at() time.Time { return time.UnixMicro(r.int(1)) }

// limit is the rate that the script found.
func (r reply) limit() sluice.Rate {
	return sluice.Per(r.int(2), time.Duration(r.int(3))*time.Millisecond)
}

// refusal is the error of a reply whose code is not codeDone.
func (r reply) refusal(verb string, keys []string) error {
	switch r.int(0) {
	case codeNoConfig:
		return sluice.ErrNotInitialized
	case codeCorrupt:
		return &sluice.CorruptError{Key: keys[r.int(1)-1], Problem: r.text(2)}
	}
	return fmt.Errorf("redisengine: %s: %w: the reply is %v", verb, sluice.ErrStoreUnavailable, []any(r))
}
