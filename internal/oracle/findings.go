package oracle

import (
	"fmt"
	"strings"
)

// Violation is one breach of a law.
type Violation struct {
	Law  int    // its number; 0 if the history cannot be judged
	At   int64  // when, in microseconds of the store clock
	What string // what happened, with the numbers and the grants
}

// String is the violation in one line.
func (v Violation) String() string {
	return fmt.Sprintf("law %d at %d: %s", v.Law, v.At, v.What)
}

// Findings is what one judgement found: nothing, if the zero value.
type Findings struct {
	Count int         // of all violations
	List  []Violation // the first of them, [Params].List at most

	limit int
}

// String lists the violations, a line each, and says how many more there are.
func (f Findings) String() string {
	var b strings.Builder
	for _, v := range f.List {
		fmt.Fprintf(&b, "%v\n", v)
	}
	if more := f.Count - len(f.List); more > 0 {
		fmt.Fprintf(&b, "and %d more\n", more)
	}
	return b.String()
}

// add counts a violation and lists it while there is room. The text is made
// only then: a broken history has a million of them.
func (f *Findings) add(law int, at int64, format string, args ...any) {
	f.Count++
	if len(f.List) < f.limit {
		f.List = append(f.List, Violation{Law: law, At: at, What: fmt.Sprintf(format, args...)})
	}
}

// join appends the violations of g.
func (f *Findings) join(g Findings) {
	f.limit = max(f.limit, g.limit)
	f.Count += g.Count
	f.List = append(f.List, g.List[:min(len(g.List), max(0, f.limit-len(f.List)))]...)
}
