package agent

import (
	"fmt"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/ralph-loop/ralph/internal/fault"
)

// Words splits a line as a shell splits words, quotes and escapes included.
// Nothing is expanded: a variable or a pipe in it is refused rather than handed
// on as text that means something else than what its writer saw a shell do.
func Words(line string) ([]string, error) {
	var words []string
	var bad error
	parser := syntax.NewParser(syntax.Variant(syntax.LangPOSIX))
	for word, err := range parser.WordsSeq(strings.NewReader(line)) {
		text := ""
		if bad = err; bad == nil {
			text, bad = literal(word.Parts, false)
		}
		if bad != nil {
			break
		}
		words = append(words, text)
	}
	if bad != nil {
		return nil, fault.Usage(
			fmt.Sprintf("no plain command: %q", line),
			`put what is meant literally in single quotes, or have a shell read it: sh -c '…'`, bad)
	}
	return words, nil
}

func literal(parts []syntax.WordPart, quoted bool) (string, error) {
	var text strings.Builder
	for _, part := range parts {
		switch part := part.(type) {
		case *syntax.Lit:
			text.WriteString(unescape(part.Value, quoted))
		case *syntax.SglQuoted:
			text.WriteString(part.Value)
		case *syntax.DblQuoted:
			inner, err := literal(part.Parts, true)
			if err != nil {
				return "", err
			}
			text.WriteString(inner)
		default:
			return "", fmt.Errorf("column %d: nothing is expanded here", part.Pos().Col())
		}
	}
	return text.String(), nil
}

// unescape takes out the backslashes that the parser leaves in. Between double
// quotes a backslash is itself before anything but these.
func unescape(s string, quoted bool) string {
	var out strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' || i+1 == len(s) || quoted && !strings.ContainsRune("$`\"\\\n", rune(s[i+1])) {
			out.WriteByte(s[i])
			continue
		}
		i++
		if s[i] != '\n' { // a line that goes on
			out.WriteByte(s[i])
		}
	}
	return out.String()
}
