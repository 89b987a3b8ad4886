package survey

import (
	"context"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/sluice-rate/sluice"
)

// The types of keys, as Redis calls them.
const (
	kindNone   = "none"
	kindHash   = "hash"
	kindString = "string"
	kindZset   = "zset"
)

// Stored is a limiter's configuration as it is stored.
type Stored struct {
	Kind   string        // the type of the key: "none", "hash", …
	Config sluice.Config // of the fields that make sense; zero where one does not
	TTL    time.Duration // how long the key lives; 0 for ever
	fields [4]field      // in the order of fieldNames

	faults []string // what is wrong with a field that cannot be done without: no call works
	doubts []string // what is wrong with a field that this library bears
}

// field is a field of the hash.
type field struct {
	text string
	set  bool
}

var fieldNames = [4]string{"rate", "interval", "type", "keepAliveTime"}

// Exists reports whether there is a configuration, though it may be wrong: this library's test.
func (s *Stored) Exists() bool {
	return s.Kind == kindHash && (s.fields[0].set || s.fields[1].set || s.fields[2].set)
}

// Complete reports whether the hash has all three fields that make a configuration, and they make sense: then a limiter wrote it.
func (s *Stored) Complete() bool {
	return s.valid() && (s.fields[2].text == "0" || s.fields[2].text == "1")
}

// valid reports whether calls can work with it.
func (s *Stored) valid() bool { return s.Exists() && len(s.faults) == 0 }

type configReply struct {
	kind    *redis.StatusCmd
	fields  *redis.SliceCmd
	ttl     *redis.DurationCmd
	sibling *redis.BoolCmd
}

func askConfig(ctx context.Context, p redis.Pipeliner, name string) configReply {
	r := configReply{kind: p.Type(ctx, name), fields: p.HMGet(ctx, name, fieldNames[:]...), ttl: p.PTTL(ctx, name)}
	if other := sibling(name); other != "" {
		r.sibling = p.HExists(ctx, other, "rate")
	}
	return r
}

func (r configReply) read() Stored {
	s := Stored{Kind: r.kind.Val(), TTL: max(0, r.ttl.Val())}
	if s.Kind == "" { // was not asked for
		s.Kind = kindHash
	}
	if values := r.fields.Val(); len(values) == len(s.fields) {
		for i, v := range values {
			s.fields[i].text, s.fields[i].set = v.(string)
		}
	}
	if s.Exists() {
		s.parse()
	}
	return s
}

// parse reads the fields by the rules of the library's scripts.
func (s *Stored) parse() {
	maxInterval := float64(sluice.MaxInterval.Milliseconds())
	rate, interval, kind, keep := s.fields[0], s.fields[1], s.fields[2], s.fields[3]
	if n, ok := number(rate.text); !rate.set || !ok || n < 1 || n >= 9.3e18 {
		s.fault(0, "a number of permits of at least 1")
	} else {
		s.Config.Rate.Permits = sluice.MaxRate
		if n < float64(sluice.MaxRate) {
			s.Config.Rate.Permits = int64(n)
		} else if n > float64(sluice.MaxRate) {
			s.doubt(0, "above 2^53-1: this library takes it for that, and Redisson fails when it has to store such a number; give it a rate that is meant")
		}
	}
	if n, ok := number(interval.text); !interval.set || !ok || n != math.Trunc(n) || n < 1 || n > maxInterval {
		s.fault(1, "a number of milliseconds from 1 to 100 years")
	} else {
		s.Config.Rate.Interval = time.Duration(n) * time.Millisecond
	}
	switch {
	case !kind.set:
		s.fault(2, "0 (one budget for all) or 1 (one for each client)")
	case kind.text == "1":
		s.Config.Mode = sluice.PerClient
	case kind.text != "0":
		s.doubt(2, "neither 0 nor 1: takes go on as if it were 0, and Redisson's getConfig fails")
	}
	if !keep.set {
		return // as Redisson before 3.38 writes it
	}
	n, ok := number(keep.text)
	switch {
	case !ok || n != math.Trunc(n) || n < 0:
		s.doubt(3, "not a number of milliseconds: this library takes it for none, and Redisson's calls fail")
	case n > maxInterval:
		s.Config.KeepAlive = sluice.MaxInterval
		s.doubt(3, "above 100 years: this library takes it for that, and Redisson's calls may fail")
	default:
		s.Config.KeepAlive = time.Duration(n) * time.Millisecond
		if n > 0 && s.Config.KeepAlive < s.Config.Rate.Interval {
			s.doubt(3, "shorter than the interval: permits that are in use may be forgotten and granted again")
		}
	}
}

func (s *Stored) fault(i int, want string) {
	if !s.fields[i].set {
		s.faults = append(s.faults, "has no field "+fieldNames[i]+", which has to be "+want)
		return
	}
	s.faults = append(s.faults, "has a field "+fieldNames[i]+" that is "+quote(s.fields[i].text)+", but has to be "+want)
}

func (s *Stored) doubt(i int, text string) {
	s.doubts = append(s.doubts, "has a field "+fieldNames[i]+" that is "+quote(s.fields[i].text)+", "+text)
}

// number reads a number as the library's scripts do, but for Lua's other spellings of numbers.
func number(text string) (float64, bool) {
	n, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
	return n, err == nil && !math.IsNaN(n) && !math.IsInf(n, 0)
}

// quote puts a stored text between quotes, not too much of it.
func quote(text string) string {
	const most = 60
	if len(text) > most {
		text = text[:most] + "…"
	}
	return strconv.Quote(text)
}
