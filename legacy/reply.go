package legacy

import (
	"fmt"
	"time"

	"github.com/sluice-rate/sluice"
)

// The codes with which each reply begins: see lua/store.lua.
const (
	codeDone = iota
	codeNoConfig
	codeExceeds
	codeCorrupt
	codeLedger
	codeEndless
)

// The places of a list that says done, or that it is more than the rate.
const (
	atCode = iota
	atRate
	atInterval
	headFields
)

// reply is a script's answer: integers, but for the text of codeCorrupt.
type reply []any

func (r reply) int(i int) int64 {
	if i >= len(r) {
		return 0
	}
	n, _ := r[i].(int64)
	return n
}

func (r reply) text(i int) string {
	if i >= len(r) {
		return ""
	}
	s, _ := r[i].(string)
	return s
}

// limit is the rate that the script found.
func (r reply) limit() sluice.Rate {
	return sluice.Per(r.int(atRate), time.Duration(r.int(atInterval))*time.Millisecond)
}

// refusal is the error of a reply that gives no answer.
func (r reply) refusal(keys []string) error {
	code, ok := r[atCode].(int64)
	i := int(r.int(1)) - 1
	switch {
	case ok && (code == codeDone || code == codeExceeds):
		return nil
	case code == codeNoConfig:
		return sluice.ErrNotInitialized
	case !ok || code > codeEndless || i < 0 || i >= len(keys):
		return fmt.Errorf("legacy: %w: the reply is %v", sluice.ErrStoreUnavailable, []any(r))
	}
	corrupt := &sluice.CorruptError{Key: keys[i]}
	switch code {
	case codeLedger:
		corrupt.Problem = fmt.Sprintf("exists: Redisson 3.13.3 or newer, or this library's main limiter, has used this name, and cannot share a limiter "+
			"with older ones. If it still does, use sluice.Limiter here too, once all Java services are on 3.17 or newer, or another name; "+
			"if not, delete what it left: DEL %q %q", keys[i], keys[i-2])
	case codeEndless:
		corrupt.Problem = fmt.Sprintf("has no time to live, as a window has: Redisson 3.13.3 or newer, or this library's main limiter, has used this name, "+
			"and a Redisson up to 3.13.2 would ask for ever without a pause. If it is still used so, use sluice.Limiter here too, once all Java "+
			"services are on 3.17 or newer, or another name; if not, delete what is left: DEL %q", keys[i])
	default:
		corrupt.Problem = r.text(2)
	}
	return corrupt
}
