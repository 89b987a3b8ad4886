package archtest

import (
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const (
	module = "github.com/sluice-rate/sluice"
	root   = "../.."
)

// allowed is, for each package of the root module, what of this module its files may import, tests aside.
// Arrows point to the root package; nothing imports sideways.
var allowed = map[string][]string{
	".":                  {"internal/ledger", "internal/inline"},
	"internal/ledger":    {}, // pure: no I/O, no clock
	"internal/inline":    {}, // the same
	"internal/oracle":    {}, // knows nothing of what it judges
	"internal/redistest": {},
	"internal/archtest":  {},
	"memengine":          {".", "internal/ledger", "internal/inline"},
	"redisengine":        {".", "internal/ledger", "internal/inline"},
	"enginetest":         {".", "internal/ledger"},
	"legacy":             {"."},
}

// silent is what the packages that hold the arithmetic may not import: it gets the time as an argument and does no I/O.
// math/rand/v2 is there for the making of receipts, time for durations.
var silent = map[string][]string{
	"internal/ledger": {"os", "io", "net", "context", "sync", "log", "log/slog"},
	"internal/inline": {"os", "io", "net", "context", "sync", "log", "log/slog", "math/rand/v2", "time"},
}

// TestImports compares the imports of every package with the table.
func TestImports(t *testing.T) {
	seen := make(map[string]bool)
	forEachFile(t, func(file string) {
		dir := path.Dir(file)
		if nested(dir) || strings.HasSuffix(file, "_test.go") {
			return
		}
		seen[dir] = true
		may, known := allowed[dir]
		if !known {
			t.Errorf("%s: package %s is not in the table; decide what it may import and say so there and in ARCHITECTURE.md", file, dir)
			return
		}
		for _, imported := range imports(t, file) {
			if slices.Contains(silent[dir], imported) {
				t.Errorf("%s imports %s, but %s does no I/O and reads no clock", file, imported, dir)
			}
			of, ours := strings.CutPrefix(imported, module)
			switch of = strings.TrimPrefix(of, "/"); {
			case !ours && strings.Contains(strings.Split(imported, "/")[0], "."):
				t.Errorf("%s imports %s, but the root module requires nothing", file, imported)
			case ours && of == "" && !slices.Contains(may, "."), ours && of != "" && !slices.Contains(may, of):
				t.Errorf("%s imports %s, but %s may import only %q of this module", file, imported, dir, may)
			}
		}
	})
	for dir := range allowed {
		if !seen[dir] {
			t.Errorf("the table names %s, which has no Go files", dir)
		}
	}
}

// TestRootRequiresNothing: whoever uses the library gets no other module with it.
func TestRootRequiresNothing(t *testing.T) {
	mod, err := os.ReadFile(filepath.Join(root, "go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(mod), "require") {
		t.Errorf("the root go.mod requires something; what needs a library belongs in a nested module:\n%s", mod)
	}
}

// TestFilesAreSmall: a file of 400 lines is a question, 600 is no.
func TestFilesAreSmall(t *testing.T) {
	forEachFile(t, func(file string) {
		text, err := os.ReadFile(filepath.Join(root, file))
		if err != nil {
			t.Fatal(err)
		}
		if n := strings.Count(string(text), "\n"); n > 600 {
			t.Errorf("%s has %d lines; find the themes in it and give each a file", file, n)
		}
	})
}

// TestPackageNamesSayWhat: a package is named for what it holds.
func TestPackageNamesSayWhat(t *testing.T) {
	forEachFile(t, func(file string) {
		for part := range strings.SplitSeq(path.Dir(file), "/") {
			if slices.Contains([]string{"util", "utils", "common", "helper", "helpers", "types", "pkg", "src", "misc"}, part) {
				t.Errorf("%s: %q says nothing about what is in it", file, part)
			}
		}
	})
}

// nested reports whether a folder belongs to another module.
func nested(dir string) bool {
	for ; dir != "."; dir = path.Dir(dir) {
		if _, err := os.Stat(filepath.Join(root, dir, "go.mod")); err == nil {
			return true
		}
	}
	return false
}

// forEachFile calls f with each Go file of the repository, as a path from its root.
func forEachFile(t *testing.T, f func(file string)) {
	t.Helper()
	err := filepath.WalkDir(root, func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if name := d.Name(); d.IsDir() && p != root && (strings.HasPrefix(name, ".") || name == "testdata") {
			return fs.SkipDir
		}
		if strings.HasSuffix(p, ".go") {
			rel, err := filepath.Rel(root, p)
			if err != nil {
				return err
			}
			f(filepath.ToSlash(rel))
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func imports(t *testing.T, file string) (paths []string) {
	t.Helper()
	parsed, err := parser.ParseFile(token.NewFileSet(), filepath.Join(root, file), nil, parser.ImportsOnly)
	if err != nil {
		t.Fatal(err)
	}
	for _, spec := range parsed.Imports {
		p, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			t.Fatal(err)
		}
		paths = append(paths, p)
	}
	return paths
}
