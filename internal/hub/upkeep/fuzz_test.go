package upkeep_test

import (
	"strings"
	"testing"
	"unicode"

	"github.com/ralph-loop/ralph/internal/hub/upkeep"
	"github.com/ralph-loop/ralph/internal/lib/clean"
)

// FuzzSuggested holds that what is suggested are whole lines of the comment, without
// characters that people do not see.
func FuzzSuggested(f *testing.F) {
	f.Add("Better:\n```suggestion\na\nb\n```\nThanks")
	f.Add("```suggestion\r\n\r\n```")
	f.Add("<!-- ```suggestion\nx\n``` -->\n~~~~ suggestion\ny\n~~~~~")
	f.Fuzz(func(t *testing.T, comment string) {
		text, _, ok := upkeep.Suggested(comment, clean.FromMarkdown(comment, 0))
		if !ok {
			return
		}
		within := "\n" + strings.ReplaceAll(comment, "\r\n", "\n")
		if !strings.Contains(within, "\n"+text) || text != "" && !strings.HasSuffix(text, "\n") {
			t.Errorf("%q suggests %q", comment, text)
		}
		if strings.ContainsFunc(text, func(r rune) bool { return unicode.IsControl(r) && r != '\n' && r != '\t' }) {
			t.Errorf("%q can be suggested", text)
		}
	})
}
