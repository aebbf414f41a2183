package hook

import (
	"errors"
	"strings"
)

// Words splits what somebody typed behind a slash command as a shell splits
// words. Quotes and backslashes do what they do there; all else is text, for
// nothing is expanded and nothing run: a task may speak of $HOME or `id`, and
// of issue #12.
func Words(line string) ([]string, error) {
	var words []string
	var word strings.Builder
	quote, inside := rune(0), false
	runes := []rune(line)
	for i := 0; i < len(runes); i++ {
		c := runes[i]
		switch {
		case c == quote:
			quote = 0
		case quote == 0 && (c == '"' || c == '\''):
			quote, inside = c, true
		case c == '\\' && quote != '\'' && escapes(runes[i+1:], quote):
			i++
			inside = true
			word.WriteRune(runes[i])
		case quote == 0 && strings.ContainsRune(" \t\r\n", c):
			if inside {
				words = append(words, word.String())
				word.Reset()
				inside = false
			}
		default:
			inside = true
			word.WriteRune(c)
		}
	}
	if quote != 0 {
		return nil, errors.New("a " + string(quote) + " is opened and never closed")
	}
	if inside {
		words = append(words, word.String())
	}
	return words, nil
}

// escapes tells whether a backslash means the next rune literally.
func escapes(rest []rune, quote rune) bool {
	return len(rest) > 0 && (quote == 0 || strings.ContainsRune("$`\"\\", rest[0]))
}
