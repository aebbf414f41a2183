// Package shell splits a command into words as a shell does, with quotes and escapes, and names the programs that it
// starts. It expands and runs nothing: words that need expansion are refused.
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
	var names []string
	known := true
	syntax.Walk(parse(command), func(node syntax.Node) bool {
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

// interpreters run the file that their first word names.
var interpreters = []string{"sh", "bash", "dash", "zsh", "python", "python3", "node", "ruby", "perl", "php"}

// Script returns the file with which a command begins: a program named by a path, or what an interpreter runs. It is
// empty if there is none.
func Script(command string) string {
	programs := Programs(command)
	if len(programs) == 0 {
		return ""
	}
	first := programs[0]
	if strings.Contains(first, "/") {
		return first
	}
	if !slices.Contains(interpreters, first) {
		return ""
	}
	file, found := "", false
	syntax.Walk(parse(command), func(node syntax.Node) bool {
		call, ok := node.(*syntax.CallExpr)
		if ok && !found && program(call) == first {
			file = operand(call, first)
			found = true
		}
		return !found
	})
	return file
}

// operand returns the word after a program's name, unless it is an option or not literal.
func operand(call *syntax.CallExpr, program string) string {
	for i, arg := range call.Args {
		if arg.Lit() != program || i+1 == len(call.Args) {
			continue
		}
		word, err := literal(call.Args[i+1].Parts, false)
		if err != nil || strings.HasPrefix(word, "-") {
			return ""
		}
		return word
	}
	return ""
}

// program returns the name of what a call starts, through env, too; empty if it is not literal.
func program(call *syntax.CallExpr) string {
	for _, arg := range call.Args {
		text, err := literal(arg.Parts, false)
		if err != nil || strings.HasPrefix(text, "-") {
			return ""
		}
		if text != "env" && !strings.Contains(text, "=") {
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

// parse returns an empty script if it cannot be read.
func parse(script string) *syntax.File {
	if len(script) > maxText {
		return &syntax.File{}
	}
	file, err := parser().Parse(strings.NewReader(script), "")
	if err != nil {
		return &syntax.File{}
	}
	return file
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
		escapes := s[i] == '\\' && i+1 < len(s)
		if escapes && quoted {
			escapes = strings.ContainsRune("$`\"\\\n", rune(s[i+1]))
		}
		if !escapes {
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
