package internal_test

import (
	"os"
	"regexp"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var (
	required = regexp.MustCompile(`(?m)^\t(\S+) v\S+$`) // without "// indirect"
	reasoned = regexp.MustCompile("(?m)^- `([^`]+\\.[^`]+/[^`]+)`: \\S")
)

// Each direct dependency has its reason in docs/dev/architecture.md, and no other has one.
func TestDependenciesHaveReasons(t *testing.T) {
	names := func(file string, line *regexp.Regexp) []string {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var all []string
		for _, m := range line.FindAllSubmatch(text, -1) {
			all = append(all, string(m[1]))
		}
		slices.Sort(all)
		return all
	}
	if diff := cmp.Diff(names("../go.mod", required), names("../docs/dev/architecture.md", reasoned)); diff != "" {
		t.Errorf("go.mod and docs/dev/architecture.md (-required +reasoned):\n%s", diff)
	}
}
