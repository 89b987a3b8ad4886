package store

import (
	"slices"
	"strings"
	"testing"
)

func TestParse(t *testing.T) {
	tests := []struct {
		url      string
		addrs    []string
		network  string
		user, pw string
		db       int
		tls      string // the server's name, if it is to be checked
	}{
		{url: "redis://", addrs: []string{"localhost:6379"}, network: "tcp"},
		{url: "redis://h", addrs: []string{"h:6379"}, network: "tcp"},
		{url: "redis://h:7000/3", addrs: []string{"h:7000"}, network: "tcp", db: 3},
		{url: "redis://[::1]:7000", addrs: []string{"[::1]:7000"}, network: "tcp"},
		{url: "redis://ann:p%40ss@h:7000/3?client_name=x", addrs: []string{"h:7000"}, network: "tcp", user: "ann", pw: "p@ss", db: 3},
		{url: "redis://:pa,ss@h", addrs: []string{"h:6379"}, network: "tcp", pw: "pa,ss"},
		{url: "rediss://h:7000", addrs: []string{"h:7000"}, network: "tcp", tls: "h"},
		{url: "unix:///run/redis.sock?db=2", addrs: []string{"/run/redis.sock"}, network: "unix", db: 2},
		{url: "unix://ann:pw@/run/a,b.sock", addrs: []string{"/run/a,b.sock"}, network: "unix", user: "ann", pw: "pw"},
		{url: "redis://a:1,b,[::1]:3", addrs: []string{"a:1", "b:6379", "[::1]:3"}, network: "tcp"},
		{url: "rediss://ann:pw@a:1,b:2/0?read_timeout=1s", addrs: []string{"a:1", "b:2"}, network: "tcp", user: "ann", pw: "pw", tls: "a"},
	}
	for _, tt := range tests {
		got, err := parse(tt.url)
		if err != nil {
			t.Errorf("%s: %v", tt.url, err)
			continue
		}
		o := got.options
		if !slices.Equal(got.addrs, tt.addrs) || o.Network != tt.network || o.Username != tt.user || o.Password != tt.pw || o.DB != tt.db {
			t.Errorf("%s: %q by %s, user %q, password %q, database %d; want %+v", tt.url, got.addrs, o.Network, o.Username, o.Password, o.DB, tt)
		}
		if (o.TLSConfig != nil) != (tt.tls != "") || o.TLSConfig != nil && o.TLSConfig.ServerName != tt.tls {
			t.Errorf("%s: TLS %+v, want for %q", tt.url, o.TLSConfig, tt.tls)
		}
	}
}

func TestParse_says_what_is_wrong(t *testing.T) {
	tests := []struct{ url, want string }{
		{"", "it has no scheme"},
		{"127.0.0.1:6379", "it has no scheme"},
		{"http://h", `its scheme is "http"`},
		{"redis://h/x", `invalid database number: "x"`},
		{"redis://h?bogus=1", "bogus"},
		{"redis://a,,b", `"" is no host:port`},
		{"redis://a,b:c", `"b:c" is no host:port`},
		{"redis://a:1,b:2/3", "a cluster has no database but 0"},
		{"unix://", "empty unix socket path"},
		{"redis://ann:pw@h/x", "it is not shown"},
		{"redis://:pw", "it is not shown"},
	}
	for _, tt := range tests {
		_, err := parse(tt.url)
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %q in it", tt.url, err, tt.want)
		}
		if err != nil && (strings.Contains(err.Error(), "ann:pw") || strings.Contains(err.Error(), ":pw\"")) {
			t.Errorf("%s: %v shows the password", tt.url, err)
		}
	}
}
