package tamper

import (
	"go/ast"
	"go/token"
	"strings"
)

// goBody reads the body of a test or helper.
type goBody struct {
	*gopher
	test *test
	in   string // its *testing.T
	dead string

	forgives bool // whatever panics is recovered from
	lists    map[string]*ast.CompositeLit
}

func (b *goBody) walk(body *ast.BlockStmt) {
	b.lists = map[string]*ast.CompositeLit{}
	b.block(body.List)
}

// block reads statements; a bare return among them ends what counts.
func (b *goBody) block(list []ast.Stmt) {
	before := b.dead
	for i, s := range list {
		if i+1 < len(list) && b.unless(s, list[i+1]) {
			continue
		}
		b.statement(s)
		if b.dead == "" && b.disowned(s) {
			b.dead = "what fails is told to nobody"
		}
		if _, is := s.(*ast.ReturnStmt); is && i+1 < len(list) && b.dead == "" {
			b.dead = "a return stands before it"
		}
	}
	b.dead = before
}

func (b *goBody) statement(s ast.Stmt) {
	switch s := s.(type) {
	case nil:
	case *ast.BlockStmt:
		b.block(s.List)
	case *ast.IfStmt:
		b.branch(s)
	case *ast.ForStmt:
		b.conditional(s.Cond != nil && never(b.of(s.Cond)), "its loop never runs", func() { b.block(s.Body.List) })
	case *ast.RangeStmt:
		b.table(s.X)
		b.expressions(s.X)
		b.block(s.Body.List)
	case *ast.SwitchStmt:
		b.clauses(s.Body)
	case *ast.TypeSwitchStmt:
		b.clauses(s.Body)
	case *ast.SelectStmt:
		b.clauses(s.Body)
	case *ast.LabeledStmt:
		b.statement(s.Stmt)
	case *ast.GoStmt:
		b.conditional(!b.waits(), "nothing waits for its goroutine", func() { b.expressions(s) })
	case *ast.DeferStmt:
		b.forgives = b.forgives || b.recovers(s)
		b.expressions(s)
	case *ast.AssignStmt:
		b.assign(s)
		b.expressions(s)
	default:
		b.expressions(s)
	}
}

func (b *goBody) conditional(yes bool, why string, do func()) {
	before := b.dead
	if yes && b.dead == "" {
		b.dead = why
	}
	do()
	b.dead = before
}

func (b *goBody) clauses(body *ast.BlockStmt) {
	for _, c := range body.List {
		switch c := c.(type) {
		case *ast.CaseClause:
			b.block(c.Body)
		case *ast.CommClause:
			b.block(c.Body)
		}
	}
}

func (b *goBody) assign(s *ast.AssignStmt) {
	for i, left := range s.Lhs {
		id, is := left.(*ast.Ident)
		if !is || i >= len(s.Rhs) {
			continue
		}
		if list, is := s.Rhs[i].(*ast.CompositeLit); is {
			b.lists[id.Name] = list
		}
	}
}

// disowned tells whether a statement puts another *testing.T in the place of the
// one that the runner gave.
func (b *goBody) disowned(s ast.Stmt) bool {
	a, is := s.(*ast.AssignStmt)
	if !is || b.in == "" || len(a.Lhs) != len(a.Rhs) {
		return false
	}
	for i, left := range a.Lhs {
		id, is := left.(*ast.Ident)
		if made := joined(b.of(a.Rhs[i])); is && id.Name == b.in && (strings.HasPrefix(made, "new ( testing .") || strings.HasPrefix(made, "& testing .")) {
			return true
		}
	}
	return false
}

// branch is an if: a check, where it fails the test by itself.
func (b *goBody) branch(s *ast.IfStmt) {
	if s.Init != nil {
		b.statement(s.Init)
	}
	condition := b.of(s.Cond)
	switch fails, plain := b.fails(s.Body), len(b.test.checks); {
	case fails:
		b.condition(s, condition)
	default:
		b.conditional(never(condition), "it stands under if "+short(spoken(condition), 40), func() {
			b.conditional(elsewhere(condition), "it is checked only if "+short(spoken(condition), 40), func() { b.block(s.Body.List) })
		})
		if leaves(s.Body) && len(b.test.checks) == plain && b.dead == "" {
			b.test.exits = append(b.test.exits, mark{b.line(s.Pos()), spoken(condition)})
		}
	}
	if s.Else != nil {
		b.statement(s.Else)
	}
}

// leaves tells whether a block ends the test, or the round of a loop that it is in.
func leaves(body *ast.BlockStmt) bool {
	if len(body.List) == 0 {
		return false
	}
	switch last := body.List[len(body.List)-1].(type) {
	case *ast.ReturnStmt:
		return true
	case *ast.BranchStmt:
		return last.Tok == token.CONTINUE || last.Tok == token.BREAK
	}
	return false
}

// unless reads a check the other way round: if it is so, return or go on; and then
// a failure.
func (b *goBody) unless(s, next ast.Stmt) bool {
	branch, is := s.(*ast.IfStmt)
	if !is || branch.Else != nil || len(branch.Body.List) != 1 || !b.fails(&ast.BlockStmt{List: []ast.Stmt{next}}) {
		return false
	}
	if !leaves(branch.Body) {
		return false
	}
	condition := b.of(branch.Cond)
	c := check{line: b.line(s.Pos()), end: b.line(next.End()), what: "unless " + short(spoken(condition), 60), dead: b.dead, words: condition}
	c.force, c.subject, c.expected = required(condition)
	b.test.checks = append(b.test.checks, c)
	return true
}

// condition makes checks of what must not be so.
func (b *goBody) condition(s *ast.IfStmt, condition []word) {
	given := b.of(s.Init)
	for _, part := range split(condition, "||") {
		c := check{line: b.line(s.Pos()), end: b.line(s.Body.End()), what: "if " + short(spoken(part), 60), dead: b.dead}
		c.force, c.subject, c.expected = refused(part, given)
		c.words = append(append([]word{}, given...), part...)
		c.none = strings.HasSuffix(joined(part), "!= nil") || !begins(part, "!") && c.force <= flag && !strings.HasSuffix(joined(part), "== nil")
		c.bound = -bound(part)
		if b.forgives && c.dead == "" && b.onlyPanics(s.Body) {
			c.dead = "what panics is recovered from"
		}
		b.test.checks = append(b.test.checks, c)
	}
	for _, inner := range s.Body.List {
		b.nested(inner)
	}
}

// nested looks through a failing block for skips.
func (b *goBody) nested(s ast.Stmt) {
	if x, is := s.(*ast.ExprStmt); is {
		if c, is := x.X.(*ast.CallExpr); is {
			if on, way := b.method(c); failing[way] && b.testing(on) {
				return
			}
		}
	}
	b.statement(s)
}
