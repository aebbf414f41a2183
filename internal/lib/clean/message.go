package clean

import (
	"regexp"
	"slices"
	"strings"
	"sync"
)

// CommitMessage makes text of an agent or an outsider safe for a commit that is pushed to GitHub: it mentions no user,
// links and closes no issue, skips no run of CI, and has no trailer. GitHub reads a commit as plain text, also in code
// spans, so the character that makes a mention or a reference is put between backticks, as in Inline. The result ends
// with one newline, or is empty.
//
// CommitMessage(CommitMessage(x)) is CommitMessage(x).
func CommitMessage(text string) string {
	for range maxRounds {
		before := text
		text = Truncate(Visible(text), maxMessageBytes)
		text = trailerKey.ReplaceAllString(trailingSpace.ReplaceAllString(text, ""), "")
		text = withoutTrailers(strings.Trim(blankLines.ReplaceAllString(text, "\n\n"), "\n"))
		text = BreakSkipWords(text)
		for _, mention := range mentionPatterns {
			text = mention.ReplaceAllString(text, "$1`$2`$3")
		}
		text += "\n"
		if text == before {
			break
		}
	}
	return strings.TrimLeft(text, "\n")
}

// maxRounds: to remove a part can make another one. Usual text does not change after two rounds.
const maxRounds = 12

const maxMessageBytes = 10_000 // bytes

var (
	trailingSpace = regexp.MustCompile(`(?m)[ \t]+$`)
	blankLines    = regexp.MustCompile(`\n{3,}`)
	// trailerKey matches a line that names the people or the run behind a commit,
	// skips checks, or makes a release. Some programs look for these in any paragraph.
	trailerKey = regexp.MustCompile(`(?im)^[ \t>]*(?:[a-z]+(?:-[a-z]+)*-by|on-behalf-of|release-as|` +
		`ralph-[a-z-]+|(?:skip|request)-checks)[ \t]*:.*\n?`)
	// An indented line continues the trailer above it.
	trailerLine   = regexp.MustCompile(`^(?:[A-Za-z0-9-]+[ \t]*:|[ \t]+\S)`)
	hyphenatedKey = regexp.MustCompile(`(?m)^[A-Za-z0-9]+(?:-[A-Za-z0-9]+)+[ \t]*:`)
)

// withoutTrailers removes paragraphs that are trailers: some programs read them in any paragraph except the first. A
// paragraph such as "Note: …" is prose: the keys that programs use have a hyphen.
func withoutTrailers(text string) string {
	paragraphs := strings.Split(text, "\n\n")
	return strings.Join(append(paragraphs[:1], slices.DeleteFunc(paragraphs[1:], areTrailers)...), "\n\n")
}

func areTrailers(paragraph string) bool {
	for line := range strings.SplitSeq(paragraph, "\n") {
		if !trailerLine.MatchString(line) {
			return false
		}
	}
	return hyphenatedKey.MatchString(paragraph)
}

var (
	skipWords = sync.OnceValue(func() *regexp.Regexp { // takes much memory, so it is compiled when first needed
		return regexp.MustCompile(`(?i)\[\s*((?:no|skip)[\s_-]+c[id]|c[id][\s_-]+skip|` +
			`skip\s+[a-z][a-z\s-]{0,40}|[a-z][a-z\s-]{0,40}[\s-]skip)\s*\]`)
	})
	noCIMark = regexp.MustCompile(`(?i)\*{3,}NO_CI\*{3,}`)
)

// BreakSkipWords breaks words by which CI skips a commit: [skip ci] becomes (skip ci).
func BreakSkipWords(text string) string {
	return noCIMark.ReplaceAllString(skipWords().ReplaceAllString(text, "($1)"), "NO-CI")
}

// mentionPatterns have three parts: the second one is put in code.
var mentionPatterns = []*regexp.Regexp{
	regexp.MustCompile(`((?:^|[^A-Za-z0-9]))(@)([A-Za-z0-9])`),
	regexp.MustCompile(`()(@)([0-9a-fA-F]{7})`),
	regexp.MustCompile(`()(#)([0-9])`),
	regexp.MustCompile(`(?i)((?:^|[^a-z0-9])gh)(-)([0-9])`),
	regexp.MustCompile(`(?i)(/(?:issues|pulls?|discussions))(/)([0-9])`),
	regexp.MustCompile(`(?i)(/commits?)(/)([0-9a-f]{7})`),
}

