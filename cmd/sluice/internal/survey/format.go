package survey

import (
	"github.com/sluice-rate/sluice/internal/ledger"
)

// Format is who writes members of a form, as far as the member shows it.
type Format int

// The formats of members, by their size: all end with the permits as 32 bits, little-endian.
const (
	Unknown      Format = iota // no known version writes such a member; it holds nothing
	Own                        // 21 bytes, by this library
	Redisson321                // 21 bytes: Redisson 3.21.0 and later
	Redisson317                // 13 bytes: Redisson 3.17.0 to 3.20.1
	Redisson3164               // 20 bytes: Redisson 3.16.4 to 3.16.8
	Redisson3133               // 8 bytes: Redisson 3.13.3 to 3.16.3
	Counted                    // a length byte, so many other bytes, and permits: readable by all, written by none that is known
	formats                    // how many there are
)

// String names the writer.
func (f Format) String() string {
	return [...]string{
		"unknown", "sluice", "Redisson 3.21.0 or later", "Redisson 3.17.0 to 3.20.1", "Redisson 3.16.4 to 3.16.8", "Redisson 3.13.3 to 3.16.3", "unknown, but readable",
	}[f]
}

// formatOf recognizes a member.
func formatOf(member string) Format {
	if m, ok := ledger.ParseMember([]byte(member)); ok {
		if m.Own() {
			return Own
		}
		return Redisson321
	}
	n := len(member)
	switch {
	case n == 8:
		return Redisson3133
	case n == 20:
		return Redisson3164
	case n < 5 || int(member[0])+5 != n:
		return Unknown
	case n == 13:
		return Redisson317
	}
	return Counted
}
