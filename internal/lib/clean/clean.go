// Package clean makes untrusted text harmless before an agent reads it, and before GitHub or the runner's log shows it.
// It does not decide who is trusted, and it hides no secrets.
package clean

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// Plain returns a line that is not Markdown, such as a title, without what people cannot see: at most limit bytes
// (0: no limit).
func Plain(text string, limit int) (string, Removed) {
	removed := Removed{}
	text = dropUnprintable(limitBytes(text, limit, removed), removed)
	text = strings.Join(strings.Fields(text), " ")
	return limitBytes(text, limit, removed), removed
}

func limitBytes(text string, limit int, removed Removed) string {
	kept := Truncate(text, limit)
	if n := len(text) - len(kept); n > 0 {
		removed[Cut] += n
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

var commandLine = regexp.MustCompile(`^((?:[\s>*+-]|[0-9]+[.)])*)/([A-Za-z])`)

// Inline makes text of an agent or an outsider safe to post as a line of Markdown, or a table's cell, of at most limit
// characters (0: no limit). It mentions no user, closes no issue, loads no picture and commands no bot. HTML, pictures
// and links with words of their own are shown as text. Formatting, code and addresses stay.
//
// GitHub looks for mentions and references in the rendered page, so neither a backslash nor a reference such as &#64;
// prevents them. The character that makes the mention is put in a code span: `@`name. Bots that read the source do not
// see a mention either.
func Inline(text string, limit int) string {
	text = strings.Join(strings.Fields(Visible(text)), " ")
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

// Fence returns text in a code fence that text cannot close. Mentions and references stay, as GitHub ignores them in
// code. A line that a bot would take for a command gets a space before it.
func Fence(text string) string {
	return Fenced(botCommand.ReplaceAllString(Visible(text), " $0"))
}

// Fenced returns text as it is in a code fence that text cannot close.
func Fenced(text string) string { return fence("", strings.TrimRight(text, "\n")+"\n") }

func fence(language, code string) string {
	mark := "```"
	for _, run := range backticks.FindAllString(code, -1) {
		mark = strings.Repeat("`", max(len(mark), len(run)+1))
	}
	return mark + language + "\n" + code + mark
}

var (
	backticks  = regexp.MustCompile("`{3,}")
	botCommand = regexp.MustCompile(`(?m)^/[A-Za-z]`)
)
