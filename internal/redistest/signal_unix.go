//go:build unix

package redistest

import (
	"net"
	"syscall"
)

func (p *process) pause() error {
	if err := p.cmd.Process.Signal(syscall.SIGSTOP); err != nil {
		return err
	}
	return awaitStopped(p.cmd.Process.Pid)
}

func (p *process) resume() error { return p.cmd.Process.Signal(syscall.SIGCONT) }

// isDead reports whether the peer of an idle connection has closed it, or has sent
// something that nobody asked for. It does not block.
func isDead(c net.Conn) bool {
	raw, err := c.(syscall.Conn).SyscallConn()
	if err != nil {
		return true
	}
	dead := true
	err = raw.Read(func(fd uintptr) bool {
		var b [1]byte
		_, err := syscall.Read(int(fd), b[:])
		dead = err != syscall.EAGAIN && err != syscall.EWOULDBLOCK
		return true // whatever came of it: do not wait
	})
	return dead || err != nil
}
