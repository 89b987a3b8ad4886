package store

import (
	"errors"
	"fmt"
	"net"
	"net/url"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"
)

// forms is what to write, for error messages.
const forms = "redis://[user:password@]host[:port][/database], rediss://… with TLS, unix:///path/to/socket, " +
	"or redis://host:port,host:port for a cluster"

// target is a URL that has been read.
type target struct {
	addrs   []string // more than one for a cluster
	options *redis.Options
}

// parse reads redis://, rediss:// (with TLS) and unix:// URLs as go-redis does, with its query parameters. Several hosts,
// separated by commas, name nodes of one cluster.
//
// An error quotes the URL only if there can be no password in it.
func parse(raw string) (target, error) {
	scheme, rest, found := strings.Cut(raw, "://")
	switch {
	case !found:
		return target{}, unreadable(raw, errors.New("it has no scheme"))
	case scheme != "redis" && scheme != "rediss" && scheme != "unix":
		return target{}, unreadable(raw, fmt.Errorf("its scheme is %q", scheme))
	}
	hosts := []string{""}
	if scheme != "unix" {
		var before, after string
		before, hosts, after = splitHosts(rest)
		raw = scheme + "://" + before + hosts[0] + after
	}
	o, err := redis.ParseURL(raw)
	if err != nil {
		return target{}, unreadable(raw, err)
	}
	t := target{addrs: []string{o.Addr}, options: o}
	for _, h := range hosts[1:] {
		addr, err := hostPort(h)
		if err != nil {
			return target{}, unreadable(raw, err)
		}
		t.addrs = append(t.addrs, addr)
	}
	if len(t.addrs) > 1 && o.DB != 0 {
		return target{}, unreadable(raw, errors.New("a cluster has no database but 0"))
	}
	return t, nil
}

// splitHosts takes the list of hosts out of what follows the scheme.
func splitHosts(rest string) (before string, hosts []string, after string) {
	if i := strings.IndexAny(rest, "/?"); i >= 0 {
		rest, after = rest[:i], rest[i:]
	}
	if i := strings.LastIndexByte(rest, '@'); i >= 0 {
		before, rest = rest[:i+1], rest[i+1:]
	}
	return before, strings.Split(rest, ","), after
}

func hostPort(s string) (string, error) {
	u, err := url.Parse("redis://" + s)
	if err != nil || u.Hostname() == "" {
		return "", fmt.Errorf("%q is no host:port", s)
	}
	port := u.Port()
	if port == "" {
		port = "6379"
	}
	return net.JoinHostPort(u.Hostname(), port), nil
}

// unreadable is the error for a URL. Where there may be a password in it nothing of it is said, and so nothing of err,
// which may quote it.
func unreadable(raw string, err error) error {
	if mayHoldPassword(raw) {
		return fmt.Errorf("the Redis URL cannot be read (it is not shown, since it may hold a password); write %s; "+
			"in a password, write / ? # @ and %% as %%2F %%3F %%23 %%40 and %%25", forms)
	}
	return fmt.Errorf("the Redis URL %q cannot be read: %w; write %s", raw, err, forms)
}

// mayHoldPassword reports whether a password may be in what is meant to be a URL: before an @, or anywhere if
// there is a scheme but the rest makes no sense.
func mayHoldPassword(raw string) bool {
	_, _, scheme := strings.Cut(raw, "://")
	_, err := url.Parse(raw)
	return strings.Contains(raw, "@") || scheme && err != nil
}

// patience is how long a call may take.
func (t target) patience() time.Duration {
	dial, read := t.options.DialTimeout, t.options.ReadTimeout
	if dial <= 0 && read <= 0 {
		return Patience
	}
	return max(dial, 0) + max(read, 0) + Patience
}
