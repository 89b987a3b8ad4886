package ledger

import (
	"bytes"
	"encoding/binary"
	"math/rand/v2"
	"time"
)

// MemberSize is the length of an entry's member in the sorted set: a length byte (16), the ID, and the
// permits as a little-endian 32-bit number. It is Redisson's format since 3.21.
const MemberSize = 21

// Member is an entry without its date: who holds how many permits.
//
// Redisson fills all 16 bytes of the ID with random. Ours say more, so that no other store is needed:
//
//	bytes 0-1   "SL": ours, if the next byte is right as well
//	byte  2     what it is: 0 a grant or a reservation, 1 a reservation whose date must not move, 2 several grants in one
//	bytes 3-5   how long the caller would wait at most, in seconds rounded up, little-endian; 0 for a caller
//	            who does not wait, 2^24-1 for no bound
//	bytes 6-15  random
type Member struct {
	ID      [16]byte
	Permits uint32
}

const (
	isFirm   = 1
	isMerged = 2

	unbounded = 1<<24 - 1
)

// NewMember makes the member of a take. Eighty random bits tell it from all others in its window.
func NewMember(permits int64, patience time.Duration, firm bool) Member {
	m := Member{Permits: uint32(permits)}
	m.ID[0], m.ID[1] = 'S', 'L'
	if firm {
		m.ID[2] = isFirm
	}
	seconds := min((patience+time.Second-1)/time.Second, unbounded)
	m.ID[3], m.ID[4], m.ID[5] = byte(seconds), byte(seconds>>8), byte(seconds>>16)
	binary.LittleEndian.PutUint64(m.ID[6:], rand.Uint64())
	binary.LittleEndian.PutUint16(m.ID[14:], uint16(rand.Uint32()))
	return m
}

// Append appends the bytes of the sorted set's member.
func (m Member) Append(b []byte) []byte {
	b = append(b, 16)
	b = append(b, m.ID[:]...)
	return binary.LittleEndian.AppendUint32(b, m.Permits)
}

// ParseMember reads what Append wrote; it reports false for the other sizes that Redisson has used.
func ParseMember(b []byte) (Member, bool) {
	if len(b) != MemberSize || b[0] != 16 {
		return Member{}, false
	}
	m := Member{Permits: binary.LittleEndian.Uint32(b[17:])}
	copy(m.ID[:], b[1:])
	return m, true
}

// Own reports whether this library made the entry; the others are a Java peer's. One in five million of theirs is taken for ours,
// which does no harm unless it is dated ahead.
func (m Member) Own() bool { return m.ID[0] == 'S' && m.ID[1] == 'L' && m.ID[2] <= isMerged }

// Merged reports whether the entry stands for several grants.
func (m Member) Merged() bool { return m.Own() && m.ID[2] == isMerged }

// firm reports whether a reservation's date must not move.
func (m Member) firm() bool { return m.ID[2] == isFirm }

// patience is how far ahead of now, in milliseconds, the entry can be dated by right.
func (m Member) patience() int64 {
	if !m.Own() {
		return 0
	}
	seconds := int64(m.ID[3]) | int64(m.ID[4])<<8 | int64(m.ID[5])<<16
	if seconds == unbounded {
		return maxDate
	}
	return seconds * 1000
}

// merge is the member of an entry that stands for a run of grants of which m is the newest.
// The salt tells it from another that has the same random bytes.
func (m Member) merge(permits, salt uint32) Member {
	merged := Member{Permits: permits}
	merged.ID[0], merged.ID[1], merged.ID[2] = 'S', 'L', isMerged
	merged.ID[3], merged.ID[4], merged.ID[5] = byte(salt), byte(salt>>8), byte(salt>>16)
	copy(merged.ID[6:], m.ID[6:])
	return merged
}

// less orders members as the sorted set orders equal scores: by their bytes.
func (m Member) less(o Member) bool {
	if c := bytes.Compare(m.ID[:], o.ID[:]); c != 0 {
		return c < 0
	}
	var a, b [4]byte
	binary.LittleEndian.PutUint32(a[:], m.Permits)
	binary.LittleEndian.PutUint32(b[:], o.Permits)
	return bytes.Compare(a[:], b[:]) < 0
}

// ForeignPermits is how many permits a member of any of Redisson's formats holds; 0 for what no limiter wrote. The
// count is the last four bytes of each: after a length byte and so many random bytes, or in sizes 8 and 20 of old versions.
func ForeignPermits(member string) int64 {
	n := len(member)
	if n > 4 && (int(member[0])+5 == n || n == 20 || n == 8) {
		return int64(binary.LittleEndian.Uint32([]byte(member[n-4:])))
	}
	return 0
}
