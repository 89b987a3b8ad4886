package archtest

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

var quoted = regexp.MustCompile("`([^`]+: [^`]+)`")

// TestTableOfCases compares the cases in the sources with the table of docs/cases.md: each test that it names exists, and each
// case is in it.
func TestTableOfCases(t *testing.T) {
	named := casesInTable(t)
	sources := testsInSources(t)
	for name, line := range named {
		if !sources[name] {
			t.Errorf("docs/cases.md:%d names the test %q, which does not exist", line, name)
		}
	}
	for name := range sources {
		if isCase := strings.HasPrefix(name, "enginetest: cases/") || strings.Contains(name, ": TestCase"); isCase && named[name] == 0 {
			t.Errorf("the case %q is not in docs/cases.md", name)
		}
	}
}

// casesInTable is the tests that the table names, with the lines.
func casesInTable(t *testing.T) map[string]int {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, "docs/cases.md"))
	if err != nil {
		t.Fatal(err)
	}
	named := make(map[string]int)
	for i, line := range strings.Split(string(text), "\n") {
		cells := strings.Split(line, "|")
		if len(cells) < 2 || strings.HasPrefix(line, "|---") || strings.HasPrefix(line, "| symptom |") {
			continue
		}
		if len(cells) != 6 { // four, and what is outside the first and the last bar
			t.Errorf("docs/cases.md:%d has %d cells, want 4", i+1, len(cells)-2)
			continue
		}
		tests := quoted.FindAllStringSubmatch(cells[4], -1)
		if len(tests) == 0 && !strings.HasPrefix(strings.TrimSpace(cells[4]), "later: ") {
			t.Errorf("docs/cases.md:%d names neither a test nor what it comes with later", i+1)
		}
		for _, test := range tests {
			named[test[1]] = i + 1
		}
	}
	return named
}

// testsInSources is all tests, scenarios and cases, as "package: name".
func testsInSources(t *testing.T) map[string]bool {
	t.Helper()
	found := make(map[string]bool)
	forEachFile(t, func(file string) {
		name, isTest := path.Base(file), strings.HasSuffix(file, "_test.go")
		isCase := path.Dir(file) == "enginetest" && strings.HasPrefix(name, "case")
		if !isTest && !isCase {
			return
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), filepath.Join(root, file), nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		pkg := path.Base(path.Dir(file))
		if pkg == "." {
			pkg = "sluice"
		}
		for _, d := range parsed.Decls {
			if f, ok := d.(*ast.FuncDecl); ok && isTest && f.Recv == nil && strings.HasPrefix(f.Name.Name, "Test") {
				found[pkg+": "+f.Name.Name] = true
			}
		}
		if isCase {
			for _, symptom := range symptoms(t, parsed) {
				found["enginetest: cases/"+symptom] = true
			}
		}
	})
	scenarios, err := filepath.Glob(filepath.Join(root, "enginetest/testdata/*.txt"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range scenarios {
		found["enginetest: scenario/"+strings.TrimSuffix(filepath.Base(file), ".txt")] = true
	}
	return found
}

// symptoms is the names in the lists of type []symptom.
func symptoms(t *testing.T, file *ast.File) (names []string) {
	t.Helper()
	ast.Inspect(file, func(n ast.Node) bool {
		list, ok := n.(*ast.CompositeLit)
		if !ok {
			return true
		}
		of, ok := list.Type.(*ast.ArrayType)
		if !ok {
			return true
		}
		if element, ok := of.Elt.(*ast.Ident); !ok || element.Name != "symptom" {
			return true
		}
		for _, e := range list.Elts {
			first, ok := e.(*ast.CompositeLit).Elts[0].(*ast.BasicLit)
			if !ok {
				t.Fatalf("a case in %v does not begin with its name", file.Name)
			}
			name, err := strconv.Unquote(first.Value)
			if err != nil {
				t.Fatal(err)
			}
			names = append(names, name)
		}
		return false
	})
	return names
}
