package replay

import (
	"math/rand/v2"
	"strings"
	"testing"
	"time"
)

func TestParse_reads_both_formats_and_what_servers_make_of_them(t *testing.T) {
	t.Parallel()
	const when = `[30/Nov/2026:10:00:00 +0100]`
	tests := []struct {
		name, line                                                string
		host, remote, user, request, status, referer, agent, path string
	}{
		{name: "Common", line: `192.0.2.1 - - ` + when + ` "GET / HTTP/1.1" 200 12`,
			remote: "192.0.2.1", user: "-", request: "GET / HTTP/1.1", status: "200", path: "/"},
		{name: "Combined", line: `2001:db8::1 ident ann ` + when + ` "POST /a?b=c HTTP/2.0" 302 - "https://example.org/?q=\"x\"" "Mozilla/5.0 (X11)"`,
			remote: "2001:db8::1", user: "ann", request: "POST /a?b=c HTTP/2.0", status: "302", referer: `https://example.org/?q=\"x\"`, agent: "Mozilla/5.0 (X11)", path: "/a"},
		{name: "a virtual host before it, with a port", line: `example.org:443 192.0.2.1 - - ` + when + ` "GET / HTTP/1.1" 200 12 "-" "curl"`,
			host: "example.org", remote: "192.0.2.1", user: "-", request: "GET / HTTP/1.1", status: "200", referer: "-", agent: "curl", path: "/"},
		{name: "a virtual host without a port", line: `example.org 192.0.2.1 - ann lee ` + when + ` "GET / HTTP/1.1" 200 12`,
			host: "example.org", remote: "192.0.2.1", user: "ann lee", request: "GET / HTTP/1.1", status: "200", path: "/"},
		{name: "an address as the host", line: `2001:db8::5 2001:db8::1 - - ` + when + ` "GET / HTTP/1.1" 200 12`,
			host: "2001:db8::5", remote: "2001:db8::1", user: "-", request: "GET / HTTP/1.1", status: "200", path: "/"},
		{name: "a user with spaces and brackets", line: `192.0.2.1 - a [b] c ` + when + ` "GET / HTTP/1.1" 401 12`,
			remote: "192.0.2.1", user: "a [b] c", request: "GET / HTTP/1.1", status: "401", path: "/"},
		{name: "an empty user", line: `192.0.2.1 -  ` + when + ` "GET / HTTP/1.1" 401 12`,
			remote: "192.0.2.1", request: "GET / HTTP/1.1", status: "401", path: "/"},
		{name: "more fields", line: `192.0.2.1 - - ` + when + ` "GET / HTTP/1.1" 200 12 "-" "curl" "192.0.2.9" 0.003`,
			remote: "192.0.2.1", user: "-", request: "GET / HTTP/1.1", status: "200", referer: "-", agent: "curl", path: "/"},
		{name: "another field in the place of the referer", line: `192.0.2.1 - - ` + when + ` "GET / HTTP/1.1" 200 12 0.003`,
			remote: "192.0.2.1", user: "-", request: "GET / HTTP/1.1", status: "200", path: "/"},
		{name: "ends with the status", line: `192.0.2.1 - - ` + when + ` "GET / HTTP/1.1" 200`,
			remote: "192.0.2.1", user: "-", request: "GET / HTTP/1.1", status: "200", path: "/"},
		{name: "cut off in the agent", line: `192.0.2.1 - - ` + when + ` "GET / HTTP/1.1" 200 12 "-" "Mozil`,
			remote: "192.0.2.1", user: "-", request: "GET / HTTP/1.1", status: "200", referer: "-", path: "/"},
		{name: "no request came", line: `192.0.2.1 - - ` + when + ` "-" 408 -`,
			remote: "192.0.2.1", user: "-", request: "-", status: "408"},
		{name: "an empty request", line: `192.0.2.1 - - ` + when + ` "" 400 -`,
			remote: "192.0.2.1", user: "-", status: "400"},
		{name: "quotes and backslashes in the request", line: `192.0.2.1 - - ` + when + ` "GET /\"x\\" 400 -`,
			remote: "192.0.2.1", user: "-", request: `GET /\"x\\`, status: "400", path: `/\"x\\`},
		{name: "a path with spaces", line: `192.0.2.1 - - ` + when + ` "GET /a b HTTP/1.1" 400 -`,
			remote: "192.0.2.1", user: "-", request: `GET /a b HTTP/1.1`, status: "400", path: `/a b`},
		{name: "sent to a proxy", line: `192.0.2.1 - - ` + when + ` "GET http://example.org/a/b?c HTTP/1.1" 200 1`,
			remote: "192.0.2.1", user: "-", request: `GET http://example.org/a/b?c HTTP/1.1`, status: "200", path: `/a/b`},
		{name: "sent to a proxy, no path", line: `192.0.2.1 - - ` + when + ` "GET http://example.org HTTP/1.1" 200 1`,
			remote: "192.0.2.1", user: "-", request: `GET http://example.org HTTP/1.1`, status: "200", path: `/`},
		{name: "a request without a path", line: `192.0.2.1 - - ` + when + ` "CONNECT example.org:443 HTTP/1.1" 405 1`,
			remote: "192.0.2.1", user: "-", request: `CONNECT example.org:443 HTTP/1.1`, status: "405"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var p parser
			r := record{host: []byte("of the line before"), referer: []byte("x"), agent: []byte("x")}
			if problem := p.parse([]byte(tt.line), &r); problem != "" {
				t.Fatal(problem)
			}
			path, _ := r.path()
			for _, f := range []struct{ name, got, want string }{
				{"host", string(r.host), tt.host}, {"remote", string(r.remote), tt.remote}, {"user", string(r.user), tt.user},
				{"request", string(r.request), tt.request}, {"status", string(r.status), tt.status},
				{"referer", string(r.referer), tt.referer}, {"agent", string(r.agent), tt.agent}, {"path", string(path), tt.path},
			} {
				if f.got != f.want {
					t.Errorf("%s is %q, want %q", f.name, f.got, f.want)
				}
			}
			if want := time.Date(2026, 11, 30, 9, 0, 0, 0, time.UTC).Unix(); r.at != want || r.offset != 3600 {
				t.Errorf("at is %d, offset %d, want %d and 3600", r.at, r.offset, want)
			}
		})
	}
}

