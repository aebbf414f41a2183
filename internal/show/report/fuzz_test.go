package report_test

import (
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/ralph-loop/ralph/internal/core/stream"
	"github.com/ralph-loop/ralph/internal/lib/clean"
)

// Foreign text adds no elements to a page, all its characters are visible, and the page is
// smaller than a megabyte.
func FuzzPage(f *testing.F) {
	for _, n := range nasty {
		f.Add(n.text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		s := longRun(t, 1, "x "+text+"\n")
		s.Read = func(string, string) (string, error) { return text, nil }
		s.Diff = func(string, string) (string, bool, error) { return text, false, nil }
		s.Items = func(string) []stream.Item {
			return []stream.Item{stream.Text{Text: text}, stream.ToolStart{Name: text, Input: text}}
		}
		page := html(t, s)
		if !utf8.ValidString(page) || len(page) >= 1<<20 {
			t.Errorf("%q: %d bytes", text, len(page))
		}
		for _, kind := range kinds(page) {
			if !slices.Contains(elements, strings.TrimPrefix(kind, "/")) {
				t.Errorf("%q: the page has a %s", text, kind)
			}
		}
		if strings.ContainsFunc(page, unseen) {
			t.Errorf("%q: a character does not show", text)
		}
	})
}

func unseen(r rune) bool {
	return clean.IsInvisible(r) || unicode.IsControl(r) && r != '\n' && r != '\t'
}

// elements are all elements of a page.
var elements = strings.Fields(`!doctype a article b blockquote body br code dd details div dl dt em footer h1 h2 h3 head header
hr html li main meta nav ol p pre section span strong style sub summary table tbody td th thead title tr ul`)
