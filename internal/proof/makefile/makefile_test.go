package makefile_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-loop/ralph/internal/proof/makefile"
)

func TestRules(t *testing.T) {
	const text = "A = a \\\n  b\nexport A += c\n\nlint test : a.o $(A); cc # all\n\t@cc \\\n\t-c\n\n# why\n\ttrue\nx := y:z\n@each arg:\n  ls\ntest::\n"
	rules := makefile.Rules([]byte(text))
	var got, lines []string
	for _, r := range rules {
		got = append(got, strings.Join(r.Targets, ",")+": "+strings.Join(r.Needs, ",")+"; "+r.Recipe())
		lines = append(lines, r.Lines...)
	}
	want := []string{": ; ", ": ; ", "lint,test: a.o,$(A); cc # all\n@cc  \t-c\n", ": ; ", ": ; ", ": ; ", "each,arg: ; ls\n", "test: ; "}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("rules (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(text, strings.Join(lines, "\n")+"\n"); diff != "" {
		t.Errorf("lines (-want +got):\n%s", diff)
	}
}

// A line that goes on a million times is joined at once.
func TestLongLine(t *testing.T) {
	if got := makefile.Rules([]byte(strings.Repeat("\\\n", 1<<20) + "\ntest:\n")); len(got) != 2 {
		t.Errorf("%d rules", len(got))
	}
}
