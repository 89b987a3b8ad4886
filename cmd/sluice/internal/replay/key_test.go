package replay

import (
	"errors"
	"strings"
	"testing"

	"github.com/sluice-rate/sluice"
)

const combined = `192.0.2.1 - ann lee [30/Nov/2026:10:00:00 +0100] "POST /users/42/orders/7?x=y HTTP/1.1" 200 12 "https://example.org/" "Mozilla/5.0 (X11)"`

// of is the value of a key of a line, or "-" if it has none.
func of(t *testing.T, spec, line string) string {
	t.Helper()
	k := key(t, spec)
	var p parser
	var r record
	if problem := p.parse([]byte(line), &r); problem != "" {
		t.Fatal(problem)
	}
	v, ok := k.value(&r)
	if !ok {
		return "-"
	}
	return string(v)
}

func TestKey_is_a_part_of_the_request(t *testing.T) {
	t.Parallel()
	tests := []struct{ key, line, want string }{
		{"ip", combined, "192.0.2.1"},
		{"IP", combined, "192.0.2.1"},
		{"user", combined, "ann lee"},
		{"method", combined, "POST"},
		{"path", combined, "/users/42/orders/7"},
		{"status", combined, "200"},
		{"header:User-Agent", combined, "Mozilla/5.0 (X11)"},
		{"header:referer", combined, "https://example.org/"},
		{"path:/users/{id}/*", combined, "/users/42"},
		{"ip+path", combined, "192.0.2.1 /users/42/orders/7"},
		{"ip + path:POST /users/{id}/", combined, "192.0.2.1 /users/42"},
		{"header:user-agent+user+status", combined, `"Mozilla/5.0 (X11)" "ann lee" 200`},
		{"host", combined, "-"},
		{"ip+host", combined, "-"},
		{"path:/login", combined, "-"},
		{"host+ip", "example.org:80 " + combined, "example.org 192.0.2.1"},
		{"user", strings.Replace(combined, "ann lee", "-", 1), "-"},
		{"header:referer", strings.Replace(combined, "https://example.org/", "-", 1), "-"},
		{"method", strings.Replace(combined, "POST /users/42/orders/7?x=y HTTP/1.1", "-", 1), "-"},
		{"path", strings.Replace(combined, "POST /users/42/orders/7?x=y HTTP/1.1", `\x16\x03`, 1), "-"},
	}
	for _, tt := range tests {
		if got := of(t, tt.key, tt.line); got != tt.want {
			t.Errorf("%s of %s\nis %q, want %q", tt.key, tt.line, got, tt.want)
		}
	}
}

func TestKey_long_values_are_shortened_and_stay_apart(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 100_000)
	at := func(path string) string { return strings.Replace(combined, "/users/42/orders/7", path, 1) }
	for _, spec := range []string{"path", "ip+path"} {
		a, b := of(t, spec, at("/"+long+"a")), of(t, spec, at("/"+long+"b"))
		if len(a) > maxValue || a == b || a != of(t, spec, at("/"+long+"a")) {
			t.Errorf("%s: %q and %q, want two short ones, the same each time", spec, a, b)
		}
	}
}

func TestKey_groups_addresses_by_their_network(t *testing.T) {
	t.Parallel()
	tests := []struct{ key, address, want string }{
		{"ip", "2001:db8:1:2:3:4:5:6", "2001:db8:1:2:3:4:5:6"},
		{"ip/64", "2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"},
		{"ip/48", "2001:db8:1:2:3:4:5:6", "2001:db8:1::/48"},
		{"ip/64", "fe80::1%eth0", "fe80::/64"},
		{"ip/64", "192.0.2.1", "192.0.2.1"},
		{"ip/64", "::ffff:192.0.2.1", "::ffff:192.0.2.1"},
		{"ip/64", "example.org", "example.org"},
		{"ip/64+status", "2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64 200"},
	}
	for _, tt := range tests {
		if got := of(t, tt.key, strings.Replace(combined, "192.0.2.1", tt.address, 1)); got != tt.want {
			t.Errorf("%s of %s is %q, want %q", tt.key, tt.address, got, tt.want)
		}
	}
	n, err := parseNetwork("64")
	if err != nil {
		t.Fatal(err)
	}
	for i := range 3 * maxKnown {
		n.value(&record{remote: []byte("2001:db8::" + strings.Repeat("0", i&1) + string("0123456789abcdef"[i>>4&15]) + string("0123456789abcdef"[i>>8&15]) + ":" + string("0123456789abcdef"[i>>12&15]) + string("0123456789abcdef"[i&15]))})
		if len(n.known) > maxKnown {
			t.Fatalf("%d addresses are remembered, want at most %d", len(n.known), maxKnown)
		}
	}
}

