package plan

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
)

// maxWord bounds the work of Nearest: nobody mistypes a longer word than this.
const maxWord = 64

// Nearest finds the known word that was probably meant, if one is near. Case
// does not count, two letters swapped count once, and about one slip in three
// letters is forgiven, three at most.
func Nearest(word string, known []string) (string, bool) {
	found, least := "", -1
	for _, k := range known {
		a, b := []rune(strings.ToLower(word)), []rune(strings.ToLower(k))
		longer, shorter := max(len(a), len(b)), min(len(a), len(b))
		limit := min(longer/3, 3)
		if longer > maxWord || longer-shorter > limit {
			continue
		}
		if d := distance(a, b); d <= limit && (least < 0 || d < least) {
			found, least = k, d
		}
	}
	return found, least >= 0
}

// distance counts the insertions, deletions, replacements and swaps of
// neighbours that make b of a (optimal string alignment).
func distance(a, b []rune) int {
	var before, above []int
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range a {
		before, above, row = above, row, make([]int, len(b)+1)
		row[0] = i + 1
		for j := range b {
			row[j+1] = min(above[j+1]+1, row[j]+1, above[j]+unlike(a[i], b[j]))
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				row[j+1] = min(row[j+1], before[j-1]+1)
			}
		}
	}
	return row[len(b)]
}

func unlike(a, b rune) int {
	if a == b {
		return 0
	}
	return 1
}

// Slug makes a title fit for a branch name: ASCII, lower case, dashes, at most
// limit long and never empty. It cuts between words where it can.
func Slug(title string, limit int) string {
	words := strings.FieldsFunc(latin(strings.ToLower(title)), func(r rune) bool {
		return r > unicode.MaxASCII || !unicode.IsLetter(r) && !unicode.IsDigit(r)
	})
	slug := ""
	for _, w := range words {
		switch {
		case slug == "":
			slug = w[:min(len(w), max(limit, 0))]
		case len(slug)+1+len(w) > limit:
			return slug
		default:
			slug += "-" + w
		}
	}
	if slug == "" {
		return "work"[:min(len("work"), max(limit, 1))]
	}
	return slug
}

// latin spells the commonest accented letters without their accents.
func latin(s string) string {
	return strings.NewReplacer("ä", "ae", "ö", "oe", "ü", "ue", "ß", "ss", "æ", "ae", "ø", "oe", "å", "aa",
		"à", "a", "á", "a", "â", "a", "ã", "a", "ç", "c", "è", "e", "é", "e", "ê", "e", "ë", "e",
		"ì", "i", "í", "i", "î", "i", "ï", "i", "ñ", "n", "ò", "o", "ó", "o", "ô", "o", "õ", "o",
		"ù", "u", "ú", "u", "û", "u", "ý", "y", "ÿ", "y", "'", "", "’", "").Replace(s)
}

// didYouMean is the end of a complaint about a word nobody knows.
func didYouMean(word string, known []string) string {
	if near, ok := Nearest(word, known); ok {
		return fmt.Sprintf(", did you mean %q?", near)
	}
	return ""
}

// blank says that nothing can be read there.
func blank(s string) bool { return strings.TrimSpace(s) == "" }

// oneLine makes a single line of any text.
func oneLine(s string) string {
	s = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, s)
	return strings.Join(strings.Fields(s), " ")
}

// isLine says that a text has no line break or other control character.
func isLine(s string) bool { return !slices.ContainsFunc([]rune(s), unicode.IsControl) }