func TestParse_says_why_a_line_is_not_readable(t *testing.T) {
	t.Parallel()
	tests := []struct {
		line string
		want problem
	}{
		{``, empty},
		{`# a comment`, noTime},
		{`{"remote_addr":"192.0.2.1"}`, noTime},
		{`192.0.2.1 - - 30/Nov/2026:10:00:00 +0100 "GET / HTTP/1.1" 200 12`, noTime},
		{`192.0.2.1 - - [2026-11-30T10:00:00+01:00] "GET / HTTP/1.1" 200 12`, noTime},
		{`] "`, noTime},
		{`192.0.2.1 - - [30/Nov/2026:10:00:00 +0100] GET / 200 12`, noTime},
		{`192.0.2.1 - - [30/Now/2026:10:00:00 +0100] "GET / HTTP/1.1" 200 12`, badTime},
		{`192.0.2.1 - [30/Nov/2026:10:00:00 +0100] "GET / HTTP/1.1" 200 12`, noFields},
		{`192.0.2.1 [30/Nov/2026:10:00:00 +0100] "GET / HTTP/1.1" 200 12`, noFields},
		{` - - [30/Nov/2026:10:00:00 +0100] "GET / HTTP/1.1" 200 12`, noFields},
		{`192.0.2.1 - - [30/Nov/2026:10:00:00 +0100] "GET / HTTP`, noRequest},
		{`192.0.2.1 - - [30/Nov/2026:10:00:00 +0100] "GET /\" 200 12`, noRequest},
		{`192.0.2.1 - - [30/Nov/2026:10:00:00 +0100] "GET / HTTP/1.1"`, noStatus},
		{`192.0.2.1 - - [30/Nov/2026:10:00:00 +0100] "GET / HTTP/1.1" - -`, noStatus},
		{`192.0.2.1 - - [30/Nov/2026:10:00:00 +0100] "GET / HTTP/1.1" 2000 -`, noStatus},
	}
	for _, tt := range tests {
		var p parser
		if got := p.parse([]byte(tt.line), new(record)); got != tt.want {
			t.Errorf("%s\n%q, want %q", tt.line, got, tt.want)
		}
	}
	var p parser
	if problem := p.parse([]byte(Example), new(record)); problem != "" {
		t.Errorf("the example in our own words is not readable: %s", problem)
	}
}

