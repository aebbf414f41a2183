package survey_test

import (
	"strings"
	"testing"
	"unicode"

	"github.com/ralph-loop/ralph/internal/proof/survey"
)

// FuzzProject holds that each command that is proposed is one line, which a person can read.
func FuzzProject(f *testing.F) {
	f.Add(`{"scripts":{"test":"jest","lint":"a\nb"}}`, "packages/a")
	f.Add(`{"scripts":[]}`, "a\u2028b")
	f.Add("[", "../up")
	f.Fuzz(func(t *testing.T, pack, folder string) {
		found := survey.Read(of(map[string]string{folder + "/package.json": pack}))
		for _, command := range append(found.Setup, found.Checks...) {
			readable(t, command.Command)
		}
	})
}

func readable(t *testing.T, text string) {
	t.Helper()
	if strings.ContainsFunc(text, func(r rune) bool { return !unicode.IsPrint(r) }) {
		t.Errorf("%q is proposed", text)
	}
}
