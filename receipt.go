package sluice

import (
	"encoding/hex"
	"time"

	"github.com/sluice-rate/sluice/internal/ledger"
)

// Receipt names one grant of one limiter, so that it can be given back exactly. It is made by the caller
// before the take, which is why a take that runs twice is charged once. The zero Receipt names nothing.
type Receipt struct {
	entry ledger.Member
}

// newReceipt makes the receipt of a take that may wait for patience; a firm one keeps its date once it has one.
func newReceipt(permits int64, patience time.Duration, firm bool) Receipt {
	return Receipt{ledger.NewMember(permits, patience, firm)}
}

// ReceiptFrom is the receipt of a ledger entry. It is meant for engines.
func ReceiptFrom(id [16]byte, permits uint32) Receipt {
	return Receipt{ledger.Member{ID: id, Permits: permits}}
}

// ID is the random part of the entry in the ledger. It is meant for engines.
func (r Receipt) ID() [16]byte { return r.entry.ID }

// Permits is how many permits the receipt stands for.
func (r Receipt) Permits() int64 { return int64(r.entry.Permits) }

// IsZero reports whether r names nothing.
func (r Receipt) IsZero() bool { return r == Receipt{} }

// String gives r in 40 hexadecimal digits, which ParseReceipt reads; "" for the zero Receipt.
func (r Receipt) String() string {
	if r.IsZero() {
		return ""
	}
	return hex.EncodeToString(r.entry.Append(nil)[1:]) // without the length byte, which never differs
}

// MarshalText and UnmarshalText carry r through JSON and the like.
func (r Receipt) MarshalText() ([]byte, error) { return []byte(r.String()), nil }

// UnmarshalText reads what MarshalText wrote; the error is an *InvalidError.
func (r *Receipt) UnmarshalText(text []byte) (err error) {
	*r, err = ParseReceipt(string(text))
	return err
}

// ParseReceipt reads what String wrote. "" is the zero Receipt. The error is an *InvalidError.
func ParseReceipt(s string) (Receipt, error) {
	if s == "" {
		return Receipt{}, nil
	}
	b, err := hex.DecodeString(s)
	if err != nil || len(b) != ledger.MemberSize-1 {
		return Receipt{}, &InvalidError{"receipt", s, "40 hexadecimal digits"}
	}
	m, _ := ledger.ParseMember(append([]byte{16}, b...))
	return Receipt{m}, nil
}
