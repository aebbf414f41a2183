package survey_test

import (
	"strings"
	"testing"
	"unicode"

	"github.com/ralph-loop/ralph/internal/proof/survey"
)

// FuzzProject holds that each command that is proposed is one line, which a person can read.
func FuzzProject(f *testing.F) {
	f.Add("on: push\nname: CI\n", `{"scripts":{"test":"jest","lint":"a\nb"}}`, "packages/a")
	f.Add("a: &a [x, x]\nb: &b [*a, *a]\non: *b", `{"scripts":[]}`, "a\u2028b")
	f.Add("on: {push: x}\nname: \"a\\u2028b\"", "[", "../up")
	f.Fuzz(func(t *testing.T, workflow, pack, folder string) {
		files := map[string]string{".github/workflows/ci.yml": workflow, folder + "/package.json": pack}
		found := survey.Read(of(files))
		for _, command := range append(found.Setup(), found.Checks()...) {
			readable(t, command.Command)
		}
		for _, name := range survey.CI(of(files)) {
			readable(t, name)
		}
	})
}

func readable(t *testing.T, text string) {
	t.Helper()
	if strings.ContainsFunc(text, func(r rune) bool { return !unicode.IsPrint(r) }) {
		t.Errorf("%q is proposed", text)
	}
}
