package guard_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// Patterns are read when they are first needed, so nothing but this tells of
// one that is malformed before somebody's command does.
func TestEveryPatternCanBeRead(t *testing.T) {
	names, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	read := 0
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		for node := range ast.Preorder(file) {
			text, is := pattern(t, node)
			if !is {
				continue
			}
			read++
			if _, err := regexp.Compile(text); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
	if read < 100 {
		t.Errorf("found %d patterns, and there are more than 100", read)
	}
}

// pattern is what is given to regex, which must be a literal.
func pattern(t *testing.T, node ast.Node) (string, bool) {
	t.Helper()
	call, is := node.(*ast.CallExpr)
	if !is {
		return "", false
	}
	if name, is := call.Fun.(*ast.Ident); !is || name.Name != "regex" {
		return "", false
	}
	literal, is := call.Args[0].(*ast.BasicLit)
	if !is {
		t.Fatalf("regex is given a %T, want a literal", call.Args[0])
	}
	text, err := strconv.Unquote(literal.Value)
	if err != nil {
		t.Fatal(err)
	}
	return text, true
}
