package interop

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// A section is some steps on one limiter of its own, with a heading that says what they show:
//
//	== java tryAcquire: what Java takes, Go is refused
//	since 3.38.0
//	java trySetRate OVERALL 3 10 MINUTES = true
//	java tryAcquire 3                    = true
//	go   TryAcquire 1                    = false retry 599s..600s
//
// "java tryAcquire" says that Java's method shows on Go's side, "go Refund" the reverse; both may stand there, and several, with commas; "redis" is
// for what somebody else does to the keys. "since V"
// and "until V" name the first and the last version that has what the steps need.
//
// A step is what somebody does and, after the last " = ", what comes of it, word by word: 1..3 and 1s..2s are ranges, * is any word, and = ! text means an
// error with that text. "a: java acquire 1" begins a step and goes on; "a = - in 1s..2s" waits for it, and says what came of it and how long it took.
// "sleep 1s" sleeps. Who can do something: java, java2 and java3, which are clients of their own; go and go2, likewise; redis, with a command as
// redis-cli takes it. In a step $name is the limiter, $new another name, $value and $permits are its keys, $java and $go2 and so on the IDs of clients,
// $last what came of the step before;
// "conserving" sees that the value is the rate less the permits in the ledger.
type section struct {
	file, title  string
	shows        []shown
	since, until string
	steps        []step
}

// shown is a method of one side that shows on the other.
type shown struct{ side, method string }

type step struct {
	line  int
	label string // of a step that begins and goes on
	who   string
	words []string
	want  string
	wants bool
}

func (s section) String() string { return s.file + ": " + s.title }

// applies reports whether a version of Redisson has what the section needs.
func (s section) applies(version string) bool {
	return (s.since == "" || !before(version, s.since)) && (s.until == "" || !before(s.until, version))
}

// before orders versions.
func before(a, b string) bool { return slices.Compare(numbers(a), numbers(b)) < 0 }

func numbers(version string) (all []int) {
	for part := range strings.SplitSeq(version, ".") {
		n, _ := strconv.Atoi(part)
		all = append(all, n)
	}
	return all
}

// sections reads the files that match a pattern.
func sections(tb testing.TB, pattern string) (all []section) {
	tb.Helper()
	files, err := filepath.Glob(pattern)
	if err != nil || len(files) == 0 {
		tb.Fatalf("no files match %s: %v", pattern, err)
	}
	for _, file := range files {
		some, err := readSections(file)
		if err != nil {
			tb.Fatal(err)
		}
		all = append(all, some...)
	}
	return all
}

func readSections(file string) (all []section, err error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	for number := 1; lines.Scan(); number++ {
		text := strings.TrimSpace(lines.Text())
		fail := func(format string, args ...any) error {
			return fmt.Errorf("%s:%d: "+format, append([]any{file, number}, args...)...)
		}
		if text == "" || strings.HasPrefix(text, "#") {
			continue
		}
		if heading, ok := strings.CutPrefix(text, "== "); ok {
			what, title, ok := strings.Cut(heading, ": ")
			if !ok {
				return nil, fail("a heading is: == java METHOD, go METHOD: what is shown")
			}
			s := section{file: filepath.Base(file), title: title}
			for one := range strings.SplitSeq(what, ", ") {
				if one == "redis" {
					continue
				}
				side, method, ok := strings.Cut(one, " ")
				if !ok || side != "java" && side != "go" {
					return nil, fail("%q: a heading is: == java METHOD, go METHOD: what is shown", one)
				}
				s.shows = append(s.shows, shown{side, method})
			}
			all = append(all, s)
			continue
		}
		if len(all) == 0 {
			return nil, fail("a step before the first heading")
		}
		s := &all[len(all)-1]
		if v, ok := strings.CutPrefix(text, "since "); ok {
			s.since = v
			continue
		}
		if v, ok := strings.CutPrefix(text, "until "); ok {
			s.until = v
			continue
		}
		st, err := readStep(text)
		if err != nil {
			return nil, fail("%w", err)
		}
		st.line = number
		s.steps = append(s.steps, st)
	}
	return all, lines.Err()
}

// sides are those who can do something in a step.
var sides = []string{"java", "java2", "java3", "go", "go2", "redis", "sleep", "conserving"}

func readStep(text string) (s step, err error) {
	if i := strings.LastIndex(text, " = "); i >= 0 {
		text, s.want, s.wants = strings.TrimSpace(text[:i]), strings.TrimSpace(text[i+3:]), true
	}
	s.words = strings.Fields(text)
	if label, ok := strings.CutSuffix(s.words[0], ":"); ok {
		s.label, s.words = label, s.words[1:]
		if s.wants {
			return s, fmt.Errorf("%q goes on: what comes of it is for the step %q", text, label+" = …")
		}
	}
	if len(s.words) == 1 && s.wants && !slices.Contains(sides, s.words[0]) {
		return s, nil // the end of what goes on
	}
	if len(s.words) == 0 || !slices.Contains(sides, s.words[0]) {
		return s, fmt.Errorf("%q: a step begins with one of %q", text, sides)
	}
	s.who, s.words = s.words[0], s.words[1:]
	return s, nil
}

// compare says how what came is not what was wanted; "" if it is.
func compare(want, got string, err error) string {
	if text, ok := strings.CutPrefix(want, "!"); ok {
		if text = strings.TrimSpace(text); err == nil || !strings.Contains(err.Error(), text) {
			return fmt.Sprintf("got %q and the error %v, want an error with %q", got, err, text)
		}
		return ""
	}
	if err != nil {
		return fmt.Sprintf("%v, want %q", err, want)
	}
	wants, gots := strings.Fields(want), strings.Fields(got)
	ok := len(wants) == len(gots)
	for i := 0; ok && i < len(wants); i++ {
		ok = fits(wants[i], gots[i])
	}
	if !ok {
		return fmt.Sprintf("got %q, want %q", got, want)
	}
	return ""
}

func fits(want, got string) bool {
	low, high, ranged := strings.Cut(want, "..")
	if !ranged {
		return want == "*" || want == got
	}
	l, err1 := quantity(low)
	h, err2 := quantity(high)
	g, err3 := quantity(got)
	return err1 == nil && err2 == nil && err3 == nil && l <= g && g <= h
}

// quantity reads a number or a duration.
func quantity(text string) (float64, error) {
	if n, err := strconv.ParseFloat(text, 64); err == nil {
		return n, nil
	}
	d, err := time.ParseDuration(text)
	return d.Seconds(), err
}
