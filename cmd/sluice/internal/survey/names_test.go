package survey

import (
	"slices"
	"strings"
	"testing"
)

func TestOwners_are_the_names_of_which_a_ledger_can_be(t *testing.T) {
	tests := []struct {
		ledger string
		client string
		names  []string
	}{
		{"{mail}:permits", "", []string{"mail", "{mail}"}},
		{"{order:submit}:permits:0b7d6c4e", "0b7d6c4e", []string{"order:submit", "{order:submit}"}},
		{"user:{42}:api:permits", "", []string{"user:{42}:api"}},
		{"user:{42}:permits:ann", "ann", []string{"user:{42}"}},
		{"{a}{b}:permits", "", []string{"{a}{b}"}},
		{"{}:permits", "", []string{"{}"}},
		{"mail:permits", "", nil},
		{"{mail}:value", "", nil},
		{"permits", "", nil},
	}
	for _, tt := range tests {
		base, client, _ := ledgerOf(tt.ledger)
		if got := owners(base); !slices.Equal(got, tt.names) || client != tt.client {
			t.Errorf("%s: %q, client %q, want %q, %q", tt.ledger, got, client, tt.names, tt.client)
		}
		for _, name := range tt.names {
			if p := newPair(name, client); p.LedgerKey != tt.ledger {
				t.Errorf("the ledger of %s is %s, want %s", name, p.LedgerKey, tt.ledger)
			}
		}
	}
}

func TestTwoSlots(t *testing.T) {
	for name, want := range map[string]bool{
		"mail": false, "user:{42}": false, "a{b}{}": false,
		"a{b": true, "a{}b": true, "a}b": true, "}": true, "{}": true,
	} {
		if got := TwoSlots(name); (got != "") != want {
			t.Errorf("TwoSlots(%s) = %q, want a reason: %t", name, got, want)
		}
	}
}

func TestShown_puts_between_quotes_what_would_not_be_seen(t *testing.T) {
	for name, want := range map[string]string{
		"mail": "mail", "user:{42}:api": "user:{42}:api", `a"b\c`: `a"b\c`, "ünï 漢": "ünï 漢", "a b": "a b",
		"": `""`, " ": `" "`, "a ": `"a "`, "a\nb": `"a\nb"`, "\x1b[1m": `"\x1b[1m"`, "\xff": `"\xff"`, "\u202e": `"\u202e"`,
	} {
		if got := Shown(name); got != want {
			t.Errorf("Shown(%q) = %s, want %s", name, got, want)
		}
	}
}

func TestShell_is_what_a_shell_reads_as_the_name(t *testing.T) {
	for name, want := range map[string]string{
		"mail": "mail", "order:submit": "order:submit", "{a}:value": "'{a}:value'", "it's": `'it'\''s'`, "-n": "'-n'", "": "''", "a b": "'a b'",
	} {
		if got := shell(name); got != want {
			t.Errorf("shell(%q) = %s, want %s", name, got, want)
		}
	}
}

func TestFormat_is_known_by_the_size(t *testing.T) {
	id := strings.Repeat("\xa0", 16)
	for member, want := range map[string]Format{
		"\x10" + id + "\x01\x00\x00\x00":                                 Redisson321,
		"\x10SL\x00" + id[:13] + "\x01\x00\x00\x00":                      Own,
		"\x10SL\x03" + id[:13] + "\x01\x00\x00\x00":                      Redisson321,
		"\x08" + id[:8] + "\x01\x00\x00\x00":                             Redisson317,
		"\x08\x00\x00\x00\x00\x00\x00\x00" + id[:8] + "\x01\x00\x00\x00": Redisson3164,
		id[:4] + "\x01\x00\x00\x00":                                      Redisson3133,
		"\x04" + id[:4] + "\x01\x00\x00\x00":                             Counted,
		"\x00\x01\x00\x00\x00":                                           Counted,
		"\x09" + id[:8] + "\x01\x00\x00\x00":                             Unknown,
		"":                                                               Unknown,
		"0b7d6c4e-3a4f-4c8e-9d3b-5f0a1b2c3d4e:1":                         Unknown,
	} {
		if got := formatOf(member); got != want {
			t.Errorf("%q: %v, want %v", member, got, want)
		}
	}
}
