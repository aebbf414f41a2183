package tamper

import (
	"go/ast"
	"slices"
	"strings"
)

// waits tells whether a test has a way to wait for what it starts.
func (b *goBody) waits() bool {
	return slices.ContainsFunc(b.test.words, func(w word) bool { return w.kind != text && waitingGo[w.text] })
}

var waitingGo = set("<- Wait select range Eventually Go synctest Lock RLock Load")

// recovers tells of a deferred function that takes a panic back and says nothing.
func (b *goBody) recovers(s *ast.DeferStmt) bool {
	lit, is := s.Call.Fun.(*ast.FuncLit)
	if !is {
		return false
	}
	all := joined(b.of(lit.Body))
	return strings.Contains(all, "recover ( )") && !strings.Contains(all, "panic (") && !names(b.of(lit.Body), func(n string) bool { return failing[n] })
}

// onlyPanics tells whether a block fails by a panic alone.
func (b *goBody) onlyPanics(body *ast.BlockStmt) bool {
	return !names(b.of(body), func(n string) bool { return failing[n] })
}

// wholePackage begins what is said of a mark by which no test of the package runs.
const wholePackage = "the package's tests: "

// initial looks at what a file of tests does before there is a test: it may end
// the program, or tell the runner what to leave out. A child that a test starts
// is told by a variable that it is one.
func (g *gopher) initial(d *ast.FuncDecl) {
	for _, s := range d.Body.List {
		if branch, is := s.(*ast.IfStmt); is && elsewhere(g.of(branch.Cond)) {
			continue
		}
		g.note(s, g.silences)
	}
}

// note keeps the calls of a kind as what stops the tests of a package.
func (g *gopher) note(within ast.Node, of func(*ast.CallExpr) bool) {
	ast.Inspect(within, func(n ast.Node) bool {
		if call, is := n.(*ast.CallExpr); is && of(call) {
			g.halts = append(g.halts, mark{g.line(call.Pos()), wholePackage + spoken(g.of(call))})
		}
		return true
	})
}

var leftOut = set("test.run test.skip test.short test.list test.failfast")

// silences tells whether a call ends the program, or leaves tests out.
func (g *gopher) silences(call *ast.CallExpr) bool {
	called := joined(g.of(call.Fun))
	return called == "os . Exit" || called == "syscall . Exit" || g.tells(call)
}

// tells tells whether a call has the runner leave tests out.
func (g *gopher) tells(call *ast.CallExpr) bool {
	called := joined(g.of(call.Fun))
	if called != "flag . Set" && called != "flag . CommandLine . Set" {
		return false
	}
	args := arguments(g.of(call))
	return len(args) == 2 && len(args[0]) == 1 && leftOut[args[0][0].text]
}
