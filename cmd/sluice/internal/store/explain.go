package store

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"strings"

	"github.com/redis/go-redis/v9"

	"github.com/sluice-rate/sluice"
)

// Explain turns an error that says that the store failed into one that says which Redis is meant, what is wrong with it and what to
// do. Other errors stay as they are.
func (s *Store) Explain(err error) error {
	if !errors.Is(err, sluice.ErrStoreUnavailable) {
		return err
	}
	if reply, ok := errors.AsType[redis.Error](err); ok {
		return fmt.Errorf("the Redis at %s says %q%s", s.addr, reply.Error(), remedy(reply.Error()))
	}
	return fmt.Errorf("the Redis at %s does not answer: %s; is it running there? -redis or SLUICE_REDIS_URL says where it is", s.addr, s.cause(err))
}

// cause is the innermost reason for which no answer came.
func (s *Store) cause(err error) string {
	if errors.Is(err, context.DeadlineExceeded) || errors.Is(err, os.ErrDeadlineExceeded) {
		return fmt.Sprintf("nothing came within %v", s.limit)
	}
	if op, ok := errors.AsType[*net.OpError](err); ok {
		return op.Error()
	}
	_, cause, _ := strings.Cut(err.Error(), sluice.ErrStoreUnavailable.Error()+": ")
	return cause
}

const severalNodes = "; for a cluster, name several of its nodes: redis://host:port,host:port"

// remedy is what to do about an error reply, where that is known.
func remedy(reply string) string {
	const password = "; give it a user and password in the URL: redis://user:password@host:port"
	switch code, _, _ := strings.Cut(reply, " "); code {
	case "NOAUTH", "WRONGPASS":
		return password
	case "NOPERM":
		if !strings.Contains(reply, "'eval") && strings.Contains(reply, "command") {
			return "; this user needs that right too, to look at keys as they are"
		}
		return "; this user needs the right to run scripts (EVAL, EVALSHA) on the limiter's keys"
	case "MOVED", "ASK", "CLUSTERDOWN":
		return severalNodes
	case "READONLY":
		return "; it is a replica: name the master"
	}
	if strings.Contains(reply, "unauthenticated") { // what it says to a long command
		return password
	}
	return ""
}
