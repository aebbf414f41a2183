// Package clean makes untrusted text harmless before an agent reads it, and
// before GitHub or the runner's log shows it. It does not decide who is trusted,
// and it hides no secrets.
package clean

import (
	"cmp"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// ForAgent returns text as people see it on the rendered page, so that an agent
// reads nothing that a person cannot read: at most limit bytes (0: no limit), no
// invisible characters, and character references decoded. HTML comments, hidden
// elements, attributes, tags that GitHub drops (Vec<String> outside code is Vec
// there too), texts of images, titles and labels of links and their definitions, links without text, footnotes,
// cells beyond a table's columns and undrawn parts of diagrams are removed. Code spans and
// blocks stay as they are, except for invisible characters. Zero width joiners
// are removed too: a joined emoji becomes its members.
//
// ForAgent(ForAgent(x)) is ForAgent(x). A title or a name is not Markdown: use
// Plain.
func ForAgent(text string, limit int) (string, Removed) {
	gone := Removed{}
	if runes := []rune(text); limit > 0 && len(runes) > maxGitHub { // else what ends hidden text could be cut off
		text = limitBytes(text, len(string(runes[:maxGitHub])), gone)
	}
	if strings.ContainsAny(mask(text, parseMarkdown(text).code), "\v\f") { // spaces only to some parsers
		return "", Removed{"texts with form feeds": 1}
	}
	for range maxRounds {
		before, round := text, Removed{}
		text = dropHidden(lineEnds.Replace(text), round) // first: a line with an invisible character is not empty on the page
		text = dropUnprintable(noLineEnds.Replace(text), round)
		text = decodeProse(text) // last: decoded characters are not markup on the page
		text = limitBytes(text, limit, round)
		if text == before { // also where the limit takes away what was added to close a tag
			return text, gone
		}
		gone.Add(round)
	}
	return limitBytes(dropMarkup(text, gone), limit, gone), gone
}

// noLineEnds end lines to some readers, but not to GitHub.
var noLineEnds = strings.NewReplacer("\u2028", " ", "\u2029", " ")

// dropHidden finds all that is hidden before it removes any of it: what remains can have another structure.
func dropHidden(text string, gone Removed) string {
	p := parseMarkdown(text)
	var edits []edit
	add := func(what string, r region, with string) {
		if text[r.from:r.to] != with {
			gone.add(what)
			edits = append(edits, edit{r, with})
		}
	}
	for _, r := range p.footnotes {
		add("footnotes", r, "")
	}
	for _, r := range p.excess {
		add("cells beyond a table's columns", r, "")
	}
	p.findHTML(text, add)
	p.findComments(text, add)
	p.findDefinitions(add)
	p.findLinkTexts(text, add)
	p.findUndrawn(text, add)
	slices.SortStableFunc(edits, func(a, b edit) int { return cmp.Or(a.from-b.from, b.to-a.to) })
	return apply(text, edits)
}

// maxGitHub is the number of characters in the longest text on GitHub.
const maxGitHub = 65_536

// Removing markup can create new markup (<!<!-- -->--). Usual text does not change
// after two rounds; text that changes in all of these was written as an attack.
const maxRounds = 12

func dropMarkup(text string, gone Removed) string {
	return strings.Map(func(r rune) rune {
		if strings.ContainsRune("<>&[]`~$", r) {
			gone.add("HTML tags")
			return -1
		}
		return r
	}, text)
}

// Plain is ForAgent for a line that is not Markdown, such as a title: people see markup there.
func Plain(text string, limit int) (string, Removed) {
	gone := Removed{}
	text = dropUnprintable(limitBytes(text, limit, gone), gone)
	text = strings.Join(strings.Fields(text), " ")
	return limitBytes(text, limit, gone), gone
}

func limitBytes(text string, limit int, gone Removed) string {
	kept := Truncate(text, limit)
	if n := len(text) - len(kept); n > 0 {
		gone[Cut] += n
	}
	return kept
}

// Removed counts what was removed from a text, by its name.
type Removed map[string]int

// Cut is what Removed calls text beyond a limit.
const Cut = "bytes beyond the limit"

func (r Removed) add(what string) { r[what]++ }

// Add adds what was removed from another text.
func (r *Removed) Add(more Removed) {
	if *r == nil {
		*r = Removed{}
	}
	for what, n := range more {
		(*r)[what] += n
	}
}

// String is such as "HTML comments (2), invisible characters (14)".
func (r Removed) String() string {
	var all []string
	for _, what := range slices.Sorted(maps.Keys(r)) {
		all = append(all, fmt.Sprintf("%s (%d)", what, r[what]))
	}
	return strings.Join(all, ", ")
}

// decodeAll: decoding can make invisible characters, which are removed. Here all HTML becomes text.
func decodeAll(text string) string {
	text = Visible(text)
	if strings.Contains(text, "&") {
		text = parseMarkdown(text).mapProse(text, func(s string) string { return strings.ReplaceAll(decode(s), `\<`, "<") })
		text = Visible(text)
	}
	return text
}

var commandLine = regexp.MustCompile(`^((?:[\s>*+-]|[0-9]+[.)])*)/([A-Za-z])`)

// Inline makes text of an agent or an outsider safe to post as a line of Markdown, or
// a table's cell, of at most limit characters (0: no limit). It mentions no user, closes no
// issue, loads no picture and commands no bot. HTML, pictures and links with words of their
// own are shown as text. Formatting, code and addresses stay.
//
// GitHub looks for mentions and references in the rendered page, so neither a
// backslash nor a reference such as &#64; prevents them. The character that makes
// the mention is put in a code span: `@`name. Bots that read the source do not see
// a mention either.
func Inline(text string, limit int) string {
	text = strings.Join(strings.Fields(decodeAll(text)), " ")
	if runes := []rune(text); limit > 0 && len(runes) > limit {
		text = strings.TrimRight(string(runes[:limit-1]), " ") + "…"
	}
	var w writer
	w.prose(text)
	return commandLine.ReplaceAllString(string(w.out), "${1}&#47;${2}")
}

// Lines is Inline for each line of text.
func Lines(text string) string {
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		lines[i] = Inline(line, 0)
	}
	return strings.Join(lines, "\n")
}

// Fence returns text in a code fence that text cannot close. Mentions and
// references stay, as GitHub ignores them in code. A line that a bot would take
// for a command gets a space before it.
func Fence(text string) string {
	text = strings.TrimRight(Visible(text), "\n")
	mark := "```"
	for _, run := range backticks.FindAllString(text, -1) {
		mark = strings.Repeat("`", max(len(mark), len(run)+1))
	}
	return mark + "\n" + botCommand.ReplaceAllString(text, " $0") + "\n" + mark
}

var (
	backticks  = regexp.MustCompile("`{3,}")
	botCommand = regexp.MustCompile(`(?m)^/[A-Za-z]`)
)
