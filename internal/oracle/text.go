package oracle

import (
	"cmp"
	"io"
	"slices"
	"strconv"
)

// Event is one line of the text form of a history: a Grant, Return, Release,
// Change or Claim. Its String is the line without the newline:
//
//	change at=0 rate=10 interval=1000000 reset=true
//	grant arrived=1000200 at=1001000 went=1001350 n=2 id=7f3a who=worker-3 atonce=true
//	return at=1200000 id=7f3a n=1
//	release at=1300000 n=1
//	claim at=2000000 free=10
//
// Fields may come in any order. Those that hold zero, nothing or false are left
// out; at, n, rate and interval must be there. A text with a space, a quote or
// anything but printable ASCII in it is quoted as in Go. Empty lines and lines
// that begin with # mean nothing.
type Event interface {
	// Time is when the store saw the event.
	Time() int64

	// String is the line of the event.
	String() string

	appendLine(b []byte) []byte
}

var _ = []Event{Grant{}, Return{}, Release{}, Change{}, Claim{}}

// Write writes events, a line each, in one call of w.Write. Processes that
// record one history together write a file each; it may be in any order, and
// Write may be called again for what comes later.
func Write(w io.Writer, events ...Event) error {
	var b []byte
	for _, e := range events {
		b = append(e.appendLine(b), '\n')
	}
	_, err := w.Write(b)
	return err
}

// Events are all events of the history in the order of time. Of those at one
// moment, changes come first, then grants, returns, releases and claims.
func (h History) Events() []Event {
	events := make([]Event, 0, len(h.Changes)+len(h.Grants)+len(h.Returns)+len(h.Releases)+len(h.Claims))
	events = appendEvents(events, h.Changes)
	events = appendEvents(events, h.Grants)
	events = appendEvents(events, h.Returns)
	events = appendEvents(events, h.Releases)
	events = appendEvents(events, h.Claims)
	slices.SortStableFunc(events, func(a, b Event) int { return cmp.Compare(a.Time(), b.Time()) })
	return events
}

func appendEvents[E Event](all []Event, some []E) []Event {
	for _, e := range some {
		all = append(all, e)
	}
	return all
}

// Time is the arrival.
func (g Grant) Time() int64 { return g.Arrived }

// Time is At.
func (r Return) Time() int64 { return r.At }

// Time is At.
func (r Release) Time() int64 { return r.At }

// Time is At.
func (c Change) Time() int64 { return c.At }

// Time is At.
func (c Claim) Time() int64 { return c.At }

// String is the grant's line.
func (g Grant) String() string { return string(g.appendLine(nil)) }

// String is the return's line.
func (r Return) String() string { return string(r.appendLine(nil)) }

// String is the release's line.
func (r Release) String() string { return string(r.appendLine(nil)) }

// String is the change's line.
func (c Change) String() string { return string(c.appendLine(nil)) }

// String is the claim's line.
func (c Claim) String() string { return string(c.appendLine(nil)) }

func (g Grant) appendLine(b []byte) []byte {
	b = append(b, "grant"...)
	if g.Arrived != 0 {
		b = appendNumber(b, "arrived", g.Arrived)
	}
	b = appendNumber(b, "at", g.At)
	if g.Went != 0 {
		b = appendNumber(b, "went", g.Went)
	}
	b = appendNumber(b, "n", g.Permits)
	b = appendText(b, "id", g.ID)
	b = appendText(b, "who", g.Who)
	return appendFlag(b, "atonce", g.AtOnce)
}

func (r Return) appendLine(b []byte) []byte {
	b = appendNumber(append(b, "return"...), "at", r.At)
	return appendNumber(appendText(b, "id", r.ID), "n", r.Permits)
}

func (r Release) appendLine(b []byte) []byte {
	return appendNumber(appendNumber(append(b, "release"...), "at", r.At), "n", r.Permits)
}

func (c Change) appendLine(b []byte) []byte {
	b = appendNumber(appendNumber(append(b, "change"...), "at", c.At), "rate", c.Rate)
	return appendFlag(appendNumber(b, "interval", c.Interval), "reset", c.Reset)
}

func (c Claim) appendLine(b []byte) []byte {
	return appendNumber(appendNumber(append(b, "claim"...), "at", c.At), "free", c.Free)
}

func appendNumber(b []byte, name string, n int64) []byte {
	return strconv.AppendInt(append(append(append(b, ' '), name...), '='), n, 10)
}

func appendFlag(b []byte, name string, set bool) []byte {
	if !set {
		return b
	}
	return append(append(append(b, ' '), name...), "=true"...)
}

// appendText leaves out what is empty and quotes what would not stand as it is.
func appendText(b []byte, name, text string) []byte {
	if text == "" {
		return b
	}
	b = append(append(append(b, ' '), name...), '=')
	for _, c := range []byte(text) {
		if c <= ' ' || c == '"' || c >= 0x7f {
			return strconv.AppendQuoteToASCII(b, text)
		}
	}
	return append(b, text...)
}
