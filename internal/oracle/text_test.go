package oracle_test

import (
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/sluice-rate/sluice/internal/oracle"
)

func TestWriteThenRead(t *testing.T) {
	t.Parallel()
	h := oracle.History{
		Changes: []oracle.Change{{At: 0, Rate: 3, Interval: 5_000_000}, {At: 9, Rate: 4, Interval: 1, Reset: true}},
		Grants: []oracle.Grant{
			{Arrived: 1_000_200, At: 1_001_000, Went: 1_000_350, Permits: 2, ID: "7f3a", Who: "worker-3", AtOnce: true},
			{Arrived: 1_000_201, At: -5, Permits: 1, ID: "two words", Who: "a=\"b\"\n\xff ä"},
			{Arrived: 1_000_202, At: 3, Permits: 1, Who: "="},
		},
		Returns:  []oracle.Return{{At: 1_000_300, ID: "7f3a", Permits: 1}},
		Releases: []oracle.Release{{At: 1_000_400, Permits: 9}},
		Claims:   []oracle.Claim{{At: 1_000_400, Free: -3}},
	}
	const want = `change at=0 rate=3 interval=5000000
change at=9 rate=4 interval=1 reset=true
grant arrived=1000200 at=1001000 went=1000350 n=2 id=7f3a who=worker-3 atonce=true
grant arrived=1000201 at=-5 n=1 id="two words" who="a=\"b\"\n\xff \u00e4"
grant arrived=1000202 at=3 n=1 who==
return at=1000300 id=7f3a n=1
release at=1000400 n=9
claim at=1000400 free=-3
`
	var b strings.Builder
	if err := oracle.Write(&b, h.Events()...); err != nil || b.String() != want {
		t.Fatalf("Write = %v, wrote\n%swant\n%s", err, b.String(), want)
	}
	got, err := oracle.Read(strings.NewReader(want))
	if err != nil || !reflect.DeepEqual(got, h) {
		t.Errorf("Read = %+v, %v, want %+v", got, err, h)
	}
}

func TestReadNamesBadLines(t *testing.T) {
	t.Parallel()
	const text = `# comment

change at=0 rate=1 interval=9
grunt at=1 n=1
grant n=1 id=a
grant at=1 n=1 n=1
grant at=x n=1
grant at=1 n=1 id="open
grant at=1 n=1 id="a"b
grant at=1 n=1 colour=red
grant at=1 n=1 who
release at=1 id=a n=1
change at=1 rate=1 interval=1 reset=maybe
   grant   at=7   n=1
grant at=8 n=1`
	h, err := oracle.Read(strings.NewReader(text))
	if len(h.Grants) != 1 || h.Grants[0].At != 7 || len(h.Changes) != 1 {
		t.Errorf("Read = %+v, want the two good lines", h)
	}
	var lines []int
	joined, ok := err.(interface{ Unwrap() []error })
	if !ok {
		t.Fatalf("Read = %v, want joined errors", err)
	}
	for _, e := range joined.Unwrap() {
		var le *oracle.LineError
		if !errors.As(e, &le) {
			t.Fatalf("error %v, want a LineError", e)
		}
		lines = append(lines, le.Line)
	}
	if want := []int{4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 15}; !reflect.DeepEqual(lines, want) {
		t.Errorf("bad lines %v, want %v:\n%v", lines, want, err)
	}
	for _, want := range []string{`line 4: unknown event "grunt"`, `line 5: no field "at"`, "line 15: cut short"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("error %q, want %q in it", err, want)
		}
	}
}

func TestReadGivesUpOnGarbage(t *testing.T) {
	t.Parallel()
	_, err := oracle.Read(strings.NewReader(strings.Repeat("?\n", 1000)))
	if n := strings.Count(err.Error(), "\n"); n > 25 {
		t.Errorf("Read reports %d lines, want about twenty", n)
	}
}

func TestReadFilesMergesWhatProcessesRecorded(t *testing.T) {
	t.Parallel()
	whole := story{steps: 200, changes: true, returns: true, claims: true}.tell(rand.New(rand.NewPCG(1, 2)))
	dir := t.TempDir()
	names := []string{filepath.Join(dir, "a"), filepath.Join(dir, "b"), filepath.Join(dir, "c")}
	parts := make([][]oracle.Event, len(names))
	for i, e := range whole.Events() {
		if _, ok := e.(oracle.Change); ok { // each process knows the configuration
			for j := range parts {
				parts[j] = append(parts[j], e)
			}
			continue
		}
		parts[i*7%3] = append([]oracle.Event{e}, parts[i*7%3]...) // in no order
	}
	for i, name := range names {
		f, err := os.Create(name)
		if err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(oracle.Write(f, parts[i]...), f.Close()); err != nil {
			t.Fatal(err)
		}
	}
	got, err := oracle.ReadFiles(names...)
	got.Params = whole.Params
	if err != nil || !reflect.DeepEqual(got, oracle.Merge(whole)) {
		t.Errorf("ReadFiles = %v, %d events, want %d", err, len(got.Events()), len(whole.Events()))
	}
	if r := oracle.Judge(got); r.Count() > 0 {
		t.Errorf("Judge = %v", r)
	}
	if err := os.WriteFile(names[1], []byte("grant at=1 n=1\nbad\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err = oracle.ReadFiles(append(names, filepath.Join(dir, "none"))...)
	if !errors.Is(err, os.ErrNotExist) || !strings.Contains(err.Error(), names[1]+":2: ") {
		t.Errorf("ReadFiles = %v, want the bad line and the missing file", err)
	}
}

func FuzzRead(f *testing.F) {
	f.Add("change at=0 rate=1 interval=9 reset=true\ngrant arrived=1 at=2 went=3 n=4 id=\"\\x00 \" who=b atonce=true\n")
	f.Add("return at=1 id=a n=1\nrelease at=1 n=1\nclaim at=1 free=-1\n# x\n\n")
	f.Fuzz(func(t *testing.T, text string) {
		h, _ := oracle.Read(strings.NewReader(text))
		var b strings.Builder
		if err := oracle.Write(&b, h.Events()...); err != nil {
			t.Fatal(err)
		}
		again, err := oracle.Read(strings.NewReader(b.String()))
		if err != nil || !reflect.DeepEqual(again.Events(), h.Events()) {
			t.Errorf("Read of %q = %v, %v, want %v", b.String(), again, err, h)
		}
		_ = oracle.Judge(h).String() // whatever it holds
	})
}
