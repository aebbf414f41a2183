package plan

import (
	"slices"
	"strings"

	"github.com/yuin/goldmark/ast"

	"github.com/ralph-loop/ralph/internal/lib/clean"
	"github.com/ralph-loop/ralph/internal/lib/pattern"
)

// About returns the text of a task about one story: all but what a comment added, and the list items of the plan's
// other stories. An item's link and the text above it are a part of what it means; that its box is ticked or it needs
// no test is not.
func (t Task) About(own Story, p Plan) string {
	var others []string
	for _, story := range p.UserStories {
		if story.Title != own.Title {
			others = append(others, story.words()...)
		}
	}
	d := drafter{doc: parseMarkdown(clean.Visible(strings.TrimSuffix(t.Body, t.Added)))}
	var text strings.Builder
	kept := 0
	_ = ast.Walk(d.doc.doc, func(n ast.Node, enter bool) (ast.WalkStatus, error) {
		if n.Kind() != ast.KindListItem || !enter {
			return ast.WalkContinue, nil
		}
		title, _ := headline(d.leadingText(n))
		title = entry{title: title}.story(0).Title
		isOwn := slices.Contains(own.words(), title)
		if !isOwn && !slices.Contains(others, title) {
			return ast.WalkContinue, nil
		}
		from, to := d.doc.lineStart(n.Pos()), d.doc.lineStart(d.doc.endOf(n))
		text.Write(d.doc.src[kept:max(kept, from)])
		if isOwn {
			item := string(d.doc.src[from:max(from, to)])
			item = tickedBox.ReplaceAllString(item, "$1[ ]")
			text.WriteString(waiver.ReplaceAllString(item, ""))
		}
		kept = max(kept, to)
		return ast.WalkSkipChildren, nil
	})
	text.Write(d.doc.src[kept:])
	return t.Title + "\n" + blankLines.ReplaceAllString(strings.TrimSpace(text.String()), "\n")
}

var (
	tickedBox  = pattern.Of(`(?m)^(\s*(?:[-*+]|\d+[.)])\s+)\[[xX]\]`)
	blankLines = pattern.Of(`\s*\n`)
)

func (s Story) words() []string { return append([]string{s.Title}, s.AcceptanceCriteria...) }
