package enginetest

import (
	"embed"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var update = flag.Bool("enginetest.update", false, "write the answers of this engine into the scenarios")

//go:embed testdata/*.txt
var testdata embed.FS

func (h Harness) scenarios(t *testing.T) {
	files, err := testdata.ReadDir("testdata")
	must(t, err)
	for _, f := range files {
		t.Run(strings.TrimSuffix(f.Name(), ".txt"), func(t *testing.T) {
			t.Parallel()
			h.scenario(t, f.Name())
		})
	}
}

func (h Harness) scenario(t *testing.T, name string) {
	file, err := testdata.ReadFile("testdata/" + name)
	must(t, err)
	if *update {
		file, err = os.ReadFile(sourceOf(t, name)) // that of the other engine may have been written since
		must(t, err)
	}
	steps, leads, err := parse(string(file))
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	w := newWorld(t, h)
	if w.keys == nil && needsKeys(steps) {
		t.Skip("needs an engine with keys")
	}
	defer func() {
		switch bad := recover().(type) {
		case nil:
		case badStep:
			t.Fatalf("%s:%s", name, bad)
		default:
			panic(bad)
		}
	}()
	answers := make([]string, len(steps))
	for i := range steps {
		s := &steps[i]
		w.at = name + ":" + s.text
		answers[i] = w.do(s)
		if answers[i] != s.want && !*update {
			t.Errorf("%s:%d: %s: %s\n  got  %s\n  want %s", name, s.line, w.clock.since(), s.text, indent(answers[i]), indent(s.want))
		}
	}
	if *update {
		must(t, os.WriteFile(sourceOf(t, name), render(steps, leads, answers), 0o644))
	}
}

func indent(answer string) string { return strings.ReplaceAll(answer, "\n", "\n       ") }

// sourceOf is where a scenario lies in the repository, which a test of any of its packages finds above it.
func sourceOf(t *testing.T, name string) string {
	for dir := "."; len(dir) < 40; dir = filepath.Join("..", dir) {
		if path := filepath.Join(dir, "enginetest", "testdata", name); exists(path) {
			return path
		}
	}
	t.Fatalf("%s is in no enginetest/testdata above here", name)
	return ""
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}
