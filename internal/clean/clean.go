// Package clean makes untrusted text harmless: inward, before an agent reads
// it, outward, before GitHub or the runner's log shows it. It does not decide
// who is trusted, and hides no secrets; both are done elsewhere.
package clean

import (
	"fmt"
	"strings"
)

// Inward is text as a reader of the rendered page sees it, so that nothing
// reaches an agent that a person could not have read before: at most
// limit bytes (0 is no limit), no invisible characters, character references
// decoded, and without HTML comments, hidden elements, attributes, tags that
// GitHub drops (Vec<String> outside code is Vec there too), texts of images,
// titles of links, unused definitions, and what GitHub draws and does not show.
// Code spans and blocks stay byte for byte, but for invisible characters. A zero width joiner goes even where it
// was honest: a joined emoji becomes its members.
//
// Inward(Inward(x)) is Inward(x). A title or a name is not Markdown: see Plain.
func Inward(text string, limit int) (string, Removed) {
	var gone Removed
	for range rounds {
		before := text
		text = cut(text, limit, &gone)
		text = characters(text, &gone)
		text = decodeProse(text)
		text = dropHTML(text, &gone)
		text = sweepComments(text, &gone)
		text = dropLinkNotes(text, &gone)
		text = dropDrawn(text, &gone)
		if text == before {
			return text, gone
		}
	}
	return cut(blunt(text, &gone), limit, &gone), gone
}

// Taking one thing out can bring another about (<!<!-- -->--). Honest text
// settles in two rounds; what has not settled in these was built not to.
const rounds = 12

// blunt leaves no character that any markup could be made of, so that there
// is nothing more to settle.
func blunt(text string, gone *Removed) string {
	return strings.Map(func(r rune) rune {
		if strings.ContainsRune("<>&[]`~$", r) {
			gone.Tags++
			return -1
		}
		return r
	}, text)
}

// Plain is Inward for a single line that is not Markdown, such as a title, a
// name or a branch: what looks like markup there is seen by everyone.
func Plain(text string, limit int) (string, Removed) {
	var gone Removed
	text = characters(cut(text, limit, &gone), &gone)
	text = strings.Join(strings.Fields(text), " ")
	return cut(text, limit, &gone), gone
}

func cut(text string, limit int, gone *Removed) string {
	kept := head(text, limit)
	gone.Cut += len(text) - len(kept)
	return kept
}

// Removed counts what a text lost.
type Removed struct {
	Comments    int // HTML comments and declarations
	Hidden      int // elements with all they held
	Tags        int // tags that no page shows
	Attributes  int // tags that lost theirs
	Alts        int // texts of images
	Titles      int // titles of links and definitions
	Definitions int // link and footnote definitions that nothing refers to
	Unseen      int // parts of blocks and formulas that are not shown
	Invisible   int
	Controls    int
	Invalid     int // bytes that are not UTF-8
	Cut         int // bytes beyond the limit
}

// Any says whether something was removed.
func (r Removed) Any() bool { return r != Removed{} }

// Add is the sum of two counts.
func (r Removed) Add(more Removed) Removed {
	return Removed{
		Comments: r.Comments + more.Comments, Hidden: r.Hidden + more.Hidden, Tags: r.Tags + more.Tags,
		Attributes: r.Attributes + more.Attributes, Alts: r.Alts + more.Alts, Titles: r.Titles + more.Titles,
		Definitions: r.Definitions + more.Definitions, Unseen: r.Unseen + more.Unseen, Invisible: r.Invisible + more.Invisible,
		Controls: r.Controls + more.Controls, Invalid: r.Invalid + more.Invalid, Cut: r.Cut + more.Cut,
	}
}

// String names what was removed: "2 HTML comments, 14 invisible characters",
// or nothing.
func (r Removed) String() string {
	var said []string
	for _, c := range []struct {
		n         int
		one, many string
	}{
		{r.Comments, "HTML comment", "HTML comments"},
		{r.Hidden, "hidden element", "hidden elements"},
		{r.Tags, "HTML tag", "HTML tags"},
		{r.Attributes, "tag's attributes", "tags' attributes"},
		{r.Alts, "image text", "image texts"},
		{r.Titles, "link title", "link titles"},
		{r.Definitions, "unused definition", "unused definitions"},
		{r.Unseen, "part of a block or formula that is not shown", "parts of blocks or formulas that are not shown"},
		{r.Invisible, "invisible character", "invisible characters"},
		{r.Controls, "control character", "control characters"},
		{r.Invalid, "invalid byte", "invalid bytes"},
		{r.Cut, "byte beyond the limit", "bytes beyond the limit"},
	} {
		switch {
		case c.n == 1:
			said = append(said, "1 "+c.one)
		case c.n > 1:
			said = append(said, fmt.Sprintf("%d %s", c.n, c.many))
		}
	}
	return strings.Join(said, ", ")
}
