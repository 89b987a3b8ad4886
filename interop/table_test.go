package interop

import (
	"flag"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/sluice-rate/sluice"
)

var update = flag.Bool("update", false, "write the tables in docs/from-redisson*.md")

// rows are the methods of RRateLimiter and those of this library that do the same, in the order of the table. A method that only one side has stands
// alone.
var rows = []struct{ java, here string }{
	{"trySetRate", "TrySetRate"},
	{"setRate", "SetRate"},
	{"updateRate", "UpdateRate"}, // Redisson has it from 4.4.0 on
	{"getConfig", "Config"},
	{"tryAcquire", "TryAcquire TryAcquireFor"},
	{"acquire", "Acquire"},
	{"", "Reserve Wait Cancel"},
	{"availablePermits", "Available"},
	{"release", "Release"},
	{"", "Refund RefundN"},
	{"", "Ledger"},
	{"expire", "Expire"},
	{"expireAt", "ExpireAt"},
	{"expireIfSet", ""},
	{"expireIfNotSet", ""},
	{"expireIfGreater", ""},
	{"expireIfLess", ""},
	{"clearExpire", "Persist"},
	{"remainTimeToLive", "TTL"},
	{"getExpireTime", ""},
	{"isExists", "Exists"},
	{"delete", "Delete"},
	{"rename", "Rename"},
	{"renamenx", ""},
	{"unlink", ""},
	{"copy", ""},
	{"copyAndReplace", ""},
	{"dump", ""},
	{"restore", ""},
	{"restoreAndReplace", ""},
	{"move", ""},
	{"migrate", ""},
	{"touch", ""},
	{"sizeInMemory", ""},
	{"getIdleTime", ""},
	{"getReferenceCount", ""},
	{"getAccessFrequency", ""},
	{"getInternalEncoding", ""},
}

var guides = []string{"../docs/from-redisson.md", "../docs/from-redisson.zh-CN.md"}

// local are methods of RRateLimiter that do not reach the store, or take objects: there is nothing to share.
var local = []string{"getName", "getCodec", "addListener", "removeListener"}