var (
	// GitHub makes a link of every address of this form, and finds no mentions in it.
	address = regexp.MustCompile(`(?i)^(?:https?://|www\.)[a-z0-9](?:[a-z0-9-]*[a-z0-9])?(?:\.[a-z0-9-]+)*` +
		`(?::[0-9]+)?(?:[/?](?:[a-z0-9._~%+=&?/,:;-]|#[a-z])*)?`)
	// An address of this form leaves a backlink in the issue, or closes it. Any host can be a GitHub server.
	issueAddress = regexp.MustCompile(`(?i)^(?:https?://|www\.)[^/]+/[^/]+/[^/]+/` +
		`(?:issues|pull|pulls|discussions|commit|commits|compare|releases)/`)
	// A later step can remove the bracket or the backslash after the sign.
	issueNumber = regexp.MustCompile(`^#[0-9\[<!\\]`)
	ghPrefix    = regexp.MustCompile(`(?i)(?:^|[^a-z0-9])gh$`)
	userName    = regexp.MustCompile(`^@[A-Za-z0-9\[<!\\]`)
	commitSHA   = regexp.MustCompile(`^@[0-9a-fA-F]{7}`)
)

// reference breaks @name, #12, owner/repo#12, GH-12 and owner/repo@sha.
func (w *writer) reference(text string, i int) int {
	if w.isReference(text, i) {
		w.span("`", text[i:i+1])
		return 1
	}
	w.out = append(w.out, text[i])
	w.inAddress = w.inAddress || text[i] == '@'
	return 1
}

// isReference reports whether GitHub would read the character at i as the mark of a mention or reference.
func (w *writer) isReference(text string, i int) bool {
	before, rest := text[:i], text[i:]
	switch rest[0] {
	case '@':
		if commitSHA.MatchString(rest) {
			return true
		}
		// x@y.org is not a mention on GitHub; after an address it can be one.
		inWord := len(w.out) > 0 && isAlnum(w.out[len(w.out)-1]) && !w.inAddress
		return !inWord && userName.MatchString(rest)
	case '#':
		return issueNumber.MatchString(rest)
	case '-':
		return len(rest) > 1 && isDigit(rest[1]) && ghPrefix.MatchString(before[max(0, i-3):])
	}
	return false
}

func (w *writer) address(text string, i int) int {
	found := ""
	if i == 0 || !isAlnum(text[i-1]) || text[i-1] <= '9' { // a digit is no part of the scheme
		found = strings.TrimRight(address.FindString(text[i:]), ".,:;?!")
	}
	switch {
	case found == "":
		w.letter(text[i])
		return 1
	case issueAddress.MatchString(found):
		w.span("`", found)
	default:
		w.out = append(w.out, found...)
		w.inAddress = true
	}
	return len(found)
}

// bracket makes no link or picture: its words could be of another address. The address stays.
func (w *writer) bracket(rest string) int {
	if beginsLink(rest) {
		w.entity(rest[0])
	} else {
		w.out = append(w.out, rest[0])
	}
	return 1
}

func beginsLink(rest string) bool {
	switch rest[0] {
	case '!':
		return strings.HasPrefix(rest[1:], "[") || strings.HasPrefix(rest[1:], "![")
	case '[':
		return strings.HasPrefix(rest, "[^") // code in a footnote is no code
	case ']':
		return len(rest) > 1 && strings.IndexByte("([:", rest[1]) >= 0
	}
	return false
}

func isAlnum(c byte) bool { return isDigit(c) || isLetter(rune(c)) }

var trailer = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z][A-Za-z0-9-]*: \S`) })

// SignedOff adds a person's sign-off line to a commit message, once.
func SignedOff(message, person string) string {
	line := "Signed-off-by: " + person
	text := strings.TrimRight(message, "\n")
	paragraphs := strings.Split(text, "\n\n")
	last := strings.Split(paragraphs[len(paragraphs)-1], "\n")
	if slices.Contains(last, line) {
		return message
	}
	if len(paragraphs) > 1 && trailer().MatchString(last[len(last)-1]) {
		return text + "\n" + line + "\n"
	}
	return text + "\n\n" + line + "\n"
}
