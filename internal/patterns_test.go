package internal_test

import (
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"regexp"
	"strconv"
	"testing"
)

// A pattern is read when it is first needed. Nothing but this tells of one that
// is malformed before it is.
func TestEveryPatternCanBeRead(t *testing.T) {
	files, err := goFiles(os.DirFS(".."))
	if err != nil {
		t.Fatal(err)
	}
	read := 0
	for _, f := range files {
		named := constants(f.syntax)
		for node := range ast.Preorder(f.syntax) {
			call, is := node.(*ast.CallExpr)
			if !is || !isPatternOf(call.Fun) {
				continue
			}
			read++
			if err := readable(call.Args[0], named); err != nil {
				t.Errorf("%s: %v", f.name, err)
			}
		}
	}
	if read == 0 {
		t.Error("found no pattern")
	}
}

// What is malformed, or is not there to be seen, is found.
func TestOddPatternsAreFound(t *testing.T) {
	for text, odd := range map[string]bool{"`a(b)`": false, `"a" + "\\d"`: false, "`a(b`": true, `"(" + x`: true, `f()`: true, `"a" + part`: false, `"(" + part`: true} {
		expression, err := parser.ParseExpr(text)
		if err != nil {
			t.Fatal(err)
		}
		if err := readable(expression, map[string]ast.Expr{"part": &ast.BasicLit{Value: `"b"`}}); (err != nil) != odd {
			t.Errorf("%s: %v", text, err)
		}
	}
}

func isPatternOf(called ast.Expr) bool {
	selector, is := called.(*ast.SelectorExpr)
	if !is {
		return false
	}
	from, is := selector.X.(*ast.Ident)
	return is && from.Name == "pattern" && selector.Sel.Name == "Of"
}

// constants returns the values of those that a file declares.
func constants(file *ast.File) map[string]ast.Expr {
	all := make(map[string]ast.Expr)
	for _, decl := range file.Decls {
		group, is := decl.(*ast.GenDecl)
		if !is || group.Tok != token.CONST {
			continue
		}
		for _, spec := range group.Specs {
			s := spec.(*ast.ValueSpec)
			for i, value := range s.Values {
				all[s.Names[i].Name] = value
			}
		}
	}
	return all
}

func readable(expression ast.Expr, named map[string]ast.Expr) error {
	text, err := literal(expression, named)
	if err == nil {
		_, err = regexp.Compile(text)
	}
	return err
}

// literal returns a string as it stands in the code, or several put together.
func literal(expression ast.Expr, named map[string]ast.Expr) (string, error) {
	switch e := expression.(type) {
	case *ast.BasicLit:
		return strconv.Unquote(e.Value)
	case *ast.Ident:
		if value, is := named[e.Name]; is {
			return literal(value, nil)
		}
	case *ast.BinaryExpr:
		left, err := literal(e.X, named)
		right, also := literal(e.Y, named)
		return left + right, errors.Join(err, also)
	case *ast.ParenExpr:
		return literal(e.X, named)
	}
	return "", errors.New("a pattern is no literal")
}
