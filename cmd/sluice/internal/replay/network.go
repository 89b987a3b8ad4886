package replay

import (
	"bytes"
	"net/netip"
	"strconv"

	"github.com/sluice-rate/sluice"
)

// network groups IPv6 addresses: a household has a /64 of them or more. Other addresses and names stand for themselves.
type network struct {
	bits  int
	known map[string][]byte // what was found out of the addresses seen last
}

// maxKnown is how many addresses a network remembers; then it forgets them all.
const maxKnown = 1 << 14

func parseNetwork(bits string) (*network, error) {
	n, err := strconv.Atoi(bits)
	if err != nil || n < 1 || n > 128 {
		return nil, &sluice.InvalidError{Field: "-key", Value: "ip/" + bits, Want: `"ip/64", or another length of the prefix by which IPv6 addresses are grouped, 1 to 128`}
	}
	return &network{bits: n, known: make(map[string][]byte)}, nil
}

func (n *network) value(r *record) ([]byte, bool) {
	if bytes.IndexByte(r.remote, ':') < 0 {
		return there(r.remote)
	}
	if v, ok := n.known[string(r.remote)]; ok {
		return v, true
	}
	address, err := netip.ParseAddr(string(r.remote))
	if err != nil || !address.Unmap().Is6() {
		return there(r.remote)
	}
	prefix, err := address.WithZone("").Prefix(n.bits)
	if err != nil {
		return there(r.remote)
	}
	if len(n.known) == maxKnown {
		clear(n.known)
	}
	v := []byte(prefix.String())
	n.known[string(r.remote)] = v
	return v, true
}
