package clean

import (
	"regexp"
	"slices"
	"strings"
	"sync"
)

// CommitMessage is the words of an agent or an outsider made fit for a commit that is
// pushed to GitHub: it notifies no user, links or closes no issue, skips no run
// of CI, and carries no trailer. GitHub reads a commit as plain text, code spans
// too, so the character that makes a mention or a reference is put between
// backticks, as Outward does. A clean text stays as it is, but ends with one
// newline. The result is empty where no text is left.
//
// Message(Message(x)) is Message(x).
func CommitMessage(text string) string {
	for range maxRounds {
		before := text
		var gone Removed
		text = truncate(dropUnprintable(text, &gone), maxMessageBytes)
		text = trailerKey.ReplaceAllString(trailingSpace.ReplaceAllString(text, ""), "")
		text = withoutTrailers(strings.Trim(blankLines.ReplaceAllString(text, "\n\n"), "\n"))
		text = mentionPatterns.replace(BreakSkipWords(text))
		if text += "\n"; text == before {
			break
		}
	}
	return strings.TrimLeft(text, "\n")
}

const maxMessageBytes = 10_000 // bytes

var (
	trailingSpace = regexp.MustCompile(`(?m)[ \t]+$`)
	blankLines    = regexp.MustCompile(`\n{3,}`)
	// trailerKey is a line that names who vouches for a commit, the run that made it,
	// whether it is checked, or the release that it makes. Some programs look for these in any paragraph.
	trailerKey = regexp.MustCompile(`(?im)^[ \t>]*(?:[a-z]+(?:-[a-z]+)*-by|on-behalf-of|release-as|ralph-[a-z-]+|(?:skip|request)-checks)[ \t]*:.*\n?`)
	// An indented line goes on with the trailer above it.
	trailerLine   = regexp.MustCompile(`^(?:[A-Za-z0-9-]+[ \t]*:|[ \t]+\S)`)
	hyphenatedKey = regexp.MustCompile(`(?m)^[A-Za-z0-9]+(?:-[A-Za-z0-9]+)+[ \t]*:`)
)

// withoutTrailers leaves out paragraphs that are trailers: some programs read these
// in any but the first. A paragraph such as "Note: …" is prose: the keys that
// programs go by have a hyphen.
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
	skipWords = sync.OnceValue(func() *regexp.Regexp { // takes much memory: made when it is first needed
		return regexp.MustCompile(`(?i)\[\s*((?:no|skip)[\s_-]+c[id]|c[id][\s_-]+skip|skip\s+[a-z][a-z\s-]{0,40}|[a-z][a-z\s-]{0,40}[\s-]skip)\s*\]`)
	})
	noCIMark = regexp.MustCompile(`(?i)\*{3,}NO_CI\*{3,}`)
)

// BreakSkipWords is text without the words by which CI systems skip a commit whose
// message holds them: [skip ci] becomes (skip ci).
func BreakSkipWords(text string) string {
	return noCIMark.ReplaceAllString(skipWords().ReplaceAllString(text, "($1)"), "NO-CI")
}

// mentionPatterns are what GitHub makes a mention or a reference of, each cut where it is
// to be broken.
var mentionPatterns = replacements{
	regexp.MustCompile(`((?:^|[^A-Za-z0-9]))(@)([A-Za-z0-9])`),
	regexp.MustCompile(`()(@)([0-9a-fA-F]{7})`),
	regexp.MustCompile(`()(#)([0-9])`),
	regexp.MustCompile(`(?i)((?:^|[^a-z0-9])gh)(-)([0-9])`),
	regexp.MustCompile(`(?i)(/(?:issues|pulls?|discussions))(/)([0-9])`),
	regexp.MustCompile(`(?i)(/commits?)(/)([0-9a-f]{7})`),
}

type replacements []*regexp.Regexp

func (b replacements) replace(text string) string {
	for _, one := range b {
		text = one.ReplaceAllString(text, "$1`$2`$3")
	}
	return text
}

