package report

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/ralph-loop/ralph/internal/clean"
	"github.com/ralph-loop/ralph/internal/pattern"
	"github.com/ralph-loop/ralph/internal/view"
)

var colourSequence = pattern.Of(`\x1b\[[0-9;]*m`)

type excerpt struct {
	Text string
	Left string // a text about the part that is left out
}

// textSide says which end of a text is more important.
type textSide bool

const (
	fromStart textSide = false
	fromEnd   textSide = true
)

// excerptOf returns as much of text as fits in room bytes of a page.
func excerptOf(text string, room int, from textSide) excerpt {
	text = strings.ToValidUTF8(colourSequence.ReplaceAllString(strings.ReplaceAll(text, "\r\n", "\n"), ""), "\uFFFD")
	text = strings.Trim(text, "\n")
	kept := partThatFits(text, room, from)
	left := utf8.RuneCountInString(text) - utf8.RuneCountInString(kept)
	switch {
	case left == 0:
		return excerpt{Text: kept}
	case from == fromEnd:
		return excerpt{Text: kept, Left: view.Plural(left, "character") + " before this left out"}
	}
	return excerpt{Text: kept, Left: view.Plural(left, "more character") + " left out"}
}

func partThatFits(text string, room int, from textSide) string {
	if from == fromStart {
		for i, r := range text {
			if room -= runeSize(r); room < 0 {
				return text[:i]
			}
		}
		return text
	}
	at := len(text)
	for at > 0 {
		r, length := utf8.DecodeLastRuneInString(text[:at])
		if room -= runeSize(r); room < 0 {
			break
		}
		at -= length
	}
	return text[at:]
}

// runeSize returns the maximum of bytes for a character on a page, on which some are escaped.
func runeSize(r rune) int {
	switch {
	case strings.ContainsRune(`<>&"'+`, r):
		return len("&#34;")
	case r == '\n' || r == '\t':
		return 1
	case !unicode.IsGraphic(r) || clean.IsInvisible(r):
		return len(`\u{10ffff}`)
	}
	return utf8.RuneLen(r)
}

// textSize returns the maximum of bytes for a text on a page.
func textSize(text string) int {
	sum := 0
	for _, r := range text {
		sum += runeSize(r)
	}
	return sum
}

// firstThatFit returns as many texts as fit with their markup, and the number of the others.
func firstThatFit(all []string, room, markup int) (shown []string, more int) {
	for i, text := range all {
		if room -= textSize(text) + markup; room < 0 {
			return all[:i], len(all) - i
		}
	}
	return all, 0
}

func oneLine(text string, limit int) string {
	var line []rune
	for word := range strings.FieldsSeq(text) {
		if len(line) > 0 {
			line = append(line, ' ')
		}
		if line = append(line, []rune(word)...); len(line) > limit {
			return string(line[:limit-1]) + "…"
		}
	}
	return string(line)
}