func TestParse_allocates_nothing(t *testing.T) {
	line, r := []byte(Example), new(record)
	var p parser
	if n := testing.AllocsPerRun(100, func() { p.parse(line, r) }); n != 0 {
		t.Errorf("%v allocations a line, want none", n)
	}
}

func TestStamp_reads_what_package_time_reads(t *testing.T) {
	t.Parallel()
	const layout = "02/Jan/2006:15:04:05 -0700"
	random := rand.New(rand.NewPCG(1, 2))
	zones := []int{0, 3600, -5 * 3600, 5*3600 + 1800, -9*3600 - 1800, 14 * 3600}
	var p parser
	for range 20_000 {
		want := time.Unix(40_000_000+random.Int64N(7_000_000_000), 0).In(time.FixedZone("", zones[random.IntN(len(zones))]))
		var r record
		_, offset := want.Zone()
		if text := want.Format(layout); !p.time([]byte(text), &r) || r.at != want.Unix() || r.offset != offset {
			t.Fatalf("%s is %d, offset %d, want %d and %d", text, r.at, r.offset, want.Unix(), offset)
		}
	}
}

func TestStamp_refuses_what_is_no_time(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"31/Nov/2026:10:00:00 +0100", "00/Nov/2026:10:00:00 +0100", "29/Feb/2026:10:00:00 +0100", "30/nov/2026:10:00:00 +0100",
		"30/Nov/2026:24:00:00 +0100", "30/Nov/2026:10:60:00 +0100", "30/Nov/2026:10:00:61 +0100", "30/Nov/2026:10:00:00 ?0100",
		"30/Nov/2026:10:00:00 +2400", "30/Nov/2026:10:00:00 +0160", "30/Nov/1969:10:00:00 +0100", "30/Nov/2026 10:00:00 +0100",
		"3x/Nov/2026:10:00:00 +0100", "30/Nov/20x6:10:00:00 +0100", strings.Repeat("\xff", stampLength), strings.Repeat("9", stampLength),
	} {
		if at, ok := parseStamp([]byte(text)); ok {
			t.Errorf("%s is %v, want an error", text, at)
		}
	}
	if _, ok := parseStamp([]byte("31/Dec/2016:23:59:60 +0000")); !ok {
		t.Error("a leap second is no time")
	}
}

// FuzzParse: no line does harm, and what is found lies within the line.
func FuzzParse(f *testing.F) {
	f.Add([]byte(Example))
	f.Add([]byte(`] "`))
	f.Add([]byte(`a b c [30/Nov/2026:10:00:00 +0100] "\\\"" 200`))
	f.Fuzz(func(t *testing.T, line []byte) {
		var p parser
		var r record
		if p.parse(line, &r) != "" {
			return
		}
		for _, field := range [][]byte{r.host, r.remote, r.user, r.request, r.status, r.referer, r.agent} {
			if !strings.Contains(string(line), string(field)) {
				t.Errorf("%q is not in the line", field)
			}
		}
		r.method()
		r.path()
	})
}