var (
	// Only an address of this shape is sure to become a link, and inside a
	// link GitHub looks for no mentions.
	address = regexp.MustCompile(`(?i)^(?:https?://|www\.)[a-z0-9](?:[a-z0-9-]*[a-z0-9])?(?:\.[a-z0-9-]+)*(?::[0-9]+)?(?:[/?](?:[a-z0-9._~%+=&?/,:;-]|#[a-z])*)?`)
	// An address of this shape leaves a backlink in the issue it names, or
	// closes it; any host may be a GitHub.
	issueAddress = regexp.MustCompile(`(?i)^(?:https?://|www\.)[^/]+/[^/]+/[^/]+/(?:issues|pull|pulls|discussions|commit|commits|compare|releases)/`)
	// What comes after may yet lose its brackets or its backslash.
	issueNumber = regexp.MustCompile(`^#[0-9\[<!\\]`)
	ghPrefix    = regexp.MustCompile(`(?i)(?:^|[^a-z0-9])gh$`)
	userName    = regexp.MustCompile(`^@[A-Za-z0-9\[<!\\]`)
	commitSHA   = regexp.MustCompile(`^@[0-9a-fA-F]{7}`)
	image       = regexp.MustCompile(`^!\[([^\[\]]*)\]\(\s*<?((?:[^\s()<>]|\([^\s()<>]*\))*)>?(?:\s[^()]*)?\)`)
	link        = regexp.MustCompile(`^\[([^\[\]]+)\]\(\s*<?((?:[^\s()<>]|\([^\s()<>]*\))*)>?(?:\s[^()]*)?\)`)
)

// reference breaks the character that makes a mention (@name), a reference (#12,
// owner/repo#12, GH-12) or a link to a commit (owner/repo@sha).
func (w *writer) reference(text string, i int) int {
	before, rest := text[:i], text[i:]
	word := i > 0 && isAlnum(before[i-1]) && !w.inAddress
	broken := false
	switch rest[0] {
	case '@':
		// x@y.org is no mention, and GitHub's pattern says so too; behind
		// the end of an address it could be one.
		broken = userName.MatchString(rest) && !word || commitSHA.MatchString(rest)
	case '#':
		broken = issueNumber.MatchString(rest)
	case '-':
		broken = len(rest) > 1 && rest[1] >= '0' && rest[1] <= '9' && ghPrefix.MatchString(before[max(0, i-3):])
	}
	if broken {
		w.span("`", rest[:1])
	} else {
		w.out = append(w.out, rest[0])
		w.inAddress = w.inAddress || rest[0] == '@'
	}
	return 1
}

// address writes a bare address. One that leads to an issue is put in code.
func (w *writer) address(text string, i int) int {
	found := ""
	if i == 0 || !isAlnum(text[i-1]) {
		found = strings.TrimRight(address.FindString(text[i:]), ".,:;?!")
	}
	switch {
	case found == "":
		w.letter(text[i])
		return 1
	case issueAddress.MatchString(found) && !w.inLink:
		w.span("`", found)
	default:
		w.out = append(w.out, found...)
		w.inAddress = true
	}
	return len(found)
}

// bracket writes a link, an image as a link, or a bracket that can be part of
// neither.
func (w *writer) bracket(rest string) int {
	if m := image.FindStringSubmatch(rest); m != nil && !w.inLink {
		w.linkTo(strings.TrimSuffix("image: "+m[1], ": "), m[2])
		return len(m[0])
	}
	if m := link.FindStringSubmatch(rest); m != nil && !w.inLink {
		w.linkTo(m[1], m[2])
		return len(m[0])
	}
	switch {
	case rest[0] == '!' && strings.HasPrefix(rest[1:], "["),
		rest[0] == ']' && len(rest) > 1 && strings.IndexByte("([:", rest[1]) >= 0:
		w.entity(rest[0])
	default:
		w.out = append(w.out, rest[0])
	}
	return 1
}

// linkTo writes a link, or its words where the address is not one to follow. The
// brackets stay then, as the words could make a mention of what is before.
func (w *writer) linkTo(words, destination string) {
	destination = strings.NewReplacer("(", "%28", ")", "%29").Replace(destination)
	safe := destination != "" && address.FindString(destination) == destination &&
		!strings.HasPrefix(strings.ToLower(destination), "www.")
	if safe && !issueAddress.MatchString(destination) {
		inner := writer{inTable: w.inTable, inCell: w.inCell, inLink: true}
		inner.prose(words)
		w.out = append(w.out, "["+string(inner.out)+"]("+destination+")"...)
		return
	}
	w.entity('[')
	w.prose(words)
	w.entity(']')
	if safe {
		w.prose(" (" + destination + ")")
	}
}

func isAlnum(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}
