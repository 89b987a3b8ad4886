package enginetest

import (
	"strconv"
	"testing"
	"time"
)

// alive loses and edits keys at random, and lets peers with wrong clocks take. Whatever it was, an interval after the last of it
// the whole rate can be had.
func (h Harness) alive(t *testing.T) {
	rnd := random(t)
	w := newWorld(t, h)
	if w.keys == nil {
		t.Skip("needs an engine with keys")
	}
	do := func(text string) string {
		steps, _, err := parse(text)
		must(t, err)
		w.at = text
		return w.do(&steps[0])
	}
	do("rate 10/1s")
	for range 300 {
		var did []string
		for range 1 + rnd.IntN(6) {
			text := []string{
				"take " + strconv.Itoa(1+rnd.IntN(10)),
				"take 1",
				"release 2",
				"poll 1 every=70ms for=300ms",
				"lose value",
				"lose ledger",
				"lose value ledger",
				"put value " + strconv.Itoa(rnd.IntN(25)-12),
				"put value text",
				"put ledger text",
				"foreign " + strconv.Itoa(1+rnd.IntN(3)) + " at=" + strconv.Itoa(rnd.IntN(4000)-2000) + "ms",
				"foreign 1 at=1h",
				"member 616263 at=1h",
				"clock -3s",
				"sleep " + strconv.Itoa(rnd.IntN(800)) + "ms",
				"hset rate 10",
				"available",
			}[rnd.IntN(17)]
			if kind := w.redis("TYPE", "{x}:permits"); (kind == "string") && (text[0] == 'f' || text[0] == 'm') {
				continue // a peer cannot write there either
			}
			if text[0] == 'f' {
				if _, err := strconv.Atoi(w.content("{x}:value")); err != nil && w.redis("EXISTS", "{x}:value") == int64(1) {
					continue
				}
			}
			did = append(did, text)
			w.meddled = true // what was edited may show only to a later call, which may be refused and mend it all the same
			do(text)
		}
		w.meddled = true
		do("batch 1 1") // one take alone might be refused because of the oldest grant, and look no further
		w.pass(time.Second)
		if answer := do("take 10"); answer != "granted, 0 left" {
			t.Fatalf("after %q and a second: take 10: %s", did, answer)
		}
		w.pass(time.Duration(rnd.IntN(2000)) * time.Millisecond)
	}
}
