package tamper

import "go/ast"

// binds notes the variables of the package that are given a function before any
// test runs.
func (g *gopher) binds(within *ast.BlockStmt) {
	ast.Inspect(within, func(n ast.Node) bool {
		a, is := n.(*ast.AssignStmt)
		if !is || a.Tok.String() != "=" || len(a.Lhs) != len(a.Rhs) {
			return true
		}
		for i, left := range a.Lhs {
			id, named := left.(*ast.Ident)
			if _, made := a.Rhs[i].(*ast.FuncLit); named && made {
				g.hooks = append(g.hooks, mark{g.line(a.Pos()), id.Name})
			}
		}
		return true
	})
}

// hooked reports the functions that the tests, as a whole, put into the code by a
// way in that came for it with the same change.
func (r *report) hooked() {
	was, now := map[string]bool{}, map[string]bool{}
	for _, s := range []struct {
		side side
		into map[string]bool
	}{{r.before, was}, {r.after, now}} {
		for _, p := range s.side.pages {
			for called := range p.defs {
				s.into[called] = s.into[called] || p.produces()
			}
		}
	}
	for _, p := range r.after.pages {
		for _, m := range p.hooks {
			if now[m.text] && !was[m.text] {
				r.add(Finding{p.path, AssertionWeakened, pick(r.change(p.path).After, true, m.line), "the tests put a function of their own into what they test, by " + short(m.text, 60)})
			}
		}
	}
}
