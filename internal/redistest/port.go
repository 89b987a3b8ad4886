package redistest

import (
	"errors"
	"math/rand/v2"
	"net"
	"strconv"
)

// Ports are taken below the range from which systems hand out ports by themselves
// (Linux: from 32768). So the port of a stopped server is not given to an outgoing
// connection before Restart wants it back, and a client that keeps dialling it
// cannot end up connected to itself. A cluster node also listens on its port plus
// 10000, which stays below that range too and apart from the ports chosen here.
const (
	firstPort = 10_000
	portCount = 10_000
)

// freePort returns a port of 127.0.0.1 that nobody listens on. Nothing keeps it free.
func freePort() (int, error) {
	for range 1000 {
		port := firstPort + rand.IntN(portCount)
		l, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
		if err != nil {
			continue
		}
		return port, l.Close()
	}
	return 0, errors.New("no free port")
}