func TestKey_that_there_is_not_lists_those_that_there_are(t *testing.T) {
	t.Parallel()
	for spec, want := range map[string]string{
		"":                     "ip, ip/64, user, method",
		"cookie":               `-key is "cookie", but must be ip, ip/64`,
		"ip+":                  "header:user-agent",
		"ip+nothing":           `-key is "nothing"`,
		"header:accept":        "header:referer",
		"ip/0":                 "1 to 128",
		"ip/129":               "1 to 128",
		"ip/x":                 "1 to 128",
		"path:":                "begins with a slash",
		"path:users":           "begins with a slash",
		"path:/a//b":           "each a text or a {name}",
		"path:/a/*/b":          "each a text or a {name}",
		"path:/a/x{id}":        "each a text or a {name}",
		"path:/a/{}":           "each a text or a {name}",
		"path:/a/{rest...}/b":  "each a text or a {name}",
		"path:/a/{...}":        "each a text or a {name}",
		"ip+path:/users/{id*}": "each a text or a {name}",
	} {
		_, err := ParseKey(spec)
		if !errors.Is(err, sluice.ErrInvalid) || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want an InvalidError with %q", spec, err, want)
		}
	}
}

func TestPattern_picks_a_part_of_the_path(t *testing.T) {
	t.Parallel()
	tests := []struct{ pattern, path, want string }{
		{"/login", "/login", "/login"},
		{"/login", "/login/", "-"},
		{"/login", "/logins", "-"},
		{"/login", "/", "-"},
		{"/", "/", "/"},
		{"/", "/a/b", "/"},
		{"/*", "/a/b", "/"},
		{"/{$}", "/", "/"},
		{"/{$}", "/a", "-"},
		{"/{all...}", "/a/b", "/a/b"},
		{"/users/{id}", "/users/42", "/users/42"},
		{"/users/{id}", "/users/42/", "-"},
		{"/users/{id}", "/users/", "-"},
		{"/users/{id}/", "/users/42", "-"},
		{"/users/{id}/", "/users/42/", "/users/42"},
		{"/users/{id}/", "/users/42/orders/7", "/users/42"},
		{"/users/{id}/*", "/users/42", "/users/42"},
		{"/users/{id}/*", "/users/42/orders/7", "/users/42"},
		{"/users/{id}/*", "/users//orders", "-"},
		{"/users/{id}/orders", "/users/42/orders", "/users/42"},
		{"/users/{id}/orders", "/users/42/carts", "-"},
		{"/{shop}/items/{id}", "/a/items/b", "/a/items/b"},
		{"/files/{path...}", "/files/a/b", "/files/a/b"},
		{"/files/{path...}", "/files/", "/files/"},
		{"/files/{path...}", "/files", "-"},
		{"/users/{id}/{$}", "/users/42/", "/users/42"},
		{"/users/{id}/{$}", "/users/42/x", "-"},
		{"POST /login", "/login", "/login"},
		{"GET /login", "/login", "-"},
	}
	for _, tt := range tests {
		line := strings.Replace(combined, "/users/42/orders/7", tt.path, 1)
		if got := of(t, "path:"+tt.pattern, line); got != tt.want {
			t.Errorf("%s of %s is %q, want %q", tt.pattern, tt.path, got, tt.want)
		}
	}
}
