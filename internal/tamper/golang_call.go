package tamper

import (
	"go/ast"
	"strings"
)

// expressions looks for calls in a statement that is none of structure.
func (b *goBody) expressions(n ast.Node) {
	ast.Inspect(n, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			b.block(n.Body.List)
			return false
		case *ast.CallExpr:
			return b.call(n)
		}
		return true
	})
}

// call reads a call; false says that what is in it needs no look.
func (b *goBody) call(c *ast.CallExpr) bool {
	on, called := b.method(c)
	words := b.of(c)
	line, end := b.line(c.Pos()), b.line(c.End())
	switch {
	case called == "Run" && len(c.Args) == 2:
		if lit, is := c.Args[0].(*ast.BasicLit); is {
			b.test.rows = append(b.test.rows, row{line: line, inputs: b.of(lit)})
		}
	case skips(called) && b.testing(on):
		b.test.skips = append(b.test.skips, mark{line, spoken(words)})
	case failing[called] && b.testing(on) && (b.in != "" || on == "t" || on == "b"):
		b.test.checks = append(b.test.checks, check{line: line, end: end, force: partly, subject: words, words: words, dead: b.dead, what: on + "." + called})
	case asserting(on, called):
		made := goAssertion(on, called, b.arguments(c), words)
		made.line, made.end, made.dead = line, end, b.dead
		b.test.checks = append(b.test.checks, made)
		return false
	case b.hands(c):
		if strings.Contains(strings.ToLower(lastName(c)), "skip") {
			b.test.skips = append(b.test.skips, mark{line, spoken(words)})
		} else {
			b.test.calls = append(b.test.calls, call{lastName(c), line, words})
		}
	}
	return true
}

func skips(called string) bool { return called == "Skip" || called == "Skipf" || called == "SkipNow" }

// hands tells whether a call gives the *testing.T on.
func (b *goBody) hands(c *ast.CallExpr) bool {
	for _, arg := range c.Args {
		if id, is := arg.(*ast.Ident); is && (id.Name == b.in && b.in != "" || id.Name == "t" || id.Name == "tb") {
			return true
		}
	}
	return false
}

func lastName(c *ast.CallExpr) string {
	switch f := c.Fun.(type) {
	case *ast.Ident:
		return f.Name
	case *ast.SelectorExpr:
		return f.Sel.Name
	default:
		return ""
	}
}

func (b *goBody) arguments(c *ast.CallExpr) [][]word {
	var args [][]word
	for _, arg := range c.Args {
		if id, is := arg.(*ast.Ident); is && (id.Name == b.in || id.Name == "t") {
			continue
		}
		args = append(args, b.of(arg))
	}
	return args
}

// method is the receiver and the name of a call.
func (b *goBody) method(c *ast.CallExpr) (on, called string) {
	sel, is := c.Fun.(*ast.SelectorExpr)
	if !is {
		return "", ""
	}
	if id, is := sel.X.(*ast.Ident); is {
		return id.Name, sel.Sel.Name
	}
	return joined(b.of(sel.X)), sel.Sel.Name
}

// fails tells whether a block makes the test fail, on its own level.
func (b *goBody) fails(body *ast.BlockStmt) bool {
	for _, s := range body.List {
		x, is := s.(*ast.ExprStmt)
		if !is {
			continue
		}
		c, is := x.X.(*ast.CallExpr)
		if !is {
			continue
		}
		if on, way := b.method(c); failing[way] && b.testing(on) || way == "" && isPanic(c) {
			return true
		}
	}
	return false
}

// testing tells whether a receiver is a *testing.T.
func (b *goBody) testing(on string) bool {
	return on == b.in && on != "" || on == "t" || on == "b" || on == "tb" || on == "f" || strings.HasSuffix(on, ". T ( )") || !receivers[on] && b.in == "" && on != ""
}

func isPanic(c *ast.CallExpr) bool {
	id, is := c.Fun.(*ast.Ident)
	return is && id.Name == "panic"
}

var failing = set("Error Errorf Fatal Fatalf Fail FailNow")
