package replay

import (
	"crypto/sha256"
	"fmt"
	"strings"

	"github.com/sluice-rate/sluice"
)

// Key says what of a request is limited: each of its values has the rate to itself.
type Key struct {
	spec  string
	parts []part
	buf   []byte // the last value, where it is put together
}

// part is one of the things that a key is made of.
type part struct {
	of     func(r *record) (value []byte, ok bool) // ok is false where a request has none
	quotes bool                                    // the value may contain spaces
}

// Keys is what ParseKey reads.
const Keys = `ip, ip/64, user, method, path, path:PATTERN, status, host, header:user-agent, header:referer, ` +
	`or several of them, such as "ip+path"`

// ParseKey reads one of Keys. The error is a *sluice.InvalidError that lists them.
func ParseKey(spec string) (*Key, error) {
	k := &Key{spec: spec}
	for name := range strings.SplitSeq(spec, "+") {
		p, err := parsePart(strings.TrimSpace(name))
		if err != nil {
			return nil, err
		}
		k.parts = append(k.parts, p)
	}
	return k, nil
}

func parsePart(name string) (part, error) {
	if text, ok := strings.CutPrefix(name, "path:"); ok {
		p, err := parsePattern(text)
		return part{of: p.value}, err
	}
	if bits, ok := strings.CutPrefix(name, "ip/"); ok {
		n, err := parseNetwork(bits)
		return part{of: n.value}, err
	}
	switch strings.ToLower(name) {
	case "ip":
		return part{of: func(r *record) ([]byte, bool) { return there(r.remote) }}, nil
	case "user":
		return part{of: func(r *record) ([]byte, bool) { return there(r.user) }, quotes: true}, nil
	case "method":
		return part{of: (*record).method}, nil
	case "path":
		return part{of: (*record).path}, nil
	case "status":
		return part{of: func(r *record) ([]byte, bool) { return r.status, true }}, nil
	case "host":
		return part{of: func(r *record) ([]byte, bool) { return there(r.host) }}, nil
	case "header:user-agent":
		return part{of: func(r *record) ([]byte, bool) { return there(r.agent) }, quotes: true}, nil
	case "header:referer":
		return part{of: func(r *record) ([]byte, bool) { return there(r.referer) }, quotes: true}, nil
	}
	return part{}, &sluice.InvalidError{Field: "-key", Value: name, Want: Keys}
}

// there is a field of a log, in which a dash stands for nothing.
func there(field []byte) ([]byte, bool) {
	return field, len(field) > 1 || len(field) == 1 && field[0] != '-'
}

// String is the key as ParseKey reads it.
func (k *Key) String() string { return k.spec }

// value is the key's value of a request, valid until the next call; the second result is false where the request has none. Parts are put
// together with spaces; those that may contain spaces then stand in quotes.
func (k *Key) value(r *record) ([]byte, bool) {
	if len(k.parts) == 1 {
		v, ok := k.parts[0].of(r)
		return k.short(v), ok
	}
	b := k.buf[:0]
	for i, p := range k.parts {
		v, ok := p.of(r)
		if !ok {
			return nil, false
		}
		if i > 0 {
			b = append(b, ' ')
		}
		if p.quotes {
			b = append(append(append(b, '"'), v...), '"')
		} else {
			b = append(b, v...)
		}
	}
	k.buf = b
	return k.short(b), true
}

// The longest value that is kept as it is, and how much of a longer one is.
const (
	maxValue  = 256
	keptValue = 200
)

// short bounds what a value takes: of a long one the beginning is kept, and a hash stands for the rest.
func (k *Key) short(v []byte) []byte {
	if len(v) <= maxValue {
		return v
	}
	sum := sha256.Sum256(v)
	k.buf = fmt.Appendf(append([]byte{}, v[:keptValue]...), "…%x", sum[:8])
	return k.buf
}
