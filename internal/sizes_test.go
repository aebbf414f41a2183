package internal_test

import (
	"os"
	"path"
	"path/filepath"
	"strings"
	"testing"
)

// budget is how many product lines the repository may have. It may only be lowered.
const budget = 70_019

// TestBudget counts the lines of all Go files but those of tests and of what only tests and the demo use.
func TestBudget(t *testing.T) {
	files, err := goFiles(os.DirFS(".."))
	if err != nil {
		t.Fatal(err)
	}
	total := 0
	for _, f := range files {
		if !strings.HasPrefix(f.name, support) {
			total += f.places.Position(f.syntax.FileEnd).Line
		}
	}
	if total > budget {
		t.Errorf("the product has %d lines, and a budget of %d: delete something", total, budget)
	}
}

// Each package has tests of its own, so that it can be changed without those of the whole program.
func TestPackagesHaveTests(t *testing.T) {
	files, err := goFiles(os.DirFS("."))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		dir := path.Dir(f.name)
		tests, err := filepath.Glob(filepath.Join(dir, "*_test.go"))
		if err != nil || len(tests) == 0 && !strings.HasPrefix("internal/"+f.name, support) {
			t.Errorf("internal/%s has no test (%v)", dir, err)
		}
	}
}
