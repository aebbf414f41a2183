package checkdef_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-loop/ralph/internal/checkdef"
)

// numbered returns as many numbered words as fit into a size.
func numbered(before, after string, size int) string {
	var all strings.Builder
	for i := 0; all.Len() < size; i++ {
		fmt.Fprintf(&all, "%s%x%s", before, i, after)
	}
	return all.String()
}

// A line can include a file thousands of times: its rules filled the memory.
func TestIncludedOften(t *testing.T) {
	base := tree{"Makefile": "include" + strings.Repeat(" a.mk", 3000) + "\ntest:\n\ttrue\n", "a.mk": "lint:\n\ttrue\n"}
	reads := 0
	checkdef.Paths(checks("make test"), func(name string) []byte {
		if name == "a.mk" {
			reads++
		}
		return base.file(name)
	})
	if reads == 0 || reads > 10 {
		t.Errorf("a.mk was read %d times", reads)
	}
}

// Of included files that are too large together, those beyond the limit count as a whole.
func TestIncludedBeyondTheLimit(t *testing.T) {
	large := numbered("r", ":\n", 90<<10)
	base := tree{"Makefile": "include a.mk b.mk c.mk\ntest:\n\ttrue\n", "a.mk": large, "b.mk": large, "c.mk": large}
	more := large + "clean:\n\trm -r out\n"
	if diff := cmp.Diff([]string{"c.mk"}, sure(checks("make test"), base, base.with(tree{"a.mk": more, "b.mk": more, "c.mk": more}))); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// A file of make in each of many folders counts as a whole where too many folders have one. It took hours.
func TestManyFolders(t *testing.T) {
	const most = 100_000
	base, now := tree{"Makefile": "test:\n\tsh check.sh\n", "check.sh": "true\n"}, tree{}
	for i := range most {
		now[fmt.Sprintf("d%d/Makefile", i)] = "test:\n\ttrue\n"
	}
	if got := sure(checks("make test"), base, base.with(now)); len(got) != most {
		t.Errorf("%d files certainly define the checks, want %d", len(got), most)
	}
}

// What long lists have in common is found at once. It took hours.
func TestLongLists(t *testing.T) {
	const size = 100 << 10
	for name, c := range map[string]struct{ file, was, is string }{
		"a variable that is often used": {"Makefile", "A = " + numbered("", " ", size) + "\ntest:\n\techo " + strings.Repeat("$(A)", size/4) + "\n", "# new\n"},
		"prerequisites":                 {"Makefile", "test " + numbered("t", " ", 1000) + ": " + numbered("test-", " ", size) + "\n\ttrue\n", "# new\n"},
		"variables":                     {"Makefile", numbered("a", "=\n", 2*size) + "test:\n\ttrue\n", "# new\n"},
		"new targets":                   {"Makefile", "test:\n\techo " + numbered("a", " ", size) + "\n", numbered("b", ":\n", size)},
		"new scripts":                   {"package.json", `{"scripts": {"test": "jest", "a": "` + numbered("a", " ", size) + `"`, "," + numbered(`"b`, `": "", `, size) + `"z": ""`},
	} {
		end := ""
		if c.file == "package.json" {
			end = "}}"
		}
		base, now := tree{c.file: c.was + end}, tree{c.file: c.was + c.is + end}
		if got := sure(checks("make test", "npm test"), base, now); len(got) != 0 {
			t.Errorf("%s: %q certainly changed", name, got)
		}
	}
}
