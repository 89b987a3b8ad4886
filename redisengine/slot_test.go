package redisengine

import "testing"

// TestHashSlot holds hashSlot to the check value of CRC-16/XMODEM and to the rules of hash tags in the Redis cluster specification.
func TestHashSlot(t *testing.T) {
	if got := hashSlot("123456789"); got != 0x31c3 {
		t.Errorf("hashSlot(123456789) = %#x, want 0x31c3", got)
	}
	for key, hashed := range map[string]string{
		"{user:42}:s60000":  "user:42",
		"sl:{t}:u:f10000":   "t",
		"a{{b}}c":           "{b", // from the first brace to the first that closes
		"a{b}{c}":           "b",
		"sl:{u%7B1%7D}:b10": "u%7B1%7D",
	} {
		if got, want := hashSlot(key), hashSlot(hashed); got != want {
			t.Errorf("hashSlot(%s) = %d, want %d, that of %q", key, got, want, hashed)
		}
	}
	for _, key := range []string{"a{}{b}", "a{b", "a}b{"} { // no tag: the whole key counts
		if got := hashSlot(key); got == hashSlot("b") || got == hashSlot("") {
			t.Errorf("hashSlot(%s) = %d, as if it had a tag", key, got)
		}
	}
	if a, b := hashSlot("a{}{b}"), hashSlot("c{}{b}"); a == b {
		t.Errorf("a{}{b} and c{}{b} have slot %d both, want two", a)
	}
}
