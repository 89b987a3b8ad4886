package enginetest

import "strconv"

// conserved checks law 2 in the raw keys: the value and all permits of the ledger make the rate.
func (w *world) conserved() {
	w.Helper()
	if w.keys == nil || w.meddled || w.clock.now().Before(w.driftUntil) {
		return
	}
	config, value, permits := w.keyNames()
	stored, err := w.keys.Do(w.Context(), "HGET", config, "rate")
	rate, isText := stored.(string)
	if err != nil || !isText {
		return // there is no limiter
	}
	want := int64(1<<53 - 1) // the most that a value can hold
	if n, err := strconv.ParseInt(rate, 10, 64); err == nil {
		want = min(want, n)
	}
	var held int64
	for _, e := range w.rawLedger(permits) {
		held += e.permits
	}
	text, _ := w.redis("GET", value).(string)
	if text == "" && held == 0 {
		return // never used
	}
	// A peer would fail for ever on a ledger that goes before its value, or the other way round.
	if a, b := w.number("PTTL", value), w.number("PTTL", permits); a != -2 && b != -2 && (a < 0) != (b < 0) {
		w.Errorf("%s at %v: the value lives for %d ms and the ledger for %d", w.at, w.clock.since(), a, b)
	}
	if got, err := strconv.ParseInt(text, 10, 64); err != nil || got+held != want {
		w.Errorf("%s at %v: the value is %q and the ledger holds %d, want them to make %d", w.at, w.clock.since(), text, held, want)
	}
}

// written is how much Redis has written so far.
func (w *world) written() int64 {
	if w.keys == nil {
		return 0
	}
	return w.keys.ReplOffset(w)
}

// untouched runs what must only read.
func (w *world) untouched(read func() string) string {
	w.Helper()
	before := w.written()
	answer := read()
	if w.written() != before {
		w.Errorf("%s: a read has written", w.at)
	}
	return answer
}
