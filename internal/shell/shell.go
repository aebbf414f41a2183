// Package shell splits a command into words as a shell does, with quotes and
// escapes, and names the programs that it starts. It expands and runs nothing:
// words that need expansion are refused.
package shell

import (
	"fmt"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// maxText limits what is parsed, in bytes: the parser nests as deep as a text does, and a stack of Go that is too deep
// ends the program.
const maxText = 64 << 10

var errLong = fmt.Errorf("longer than %d bytes", maxText)

// Words splits a line. A variable or a pipe in it is an error, as nothing is expanded.
func Words(line string) ([]string, error) {
	if len(line) > maxText {
		return nil, errLong
	}
	var words []string
	for word, err := range parser().WordsSeq(strings.NewReader(line)) {
		if err != nil {
			return nil, err
		}
		text, err := literal(word.Parts, false)
		if err != nil {
			return nil, err
		}
		words = append(words, text)
	}
	return words, nil
}

// Programs returns the programs that a command starts. It is empty where the command may
// do without one of them, or changes which programs are found.
func Programs(command string) []string {
	if len(command) > maxText {
		return nil
	}
	file, err := parser().Parse(strings.NewReader(command), "")
	if err != nil {
		return nil
	}
	var names []string
	known := true
	syntax.Walk(file, func(node syntax.Node) bool {
		switch n := node.(type) {
		case *syntax.FuncDecl, *syntax.DeclClause, *syntax.IfClause, *syntax.CaseClause, *syntax.WhileClause:
			known = false
		case *syntax.BinaryCmd:
			known = known && n.Op != syntax.OrStmt
		case *syntax.Assign:
			known = known && n.Name.Value != "PATH"
		case *syntax.CallExpr:
			name := program(n)
			known = known && !slices.Contains([]string{".", "alias", "eval", "export", "source"}, name)
			if name != "" {
				names = append(names, name)
			}
		}
		return known
	})
	if !known {
		return nil
	}
	return names
}

// program returns the name of what a call starts, through env, too; empty if it is not literal.
func program(call *syntax.CallExpr) string {
	for _, arg := range call.Args {
		switch text, err := literal(arg.Parts, false); {
		case err != nil || strings.HasPrefix(text, "-"):
			return ""
		case text != "env" && !strings.Contains(text, "="):
			return text
		}
	}
	return ""
}

// Quote is text as one word of a command line; empty: no shell takes it as one.
func Quote(text string) string {
	quoted, err := syntax.Quote(text, syntax.LangPOSIX)
	if err != nil {
		return ""
	}
	return quoted
}

func parser() *syntax.Parser { return syntax.NewParser(syntax.Variant(syntax.LangPOSIX)) }

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

// unescape removes backslashes. Within double quotes only these characters need one.
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
