package internal_test

import (
	"fmt"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// size is how much of a package there is to read, without its tests.
type size struct{ files, lines int }

// limit holds for every package that has no row in excess; longest for every file.
var limit = size{files: 20, lines: 3500}

const longest = 300

// excess has the packages that are larger, as they are today. A row may only
// shrink, and goes with the package's return to the limit.
var excess = map[string]size{}

// long has the files that are longer, likewise.
var long = map[string]int{}

// TestSizes keeps packages and files readable. What only tests and the demo use is
// not counted.
func TestSizes(t *testing.T) {
	files, err := goFiles(os.DirFS(".."))
	if err != nil {
		t.Fatal(err)
	}
	lengths := map[string]int{}
	for _, f := range files {
		counted := strings.HasPrefix(f.name, "internal/") || strings.HasPrefix(f.name, "cmd/") || strings.HasPrefix(f.name, "templates/")
		if counted && !strings.HasPrefix(f.name, support) {
			lengths[f.name] = f.places.Position(f.syntax.FileEnd).Line
		}
	}
	for _, c := range tooLarge(lengths, excess) {
		t.Error(c)
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

// tooLarge returns which files and packages are larger than they may be, and which
// rows are larger than they need to be.
func tooLarge(lengths map[string]int, rows map[string]size) (found []string) {
	packages := map[string]size{}
	for _, name := range slices.Sorted(maps.Keys(lengths)) {
		if may := max(longest, long[name]); lengths[name] > may {
			found = append(found, fmt.Sprintf("%s has %d lines: a file has at most %d", name, lengths[name], may))
		}
		at := path.Dir(name)
		packages[at] = size{packages[at].files + 1, packages[at].lines + lengths[name]}
	}
	for _, name := range slices.Sorted(maps.Keys(packages)) {
		is, may := packages[name], limit
		row, listed := rows[name]
		if listed {
			may = size{max(row.files, limit.files), max(row.lines, limit.lines)}
		}
		switch {
		case is.files > may.files || is.lines > may.lines:
			found = append(found, fmt.Sprintf("%s has %d files and %d lines: at most %d and %d; make it two packages", name, is.files, is.lines, may.files, may.lines))
		case listed && is.files <= limit.files && is.lines <= limit.lines:
			found = append(found, fmt.Sprintf("%s is within the limit: remove its row in internal/sizes_test.go", name))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(rows)) {
		if _, there := packages[name]; !there {
			found = append(found, fmt.Sprintf("%s is gone: remove its row in internal/sizes_test.go", name))
		}
	}
	return found
}

func TestTooLarge(t *testing.T) {
	many := func(files, lines int) map[string]int {
		all := map[string]int{}
		for i := range files {
			all[fmt.Sprintf("p/%02d.go", i)] = lines
		}
		return all
	}
	for name, c := range map[string]struct {
		lengths map[string]int
		rows    map[string]size
		want    []string
	}{
		"at the limit":         {many(20, 175), nil, nil},
		"a file too many":      {many(21, 1), nil, []string{"p has 21 files and 21 lines: at most 20 and 3500; make it two packages"}},
		"a line too many":      {many(13, 270), nil, []string{"p has 13 files and 3510 lines: at most 20 and 3500; make it two packages"}},
		"a long file":          {map[string]int{"p/a.go": 301}, nil, []string{"p/a.go has 301 lines: a file has at most 300"}},
		"as the row has it":    {many(21, 1), map[string]size{"p": {21, 21}}, nil},
		"more than the row":    {many(22, 1), map[string]size{"p": {21, 21}}, []string{"p has 22 files and 22 lines: at most 21 and 3500; make it two packages"}},
		"lines within the row": {many(21, 170), map[string]size{"p": {21, 3570}}, nil},
		"a row for nothing":    {many(20, 1), map[string]size{"p": {21, 21}}, []string{"p is within the limit: remove its row in internal/sizes_test.go"}},
		"a row for no package": {many(1, 1), map[string]size{"q": {21, 21}}, []string{"q is gone: remove its row in internal/sizes_test.go"}},
	} {
		if diff := cmp.Diff(c.want, tooLarge(c.lengths, c.rows)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}
