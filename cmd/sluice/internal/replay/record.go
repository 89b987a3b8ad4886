package replay

import "bytes"

// record is what one line of an access log says of a request. Its slices are parts of the line and are gone with it. Quoted
// fields are as the server wrote them, with its escapes.
type record struct {
	host    []byte // the virtual host, without its port; only where the format begins with it
	remote  []byte // who asked: an address, or a name if the server looks names up
	user    []byte
	request []byte // "GET /path?query HTTP/1.1", or whatever else the client sent
	status  []byte
	referer []byte
	agent   []byte
	at      int64 // when, in Unix seconds
	offset  int   // of the time zone that at was written in, in seconds east of UTC
}

// problem says what makes a line unreadable; "" is nothing.
type problem string

const (
	noFields  problem = "there are fewer than three fields before the time"
	noTime    problem = "there is no time in brackets before a quoted request, such as [30/Nov/2026:10:00:00 +0100]"
	badTime   problem = "the time is not one, such as 30/Nov/2026:10:00:00 +0100"
	noRequest problem = "the request has no closing quote"
	noStatus  problem = "there is no status of three digits after the request"
	tooLong   problem = "the line is longer than 1 MB"
	empty     problem = "the line is empty"
)

// Example is a line in the format that replay reads: Combined; Common ends before the referer.
const Example = `192.0.2.1 - - [30/Nov/2026:10:00:00 +0100] "GET /index.html HTTP/1.1" 200 2326 "https://example.org/" "Mozilla/5.0"`

// parser reads lines. It remembers the time that it read last, since many lines of a log have the same.
type parser struct {
	stamp  [stampLength]byte
	at     int64
	offset int
}

// parse reads a line in Common or Combined Log Format, either with a virtual host before it, into r:
//
//	[HOST[:PORT] ]REMOTE IDENT USER [TIME] "REQUEST" STATUS BYTES[ "REFERER" "USER-AGENT"][ …]
//
// What comes after the status may be missing, or be something else. Nothing is allocated.
func (p *parser) parse(line []byte, r *record) problem {
	// A user may contain brackets, but quotes are escaped there.
	end := bytes.Index(line, []byte(`] "`))
	begin := end - stampLength
	if begin < 2 || line[begin-1] != '[' || line[begin-2] != ' ' {
		if len(line) == 0 {
			return empty
		}
		return noTime
	}
	if !p.time(line[begin:end], r) {
		return badTime
	}
	if !who(line[:begin-2], r) {
		return noFields
	}
	var rest []byte
	var ok bool
	if r.request, rest, ok = quoted(line[end+2:]); !ok {
		return noRequest
	}
	if len(rest) < 4 || rest[0] != ' ' || !digits(rest[1:4]) || len(rest) > 4 && rest[4] != ' ' {
		return noStatus
	}
	r.status, r.referer, r.agent = rest[1:4], nil, nil
	if rest = rest[4:]; len(rest) == 0 {
		return ""
	}
	space := bytes.IndexByte(rest[1:], ' ')
	if space < 0 {
		return ""
	}
	if r.referer, rest, ok = quoted(rest[space+2:]); ok && len(rest) > 1 {
		r.agent, _, _ = quoted(rest[1:])
	}
	return ""
}

// who reads what stands before the time. A user may contain spaces; a second field of "-" is the ident of a format without a
// host, since in the format with one it is the address.
func who(fields []byte, r *record) bool {
	first := bytes.IndexByte(fields, ' ')
	if first < 1 {
		return false
	}
	second := bytes.IndexByte(fields[first+1:], ' ')
	if second < 1 {
		return false
	}
	second += first + 1
	r.host, r.remote, r.user = nil, fields[:first], fields[second+1:]
	third := bytes.IndexByte(r.user, ' ')
	if third < 0 || string(fields[first+1:second]) == "-" {
		return true
	}
	r.host, r.remote, r.user = withoutPort(r.remote), fields[first+1:second], r.user[third+1:]
	return true
}

func withoutPort(host []byte) []byte {
	if colon := bytes.LastIndexByte(host, ':'); colon > 0 && digits(host[colon+1:]) && host[colon-1] != ':' {
		return host[:colon]
	}
	return host
}

// quoted reads a text in quotes, in which a quote is escaped by a backslash.
func quoted(b []byte) (text, rest []byte, ok bool) {
	if len(b) == 0 || b[0] != '"' {
		return nil, b, false
	}
	for i := 1; ; i++ {
		next := bytes.IndexByte(b[i:], '"')
		if next < 0 {
			return nil, b, false
		}
		i += next
		escapes := i
		for b[escapes-1] == '\\' {
			escapes--
		}
		if (i-escapes)%2 == 0 {
			return b[1:i], b[i+1:], true
		}
	}
}

func digits(b []byte) bool {
	for _, c := range b {
		if c < '0' || c > '9' {
			return false
		}
	}
	return true
}

// method is the request's method; the second result is false where the client sent something that has none.
func (r *record) method() ([]byte, bool) {
	space := bytes.IndexByte(r.request, ' ')
	if space < 1 {
		return nil, false
	}
	return r.request[:space], true
}

// path is the request's path without the query, as it was sent; the second result is false where there is none.
func (r *record) path() ([]byte, bool) {
	space := bytes.IndexByte(r.request, ' ')
	if space < 1 {
		return nil, false
	}
	target := r.request[space+1:]
	if last := bytes.LastIndexByte(target, ' '); last >= 0 && bytes.HasPrefix(target[last+1:], []byte("HTTP/")) {
		target = target[:last]
	}
	if end := bytes.IndexByte(target, '?'); end >= 0 {
		target = target[:end]
	}
	if len(target) > 0 && target[0] == '/' {
		return target, true
	}
	scheme := bytes.Index(target, []byte("://")) // the absolute form, which proxies are sent
	if scheme < 1 {
		return nil, false
	}
	if slash := bytes.IndexByte(target[scheme+3:], '/'); slash >= 0 {
		return target[scheme+3+slash:], true
	}
	return []byte("/"), true
}
