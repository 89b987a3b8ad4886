package replay

import (
	"bytes"
	"strings"

	"github.com/sluice-rate/sluice"
)

// pattern picks a part of the path, in the manner of net/http's patterns:
//
//	/login               this path
//	/users/{id}          any one segment in the place of {id}
//	/users/{id}/         and all that is below it
//	/users/{id}/*        either of the two
//	/files/{path...}     the rest, as a part of the value
//	POST /login          requests with this method
//
// The value is the path up to the last {…}, or all of the pattern where it has none: that of the third for /users/42/edit is /users/42.
type pattern struct {
	method   string
	segments []string // "" is any
	kept     int      // how many segments are in the value
	tail     tail
}

// tail is what may come after the segments of a pattern.
type tail int

const (
	tailNothing tail = iota
	tailSlash        // exactly a slash
	tailBelow        // a slash, and what comes after it
	tailAny          // nothing, or a slash and what comes after it
	tailRest         // like tailBelow, and it is in the value
)

func parsePattern(text string) (*pattern, error) {
	bad := func(want string) error {
		return &sluice.InvalidError{Field: "-key", Value: "path:" + text, Want: want}
	}
	p := &pattern{}
	path := text
	if method, after, found := strings.Cut(text, " "); found {
		p.method, path = method, strings.TrimSpace(after)
	}
	if !strings.HasPrefix(path, "/") {
		return p, bad(`"path:" and a pattern that begins with a slash, such as "path:/users/{id}/*" or "path:POST /login"`)
	}
	segments := strings.Split(path[1:], "/")
	last := len(segments) - 1
	switch name, isRest := strings.CutSuffix(segments[last], "...}"); {
	case isRest && len(name) > 1 && name[0] == '{':
		p.tail = tailRest
	case segments[last] == "*":
		p.tail = tailAny
	case segments[last] == "{$}":
		p.tail = tailSlash
	case segments[last] == "":
		p.tail = tailBelow
	default:
		last++
	}
	for i, s := range segments[:last] {
		wild := strings.HasPrefix(s, "{") && strings.HasSuffix(s, "}") && len(s) > 2
		if s == "" || !wild && strings.ContainsAny(s, "{}*") || wild && strings.ContainsAny(s[1:len(s)-1], "{}.$*") {
			return p, bad(`a pattern whose segments are each a text or a {name}, with {name...} or * as the last at most, such as "path:/users/{id}/*"`)
		}
		if wild {
			s, p.kept = "", i+1
		}
		p.segments = append(p.segments, s)
	}
	if p.kept == 0 {
		p.kept = len(p.segments)
	}
	return p, nil
}

// value is the part of the path that the pattern picks; the second result is false where the request is not like the pattern.
func (p *pattern) value(r *record) ([]byte, bool) {
	if p.method != "" {
		if m, ok := r.method(); !ok || string(m) != p.method {
			return nil, false
		}
	}
	path, ok := r.path()
	if !ok {
		return nil, false
	}
	at, kept := 0, 0
	for i, want := range p.segments {
		if at == len(path) { // else there is a slash
			return nil, false
		}
		end := bytes.IndexByte(path[at+1:], '/')
		if end < 0 {
			end = len(path)
		} else {
			end += at + 1
		}
		segment := path[at+1 : end]
		if want == "" && len(segment) == 0 || want != "" && string(segment) != want {
			return nil, false
		}
		at = end
		if i < p.kept {
			kept = end
		}
	}
	after := len(path) - at
	switch p.tail {
	case tailNothing:
		ok = after == 0
	case tailSlash:
		ok = after == 1
	case tailBelow:
		ok = after > 0
	case tailRest:
		ok, kept = after > 0, len(path)
	}
	if kept == 0 {
		return path[:1], ok // only a pattern without segments
	}
	return path[:kept], ok
}
