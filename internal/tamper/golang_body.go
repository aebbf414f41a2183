package tamper

import (
	"go/ast"
	"strings"
)

// goBody reads the body of a test or helper.
type goBody struct {
	*gopher
	test  *test
	in    string // its *testing.T
	dead  string
	lists map[string]*ast.CompositeLit
}

func (b *goBody) walk(body *ast.BlockStmt) {
	b.lists = map[string]*ast.CompositeLit{}
	b.block(body.List)
}

// block reads statements; a bare return among them ends what counts.
func (b *goBody) block(list []ast.Stmt) {
	before := b.dead
	for i, s := range list {
		b.statement(s)
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

func leaves(body *ast.BlockStmt) bool {
	if len(body.List) == 0 {
		return false
	}
	_, is := body.List[len(body.List)-1].(*ast.ReturnStmt)
	return is
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

// condition makes checks of what must not be so.
func (b *goBody) condition(s *ast.IfStmt, condition []word) {
	given := b.of(s.Init)
	for _, part := range split(condition, "||") {
		c := check{line: b.line(s.Pos()), end: b.line(s.Body.End()), what: "if " + short(spoken(part), 60), dead: b.dead}
		c.force, c.subject, c.expected = refused(part, given)
		c.words = append(append([]word{}, given...), part...)
		c.none = strings.HasSuffix(joined(part), "!= nil") || !begins(part, "!") && c.force <= flag && !strings.HasSuffix(joined(part), "== nil")
		c.bound = -bound(part)
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

// table reads the rows of what is ranged over.
func (b *goBody) table(x ast.Expr) {
	list, is := x.(*ast.CompositeLit)
	if id, named := x.(*ast.Ident); named {
		list, is = b.lists[id.Name], b.lists[id.Name] != nil
	}
	if !is {
		return
	}
	for _, e := range list.Elts {
		r := row{line: b.line(e.Pos())}
		pair, keyed := e.(*ast.KeyValueExpr)
		if keyed {
			r.inputs = b.of(pair.Key)
			e = pair.Value
		}
		lit, is := e.(*ast.CompositeLit)
		switch {
		case is:
			b.cells(&r, lit)
		case keyed:
			r.expected = b.of(e)
		default:
			r.inputs = b.of(e)
		}
		b.test.rows = append(b.test.rows, r)
	}
}

// cells parts a row: what it wants is named so, or stands last.
func (b *goBody) cells(r *row, lit *ast.CompositeLit) {
	for i, cell := range lit.Elts {
		pair, keyed := cell.(*ast.KeyValueExpr)
		switch {
		case keyed && wanted(joined(b.of(pair.Key))), !keyed && i > 0 && i == len(lit.Elts)-1:
			r.expected = append(r.expected, b.of(cell)...)
		default:
			r.inputs = append(r.inputs, b.of(cell)...)
		}
	}
}

// never and elsewhere judge a condition that checks stand under.
func never(condition []word) bool {
	switch joined(inside(condition)) {
	case "false", "False", "0", "! true", "not True", "None", "null", "1 == 2", "1 == 0":
		return true
	}
	for _, part := range split(condition, "&&", "and") {
		if len(part) == 1 && part[0].is("false", "False") {
			return true
		}
	}
	return false
}

// elsewhere tells whether a condition asks about the machine.
func elsewhere(condition []word) bool {
	all := joined(condition)
	for _, asks := range []string{"os . Getenv", "os . LookupEnv", "runtime . GOOS", "testing . Short", "os . environ", "os . getenv", "process . env", "sys . platform", "process . platform"} {
		if strings.Contains(all, asks) {
			return true
		}
	}
	return false
}
