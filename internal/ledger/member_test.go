package ledger_test

import (
	"encoding/hex"
	"testing"
	"time"

	"github.com/sluice-rate/sluice/internal/ledger"
)

func TestMemberBytes(t *testing.T) {
	var id [16]byte
	for i := range id {
		id[i] = 0xa0 + byte(i)
	}
	for _, c := range []struct {
		permits uint32
		want    string
	}{
		{1, "10a0a1a2a3a4a5a6a7a8a9aaabacadaeaf01000000"},
		{258, "10a0a1a2a3a4a5a6a7a8a9aaabacadaeaf02010000"},
		{70000, "10a0a1a2a3a4a5a6a7a8a9aaabacadaeaf70110100"},
		{1<<32 - 1, "10a0a1a2a3a4a5a6a7a8a9aaabacadaeafffffffff"},
	} {
		m := ledger.Member{ID: id, Permits: c.permits}
		b := m.Append(nil)
		if got := hex.EncodeToString(b); got != c.want {
			t.Errorf("Append of %d permits = %s, want %s", c.permits, got, c.want)
		}
		if got, ok := ledger.ParseMember(b); !ok || got != m {
			t.Errorf("ParseMember(%s) = %v, %v, want %v", c.want, got, ok, m)
		}
		if got := ledger.ForeignPermits(string(b)); got != int64(c.permits) {
			t.Errorf("ForeignPermits(%s) = %d, want %d", c.want, got, c.permits)
		}
	}
}

func TestForeignPermits(t *testing.T) {
	for _, c := range []struct {
		name   string
		member string
		want   int64
	}{
		{"3.13.3", "81f3dd5e01000000", 1},
		{"3.16.4", "0800000000000000a0a1a2a3a4a5a6a702010000", 258},
		{"3.17.0", "08a0a1a2a3a4a5a6a770110100", 70000},
		{"3.21.0", "10b0b1b2b3b4b5b6b7b8b9babbbcbdbebf05000000", 5},
		{"no random bytes", "0005000000", 5},
		{"empty", "", 0},
		{"four bytes", "01000000", 0},
		{"a length that does not fit", "0905000000", 0},
		{"text", hex.EncodeToString([]byte("5f2c:3")), 0},
	} {
		member, err := hex.DecodeString(c.member)
		if err != nil {
			t.Fatal(err)
		}
		if got := ledger.ForeignPermits(string(member)); got != c.want {
			t.Errorf("%s: ForeignPermits(%s) = %d, want %d", c.name, c.member, got, c.want)
		}
		if _, ok := ledger.ParseMember(member); ok != (c.name == "3.21.0") {
			t.Errorf("%s: ParseMember reports %v", c.name, ok)
		}
	}
}

// What a member says of its maker decides how far ahead it may be dated; the arithmetic relies on these bytes.
func TestNewMember(t *testing.T) {
	const unbounded = "ffffff"
	for _, c := range []struct {
		patience time.Duration
		firm     bool
		want     string // bytes 0 to 5
	}{
		{0, false, "534c00" + "000000"},
		{1, false, "534c00" + "010000"},
		{time.Second, true, "534c01" + "010000"},
		{time.Second + 1, false, "534c00" + "020000"},
		{300 * time.Second, false, "534c00" + "2c0100"},
		{(1<<24 - 2) * time.Second, false, "534c00" + "feffff"},
		{(1<<24 - 1) * time.Second, false, "534c00" + unbounded},
		{100 * 365 * 24 * time.Hour, true, "534c01" + unbounded},
	} {
		a, b := ledger.NewMember(7, c.patience, c.firm), ledger.NewMember(7, c.patience, c.firm)
		if got := hex.EncodeToString(a.ID[:6]); got != c.want || a.Permits != 7 || !a.Own() || a.Merged() {
			t.Errorf("NewMember(7, %v, %v) begins with %s and holds %d, want %s and 7", c.patience, c.firm, got, a.Permits, c.want)
		}
		if a.ID == b.ID {
			t.Errorf("two members have the ID %x", a.ID)
		}
	}
}

func TestCursor(t *testing.T) {
	entries := []ledger.Entry{{Score: 5}, {Score: 5}, {Score: 7}, {Score: 7}, {Score: 7}}
	c := ledger.Cursor{}
	for i, want := range []string{"5+1", "5+2", "7+1", "7+2", "7+3"} {
		c = c.After(entries[i : i+1])
		if c.String() != want {
			t.Errorf("the cursor after entry %d is %s, want %s", i, c, want)
		}
		if got, err := ledger.ParseCursor(c.String()); err != nil || got != c {
			t.Errorf("ParseCursor(%s) = %v, %v", c, got, err)
		}
	}
	if got, err := ledger.ParseCursor(""); err != nil || got != (ledger.Cursor{}) {
		t.Errorf(`ParseCursor("") = %v, %v, want the beginning`, got, err)
	}
	for _, bad := range []string{"x", "5", "5+", "+5", "5+x", "5.5+1", "5+1+1"} {
		if got, err := ledger.ParseCursor(bad); err == nil {
			t.Errorf("ParseCursor(%q) = %v, want an error", bad, got)
		}
	}
}
