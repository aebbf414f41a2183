package internal_test

import (
	"go/ast"
	"go/token"
	"os"
	"strings"
	"testing"
)

// mostOperators is how many && and || an expression may have.
const mostOperators = 3

// A condition is read at once: it has few operators, and brackets where && and || mix.
func TestConditionsAreShort(t *testing.T) {
	files, err := goFiles(os.DirFS(".."))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if strings.HasPrefix(f.name, support) {
			continue
		}
		within := map[ast.Expr]bool{} // parts of conditions that are counted already
		for node := range ast.Preorder(f.syntax) {
			condition, ok := node.(*ast.BinaryExpr)
			if !ok || !joins(condition) || within[condition] {
				continue
			}
			operators, mixed := 0, false
			ast.Inspect(condition, func(part ast.Node) bool {
				switch part := part.(type) {
				case *ast.BinaryExpr:
					within[part] = true
					if joins(part) {
						operators++
					}
					mixed = mixed || isMixed(part)
					return true
				case *ast.ParenExpr, *ast.UnaryExpr:
					return true
				}
				return false
			})
			if operators > mostOperators {
				t.Errorf("%s: %d operators in a condition, at most %d", f.at(condition), operators, mostOperators)
			}
			if mixed {
				t.Errorf("%s: && and || without brackets", f.at(condition))
			}
		}
	}
}

func joins(e *ast.BinaryExpr) bool { return e.Op == token.LAND || e.Op == token.LOR }

// isMixed reports whether a side of || is an && without brackets.
func isMixed(e *ast.BinaryExpr) bool {
	for _, side := range []ast.Expr{e.X, e.Y} {
		if part, ok := side.(*ast.BinaryExpr); ok && e.Op == token.LOR && part.Op == token.LAND {
			return true
		}
	}
	return false
}
