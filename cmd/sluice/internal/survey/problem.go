package survey

import (
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// Problem is something that is wrong with a limiter's keys, in words for whoever looks after it.
type Problem struct {
	What  string // what is wrong with which key
	Means string // what comes of it
	Do    string // what to do, or what mends it
}

// String is the problem in one sentence.
func (p Problem) String() string { return p.What + ": " + p.Means + "; " + p.Do }

// MarshalText is how the problem appears in JSON.
func (p Problem) MarshalText() ([]byte, error) { return []byte(p.String()), nil }

// Problems says what is wrong with the keys; nothing for a limiter that is well, or that is not there.
func (l *Limiter) Problems() []Problem {
	all := append(l.nameProblems(), l.configProblems()...)
	for i := range l.Pairs {
		p := &l.Pairs[i]
		all = append(all, p.kindProblems()...)
		if l.Stored.valid() {
			all = append(all, p.valueProblems(l)...)
			all = append(all, p.lifeProblems(l)...)
		}
		all = append(all, p.entryProblems()...)
	}
	return all
}

// nameProblems are those of where the keys lie.
func (l *Limiter) nameProblems() (all []Problem) {
	if !l.Left() {
		return nil
	}
	if want := TwoSlots(l.Name); want != "" {
		all = append(all, Problem{
			"the keys of the name " + Shown(l.Name) + " lie in two cluster slots",
			"on a cluster every take fails, and this library refuses the name everywhere",
			"take another name, " + strings.TrimSuffix(want, ": its keys would lie in two cluster slots") +
				"; to be rid of this one: " + l.ByHand(),
		})
	}
	if l.Sibling && l.Stored.Exists() {
		all = append(all, Problem{
			fmt.Sprintf("the limiters %s and %s have the same value and ledger, %s", Shown(l.Name), Shown(sibling(l.Name)), Shown(base(l.Name)+":permits")),
			"each counts what the other grants, under another configuration",
			"give one of them another name",
		})
	}
	return all
}

// ByHand is the command that deletes a limiter whose name this library refuses; "" if that can do it, or nothing is there.
func (l *Limiter) ByHand() string {
	if !l.Left() || TwoSlots(l.Name) == "" {
		return ""
	}
	return "redis-cli DEL " + strings.Join(l.keys(), " ")
}

// keys are the keys that are there, as a shell reads them.
func (l *Limiter) keys() []string {
	var all []string
	if l.Stored.Kind != kindNone {
		all = append(all, shell(l.Name))
	}
	for _, p := range l.Pairs {
		if p.ValueKind != kindNone {
			all = append(all, shell(p.ValueKey))
		}
		if p.LedgerKind != kindNone {
			all = append(all, shell(p.LedgerKey))
		}
	}
	return all
}

// configProblems are those of the configuration.
func (l *Limiter) configProblems() (all []Problem) {
	s, key := &l.Stored, "the key "+Shown(l.Name)
	set := "sluice limiter set " + shell(l.Name) + " -rate 3/5s"
	switch {
	case s.Kind == kindNone && len(l.Pairs) > 0:
		all = append(all, Problem{
			"there is no configuration, but " + l.remains(),
			"every take fails",
			set + " gives it a rate, and what is in use still counts; sluice limiter delete " + shell(l.Name) + " removes what is left" + l.fades(),
		})
	case s.Kind != kindNone && s.Kind != kindHash:
		all = append(all, Problem{
			fmt.Sprintf("%s is a %s, not a hash", key, s.Kind),
			"it is not a limiter's, and every call under this name fails",
			"take another name for the limiter, or remove the key by hand if nobody needs it",
		})
	case s.Kind == kindHash && !s.Exists():
		all = append(all, Problem{
			key + " is a hash without the fields rate, interval and type",
			"it is not a limiter's, and every take under this name fails",
			"take another name for the limiter: " + set + " would add its fields to that hash",
		})
	}
	for _, fault := range s.faults {
		all = append(all, Problem{key + " " + fault, "every call fails", set + " stores a whole configuration anew"})
	}
	for _, doubt := range s.doubts {
		what, means, _ := strings.Cut(doubt, ", ")
		all = append(all, Problem{key + " " + what, "that is " + means, set + " stores a whole configuration anew"})
	}
	return all
}

// remains says what is left of a limiter without a configuration.
func (l *Limiter) remains() string {
	ledgers, entries, last := 0, int64(0), ""
	for _, p := range l.Pairs {
		if p.LedgerKind == kindZset {
			ledgers, entries, last = ledgers+1, entries+p.Entries, p.LedgerKey
		}
	}
	switch ledgers {
	case 0:
		return "a value is left, " + Shown(l.Pairs[0].ValueKey)
	case 1:
		return fmt.Sprintf("a ledger is left, %s, with %s", Shown(last), count(entries, "entry", "entries"))
	}
	return fmt.Sprintf("the ledgers of %d clients are left, with %s", ledgers, count(entries, "entry", "entries"))
}

// fades says when what is left goes by itself: this library keeps a ledger until its last grant has left the window.
func (l *Limiter) fades() string {
	var last time.Duration
	for _, p := range l.Pairs {
		if p.ValueKind != kindNone && p.ValueTTL == 0 || p.LedgerKind != kindNone && p.LedgerTTL == 0 {
			return ""
		}
		last = max(last, p.ValueTTL, p.LedgerTTL)
	}
	return ", and it goes by itself in " + span(last)
}

// Shown is a stored name as it can be put on a terminal: with quotes if it holds what would not be seen, or would be obeyed.
func Shown(name string) string {
	odd := func(r rune) bool { return r == utf8.RuneError || !strconv.IsPrint(r) }
	if name == "" || strings.TrimSpace(name) != name || strings.ContainsFunc(name, odd) {
		return strconv.Quote(name)
	}
	return name
}

// shell is a name as a shell reads it.
func shell(name string) string {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("_-.:/@%+,", r)
	}
	if name != "" && strings.TrimFunc(name, plain) == "" && name[0] != '-' {
		return name
	}
	return "'" + strings.ReplaceAll(name, "'", `'\''`) + "'"
}

// count is a number of things.
func count(n int64, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return strconv.FormatInt(n, 10) + " " + many
}

// span is a duration, or that it has no end.
func span(d time.Duration) string {
	if d == 0 {
		return "for ever"
	}
	return d.Round(time.Millisecond).String()
}
