package legacy

import (
	"sync"

	"github.com/sluice-rate/sluice"
)

// Options are the defaults of New when nil.
type Options struct {
	// ClientID is the identity under which PerClient limiters count this client. The default is a random UUID, new
	// in each process, as in Redisson; set one to keep a budget across restarts or to share it.
	ClientID string
}

// Client hands out limiters. It is safe for concurrent use and there is nothing to close: its only goroutines are, of each limiter with
// callers who wait, one that ends with the last of them.
type Client struct {
	windows *sluice.Client // on an engine for the old format
	configs *sluice.Client // the same, but reads see the configuration alone

	mu    sync.Mutex
	lines map[string]*line // of limiters with callers who wait, by name
}

// New makes a client on a Redis client, which stays the caller's to close. It does not connect.
//
// Let the Redis client resend no calls (go-redis: Options.MaxRetries: -1) if a charge too many is worse than a call that fails: what is
// sent twice is charged twice. How long a call can take when the server hangs is the Redis client's matter: go-redis
// heeds a context's deadline only with Options.ContextTimeoutEnabled, and else waits for its ReadTimeout.
func New[R Reply](c Redis[R], o *Options) *Client {
	var options []sluice.Option
	if o != nil && o.ClientID != "" {
		options = append(options, sluice.WithClientID(o.ClientID))
	}
	e := newEngine(c)
	windows := sluice.New(e, options...)
	configs := sluice.New(configReader{e}, sluice.WithClientID(windows.ID()))
	return &Client{windows: windows, configs: configs, lines: make(map[string]*line)}
}

// ID is the identity under which PerClient limiters count this client.
func (c *Client) ID() string { return c.windows.ID() }

// Limiter is the limiter of a name. It asks the store nothing: a limiter with a bad name (empty, or one whose keys would
// lie in two cluster slots, such as "a}b" or "a{}b") answers each call with a *sluice.InvalidError.
func (c *Client) Limiter(name string) *Limiter {
	return &Limiter{c: c, window: c.windows.Limiter(name), config: c.configs.Limiter(name)}
}
