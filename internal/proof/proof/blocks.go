package proof

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/lib/pattern"
)

// block is a span of lines, from 0, without its end.
type block struct{ from, to int }

const mostBlocks = 12

// outerBlocks returns the blocks in some lines that no other one contains, in order.
func outerBlocks(lines [][]byte, from, to int) []block {
	var all []block
	for at := from; at < to; {
		b, ok := blockAt(lines, at, to)
		if !ok {
			at++
			continue
		}
		all = append(all, b)
		at = b.to
	}
	return all
}

// innerBlocks returns the blocks in some lines that others contain, the largest first.
func innerBlocks(lines [][]byte, from, to int) []block {
	var all []block
	for _, outer := range outerBlocks(lines, from, to) {
		for at := outer.from + 1; at < outer.to; at++ {
			if b, ok := blockAt(lines, at, outer.to); ok {
				all = append(all, b)
			}
		}
	}
	slices.SortStableFunc(all, func(a, b block) int { return (b.to - b.from) - (a.to - a.from) })
	return all[:min(len(all), mostBlocks)]
}

// blockAt returns the block that begins at a line: the more indented lines below it, and the line that closes it.
func blockAt(lines [][]byte, at, to int) (block, bool) {
	own := indent(lines[at])
	end := bodyEnd(lines, at, to)
	if own < 0 || end == at+1 {
		return block{}, false
	}
	if end < to && indent(lines[end]) == own && closes(lines[end]) {
		end++
	}
	return block{at, end}, true
}

// bodyEnd returns the end of the blank and more indented lines below a line.
func bodyEnd(lines [][]byte, at, to int) int {
	own := indent(lines[at])
	end := at + 1
	for end < to && (indent(lines[end]) < 0 || indent(lines[end]) > own) {
		end++
	}
	return end
}

// indent returns the width of the white space before a line; -1: it is blank.
func indent(line []byte) int {
	text := bytes.TrimLeft(line, " \t")
	if len(bytes.TrimSpace(text)) == 0 {
		return -1
	}
	return len(line) - len(text)
}

func closes(line []byte) bool {
	text := strings.TrimSpace(string(line))
	return text == "end" || strings.Trim(text, "})];,") == ""
}

// stub is how a function without its work looks in a language.
type stub struct {
	head *pattern.Pattern // the first line of a function
	body string
}

var (
	braces = pattern.Of(`^\s*((export|default|async|public|private|protected|static|override|final|` +
		`pub(\([a-z]+\))?|const|unsafe|function|fn|def|fun)\s+)+[^=;]*\)[^;]*\{\s*$|^\s*\w+\([^;]*\)\s*\{\s*$`)
	stubOf = map[string]stub{
		".py":   {pattern.Of(`^\s*(async\s+)?def\s+\w+\(.*:\s*$`), "return None"},
		".js":   {braces, "return undefined;"},
		".jsx":  {braces, "return undefined;"},
		".mjs":  {braces, "return undefined;"},
		".cjs":  {braces, "return undefined;"},
		".ts":   {braces, "return undefined as any;"},
		".tsx":  {braces, "return undefined as any;"},
		".mts":  {braces, "return undefined as any;"},
		".rs":   {braces, "if true { unimplemented!() }"},
		".java": {braces, "if (true) throw new RuntimeException();"},
		".kt":   {braces, "if (true) throw RuntimeException()"},
		".cs":   {braces, "if (true) throw new System.Exception();"},
		".php":  {braces, `throw new \Exception();`},
		".rb":   {pattern.Of(`^\s*def\s+.*$`), "raise"},
	}
)

// stubs returns the edits that put a return at the beginning of each function in some lines; nil: there is none. The
// rest of a function stays, as the build may need what it uses.
func stubs(file string, lines [][]byte, in block) []edit {
	if path.Ext(file) == ".go" {
		return stubsOfGo(lines, in)
	}
	known, ok := stubOf[path.Ext(file)]
	if !ok {
		return nil
	}
	var edits []edit
	for at := in.from; at < in.to; at++ {
		isHead := known.head.MatchString(strings.TrimRight(string(lines[at]), "\n"))
		if !isHead || bodyEnd(lines, at, in.to) == at+1 {
			continue
		}
		inner := lines[at+1][:max(indent(lines[at+1]), 0)]
		edits = append(edits, edit{at + 1, at + 1, string(inner) + known.body + "\n"})
	}
	return edits
}

// stubsOfGo has functions of Go return zero values.
func stubsOfGo(lines [][]byte, in block) []edit {
	source := bytes.Join(lines, nil)
	set := token.NewFileSet()
	parsed, err := parser.ParseFile(set, "", source, parser.SkipObjectResolution)
	if err != nil {
		return nil
	}
	var edits []edit
	for _, declared := range parsed.Decls {
		f, ok := declared.(*ast.FuncDecl)
		if !ok || f.Body == nil {
			continue
		}
		if set.PositionFor(f.Pos(), false).Line <= in.from || set.PositionFor(f.End(), false).Line > in.to {
			continue
		}
		brace := set.PositionFor(f.Body.Lbrace, false)
		if n := len(edits); n > 0 && edits[n-1].to == brace.Line {
			return nil // two functions in one line
		}
		line := lines[brace.Line-1]
		before, after := string(line[:brace.Column]), string(line[brace.Column:])
		by := before + " if true { " + zeroReturn(f, source, set) + " };" + after
		edits = append(edits, edit{brace.Line - 1, brace.Line, by})
	}
	return edits
}

// zeroReturn returns the statement that returns the zero values of a function's results.
func zeroReturn(f *ast.FuncDecl, source []byte, set *token.FileSet) string {
	if f.Type.Results == nil {
		return "return"
	}
	var values []string
	for _, field := range f.Type.Results.List {
		if len(field.Names) > 0 {
			return "return"
		}
		from := set.Position(field.Type.Pos()).Offset
		to := set.Position(field.Type.End()).Offset
		values = append(values, fmt.Sprintf("*new(%s)", source[from:to]))
	}
	return "return " + strings.Join(values, ", ")
}
