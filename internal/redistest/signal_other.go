//go:build !unix

package redistest

import (
	"errors"
	"net"
)

func (p *process) pause() error  { return errors.ErrUnsupported }
func (p *process) resume() error { return errors.ErrUnsupported }

// isDead cannot tell here: the first call after a restart fails.
func isDead(net.Conn) bool { return false }
