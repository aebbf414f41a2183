package checkout_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-loop/ralph/internal/checkout"
	"github.com/ralph-loop/ralph/internal/git"
)

// A new link, or a file that is too large to be read, defines the checks as any other file of its name does.
func TestDefinitionsThatCannotBeRead(t *testing.T) {
	for name, c := range map[string]struct {
		script string
		want   []string
	}{
		"a link":              {"ln -s real GNUmakefile", []string{"GNUmakefile"}},
		"a large file":        {"head -c 2000000 /dev/zero >unittest.py", []string{"unittest.py"}},
		"a link to a folder":  {"ln -s real unittest", []string{"unittest"}},
		"a file of that name": {"echo 1 >unittest", nil},
		"another link":        {"ln -s real notes", nil},
	} {
		trusted, commits := repository(t, `printf 'test:\n\ttrue\n' >Makefile && commit && `+c.script+` && commit`)
		span := git.Span{From: commits[0], To: commits[1]}
		got, err := checkout.Defining(t.Context(), trusted, span, "make test", "python3 -m unittest")
		if diff := cmp.Diff(c.want, got); diff != "" || err != nil {
			t.Errorf("%s: %v (-want +got):\n%s", name, err, diff)
		}
	}
}