// TestTable holds the tables of the guides to the sections: an arrow stands where a section shows it, and nowhere else.
func TestTable(t *testing.T) {
	all := sections(t, "testdata/*.txt")
	for _, guide := range guides {
		raw, err := os.ReadFile(guide)
		if err != nil {
			t.Fatal(err)
		}
		before, rest, ok1 := strings.Cut(string(raw), "<!-- table: go -C interop test -run Table -update . -->\n")
		table, after, ok2 := strings.Cut(rest, "<!-- end of table -->\n")
		if !ok1 || !ok2 {
			t.Fatalf("%s: the marks of the table are missing", guide)
		}
		want := tableOf(all)
		switch {
		case table == want:
		case *update:
			text := before + "<!-- table: go -C interop test -run Table -update . -->\n" + want + "<!-- end of table -->\n" + after
			if err := os.WriteFile(guide, []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		default:
			t.Errorf("%s: the table is not what the sections show; go -C interop test -run Table -update . writes:\n%s", guide, want)
		}
	}
}

// TestNames sees that the scenarios that the guides name are there.
func TestNames(t *testing.T) {
	scenario := regexp.MustCompile("`(p[0-9]+[a-z]?_[a-z_]+)`")
	for _, guide := range guides {
		text, err := os.ReadFile(guide)
		if err != nil {
			t.Fatal(err)
		}
		names := scenario.FindAllSubmatch(text, -1)
		if len(names) == 0 {
			t.Errorf("%s names no scenario", guide)
		}
		for _, name := range names {
			if _, err := os.Stat("../enginetest/testdata/" + string(name[1]) + ".txt"); err != nil {
				t.Errorf("%s: %v", guide, err)
			}
		}
	}
}

// tableOf is the table that is right for the sections.
func tableOf(all []section) string {
	var b strings.Builder
	fmt.Fprintf(&b, "| `RRateLimiter` | `sluice.Limiter` | %s |\n|---|---|%s\n", strings.Join(versions, " | "), strings.Repeat("---|", len(versions)))
	for _, r := range rows {
		fmt.Fprintf(&b, "| %s | %s |", code(r.java), code(r.here))
		for _, version := range versions {
			fmt.Fprintf(&b, " %s |", arrows(all, version, r.java, strings.Fields(r.here)))
		}
		b.WriteByte('\n')
	}
	return b.String()
}

func code(methods string) string {
	var all []string
	for m := range strings.FieldsSeq(methods) {
		all = append(all, "`"+m+"`")
	}
	return strings.Join(all, ", ")
}

// arrows says in which directions sections show a method on a version. All methods of a row have to be shown for its arrow.
func arrows(all []section, version, java string, here []string) string {
	shows := func(what shown) bool {
		return slices.ContainsFunc(all, func(s section) bool { return s.applies(version) && slices.Contains(s.shows, what) })
	}
	var arrows []string
	if java != "" && shows(shown{"java", java}) {
		arrows = append(arrows, "→")
	}
	if len(here) > 0 && !slices.ContainsFunc(here, func(m string) bool { return !shows(shown{"go", m}) }) {
		arrows = append(arrows, "←")
	}
	return strings.Join(arrows, " ")
}

// TestHeadings sees that a section does what its heading says: the method is called, and what comes of it is seen from the other side.
func TestHeadings(t *testing.T) {
	for _, s := range sections(t, "testdata/*.txt") {
		for _, what := range s.shows {
			if !s.does(what) {
				t.Errorf("%v: no step calls %s's %s before one of the other side that says what comes of it", s, what.side, what.method)
			}
		}
	}
}

func (s section) does(what shown) bool {
	other := map[string]string{"java": "go", "go": "java"}[what.side]
	called := false
	goes := make(map[string]bool) // steps of the other side that go on
	for _, st := range s.steps {
		switch {
		case strings.HasPrefix(st.who, what.side):
			called = called || st.words[0] == what.method || len(st.words) > 1 && strings.HasPrefix(st.words[0], "@") && st.words[1] == what.method
		case st.label != "" && strings.HasPrefix(st.who, other):
			goes[st.label] = true
		case called && st.wants && (strings.HasPrefix(st.who, other) || st.who == "" && goes[st.words[0]]):
			return true
		}
	}
	return false
}

// TestEveryMethod sees that no method of either side is missing in the table: what a new version brings shows here.
func TestEveryMethod(t *testing.T) {
	var javas, heres []string
	for _, r := range rows {
		javas = append(javas, r.java)
		heres = append(heres, strings.Fields(r.here)...)
	}
	for _, m := range slices.Concat(methodsOf(&sluice.Limiter{}), methodsOf(&sluice.Reservation{})) {
		if !slices.Contains(heres, m) && m != "Name" && m != "Delay" {
			t.Errorf("the table has no row with this library's %s", m)
		}
	}
	for _, version := range versions {
		list, err := redisson(t, version).Do(t.Context(), "methods")
		if err != nil {
			t.Fatal(err)
		}
		all := sections(t, "testdata/*.txt")
		for _, m := range methodNames(list) {
			switch {
			case slices.Contains(local, m):
			case !slices.Contains(javas, m):
				t.Errorf("the table has no row with %s of Redisson %s", m, version)
			case arrows(all, version, m, nil) == "":
				t.Errorf("no section shows %s of Redisson %s", m, version)
			}
		}
	}
	for _, m := range heres {
		for _, version := range versions {
			if arrows(sections(t, "testdata/*.txt"), version, "", []string{m}) == "" {
				t.Errorf("no section shows this library's %s to Redisson %s", m, version)
			}
		}
	}
}

// methodNames are the names in the driver's list of methods.
func methodNames(list string) (names []string) {
	for signature := range strings.SplitSeq(list, ";") {
		name, _, _ := strings.Cut(signature, "(")
		names = append(names, name)
	}
	return slices.Compact(names)
}
