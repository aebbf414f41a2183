package clean

import (
	"regexp"
	"strings"
	"sync"
)

// Message is the words of an agent or an outsider made fit for a commit that is
// pushed to GitHub: it notifies no user, links or closes no issue, skips no run
// of CI, and carries no trailer. GitHub reads a commit as plain text, code spans
// too, so the character that makes a mention or a reference is put between
// backticks, as Outward does. A clean text stays as it is, but ends with one
// newline. The result is empty where no text is left.
//
// Message(Message(x)) is Message(x).
func Message(text string) string {
	for range rounds {
		before := text
		var gone Removed
		text = head(characters(text, &gone), maxMessage)
		text = speaks.ReplaceAllString(blanks.ReplaceAllString(text, ""), "")
		text = withoutTrailers(strings.Trim(gaps.ReplaceAllString(text, "\n\n"), "\n"))
		text = links.replace(Unskipped(text))
		if text += "\n"; text == before {
			break
		}
	}
	return strings.TrimLeft(text, "\n")
}

const maxMessage = 10_000 // bytes

var (
	blanks = regexp.MustCompile(`(?m)[ \t]+$`)
	gaps   = regexp.MustCompile(`\n{3,}`)
	// speaks is a line that names who vouches for a commit, the run that made it,
	// or whether it is checked. Some programs look for these in any paragraph.
	speaks = regexp.MustCompile(`(?im)^[ \t>]*(?:[a-z]+(?:-[a-z]+)*-by|on-behalf-of|ralph-[a-z-]+|(?:skip|request)-checks)[ \t]*:.*\n?`)
	// An indented line goes on with the trailer above it.
	trailerLine = regexp.MustCompile(`^(?:[A-Za-z0-9-]+[ \t]*:|[ \t]+\S)`)
	hyphenated  = regexp.MustCompile(`(?m)^[A-Za-z0-9]+(?:-[A-Za-z0-9]+)+[ \t]*:`)
)

// withoutTrailers leaves out last paragraphs that are trailers. A paragraph
// such as "Note: …" is prose: the keys that programs go by have a hyphen.
func withoutTrailers(text string) string {
	for {
		text = strings.TrimRight(text, "\n")
		at := strings.LastIndex(text, "\n\n")
		if at < 0 || !areTrailers(text[at+2:]) {
			return text
		}
		text = text[:at]
	}
}

func areTrailers(paragraph string) bool {
	for line := range strings.SplitSeq(paragraph, "\n") {
		if !trailerLine.MatchString(line) {
			return false
		}
	}
	return hyphenated.MatchString(paragraph)
}

var (
	skips = sync.OnceValue(func() *regexp.Regexp { // takes much memory: made when it is first needed
		return regexp.MustCompile(`(?i)\[\s*((?:no|skip)[\s_-]+c[id]|c[id][\s_-]+skip|skip\s+[a-z][a-z\s-]{0,40}|[a-z][a-z\s-]{0,40}[\s-]skip)\s*\]`)
	})
	stars = regexp.MustCompile(`(?i)\*{3,}NO_CI\*{3,}`)
)

// Unskipped is text without the words by which CI systems skip a commit whose
// message holds them: [skip ci] becomes (skip ci).
func Unskipped(text string) string {
	return stars.ReplaceAllString(skips().ReplaceAllString(text, "($1)"), "NO-CI")
}

// links are what GitHub makes a mention or a reference of, each cut where it is
// to be broken.
var links = breaks{
	regexp.MustCompile(`((?:^|[^A-Za-z0-9]))(@)([A-Za-z0-9])`),
	regexp.MustCompile(`()(@)([0-9a-fA-F]{7})`),
	regexp.MustCompile(`()(#)([0-9])`),
	regexp.MustCompile(`(?i)((?:^|[^a-z0-9])gh)(-)([0-9])`),
	regexp.MustCompile(`(?i)(/(?:issues|pulls?|discussions))(/)([0-9])`),
	regexp.MustCompile(`(?i)(/commits?)(/)([0-9a-f]{7})`),
}

type breaks []*regexp.Regexp

func (b breaks) replace(text string) string {
	for _, one := range b {
		text = one.ReplaceAllString(text, "$1`$2`$3")
	}
	return text
}
