package clean

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Invisible says whether r takes no ink where people read, yet is read by a
// model or skipped by a parser: format and bidi characters, the tag block,
// variation selectors, fillers, soft hyphens. The zero width joiner is among
// them, so a joined emoji falls apart into its members; the few format
// characters that do show (Arabic number signs and their kin) are not.
func Invisible(r rune) bool {
	if r < 0xAD {
		return false
	}
	switch r {
	case 0x2800, 0x1D159: // braille blank, musical null notehead: drawn empty
		return true
	}
	if unicode.Is(unicode.Prepended_Concatenation_Mark, r) {
		return false
	}
	return unicode.Is(unicode.Cf, r) ||
		unicode.Is(unicode.Variation_Selector, r) ||
		unicode.Is(unicode.Other_Default_Ignorable_Code_Point, r)
}

// newlines makes every line end a \n, as all that follows counts in lines.
// U+2028 and U+2029 end a line in some readers and not in others.
func newlines(text string) string {
	if !strings.ContainsAny(text, "\r\u2028\u2029") {
		return text
	}
	return strings.NewReplacer("\r\n", "\n", "\r", "\n", "\u2028", "\n", "\u2029", "\n").Replace(text)
}

// characters leaves only characters that people can see, \n and \t.
func characters(text string, gone *Removed) string {
	text = newlines(text)
	return mapRunes(text, func(r rune, size int) rune {
		switch {
		case r == utf8.RuneError && size == 1:
			gone.Invalid++
			return utf8.RuneError
		case r == '\n' || r == '\t':
			return r
		case unicode.IsControl(r):
			gone.Controls++
			return -1
		case Invisible(r):
			gone.Invisible++
			return -1
		default:
			return r
		}
	})
}

// mapRunes is strings.Map for a mapper that must tell a broken byte, which
// has size 1, from a U+FFFD that somebody wrote.
func mapRunes(text string, to func(r rune, size int) rune) string {
	var out strings.Builder
	out.Grow(len(text))
	for len(text) > 0 {
		r, size := utf8.DecodeRuneInString(text)
		if r = to(r, size); r >= 0 {
			out.WriteRune(r)
		}
		text = text[size:]
	}
	return out.String()
}

// head is the longest beginning of text that has at most limit bytes and ends
// on a rune's border. Without a limit it is text.
func head(text string, limit int) string {
	if limit <= 0 || len(text) <= limit {
		return text
	}
	for limit > 0 && !utf8.RuneStart(text[limit]) {
		limit--
	}
	return text[:limit]
}
