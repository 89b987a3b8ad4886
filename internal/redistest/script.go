package redistest

import "context"

// Reply is the outcome of a script, shaped like the Cmd of go-redis.
type Reply struct {
	value any
	err   error
}

// Result returns the reply or the error, as [Conn.Do] does. One difference to go-redis:
// a script that returns false or nil gives nil without an error here.
func (r *Reply) Result() (any, error) { return r.value, r.err }

// Eval runs a Lua script.
func (c *Conn) Eval(ctx context.Context, script string, keys []string, args ...any) *Reply {
	return c.script(ctx, "EVAL", script, keys, args)
}

// EvalSha runs the Lua script that the server has in its cache under sha1. If it has
// none the error is an [Error] that begins with NOSCRIPT.
func (c *Conn) EvalSha(ctx context.Context, sha1 string, keys []string, args ...any) *Reply {
	return c.script(ctx, "EVALSHA", sha1, keys, args)
}

func (c *Conn) script(ctx context.Context, command, script string, keys []string, args []any) *Reply {
	cmd := make([]any, 0, 3+len(keys)+len(args))
	cmd = append(cmd, command, script, len(keys))
	for _, key := range keys {
		cmd = append(cmd, key)
	}
	value, err := c.Do(ctx, append(cmd, args...)...)
	return &Reply{value, err}
}
