package guard

import (
	"strings"

	"mvdan.cc/sh/v3/expand"
	"mvdan.cc/sh/v3/syntax"
)

// stmts are judged in the order in which they run. What all of them print is
// what they print together.
func (j *judge) stmts(list []*syntax.Stmt, sc *scope, in stream) stream {
	var out stream
	for i, s := range list {
		one := j.stmt(s, sc, in, nil)
		if i == 0 {
			out = one
		} else {
			out = out.then(one)
		}
		if j.found != nil {
			break
		}
	}
	return out
}

func (j *judge) stmt(s *syntax.Stmt, sc *scope, in stream, next [][]string) stream {
	if j.done() || s == nil {
		return stream{}
	}
	if j.nest++; j.nest > maxNest {
		j.unread = true
		j.nest--
		return stream{}
	}
	defer func() { j.nest-- }()
	r := ran{scope: sc, in: in, next: next}
	for _, redir := range s.Redirs {
		j.redirect(redir, &r)
	}
	out := j.command(s, r)
	if r.toFile {
		return stream{}
	}
	return out
}

func (j *judge) command(s *syntax.Stmt, r ran) stream {
	sc := r.scope
	switch c := s.Cmd.(type) {
	case *syntax.CallExpr:
		return j.call(c, r)
	case *syntax.BinaryCmd:
		if c.Op == syntax.Pipe || c.Op == syntax.PipeAll {
			return j.pipe(s, r)
		}
		first := j.stmt(c.X, sc, r.in, r.next)
		return first.then(j.stmt(c.Y, sc, r.in, r.next))
	case *syntax.Subshell:
		return j.stmts(c.Stmts, sc.sub(), r.in)
	case *syntax.Block:
		return j.stmts(c.Stmts, sc, r.in)
	case *syntax.FuncDecl:
		j.declare(c, sc)
	case *syntax.DeclClause:
		j.declClause(c, r)
	case *syntax.TimeClause:
		return j.stmt(c.Stmt, sc, r.in, r.next)
	case *syntax.CoprocClause:
		return j.stmt(c.Stmt, sc, r.in, r.next)
	case *syntax.TestDecl:
		return j.stmt(c.Body, sc.sub(), r.in, nil)
	case *syntax.IfClause, *syntax.WhileClause, *syntax.ForClause, *syntax.CaseClause:
		return j.flow(c, r)
	case *syntax.TestClause, *syntax.ArithmCmd, *syntax.LetClause:
		j.within(c, sc)
	}
	return stream{}
}

// flow goes through all branches, one after the other.
func (j *judge) flow(c syntax.Command, r ran) stream {
	sc, in := r.scope, r.in
	switch c := c.(type) {
	case *syntax.IfClause:
		out := j.stmts(c.Cond, sc, in).then(j.stmts(c.Then, sc, in))
		if c.Else != nil {
			out = out.then(j.flow(c.Else, r))
		}
		return out
	case *syntax.WhileClause:
		if endless(c) {
			j.report(ResourceExhaustion, "an endless loop that starts processes and waits for none")
		}
		j.stmts(c.Cond, sc, in)
		return j.stmts(c.Do, sc, in)
	case *syntax.ForClause:
		return j.loop(c, r)
	case *syntax.CaseClause:
		j.within(c.Word, sc)
		var out stream
		for _, item := range c.Items {
			out = out.then(j.stmts(item.Stmts, sc, in))
		}
		return out
	}
	return stream{}
}

func (j *judge) loop(c *syntax.ForClause, r ran) stream {
	sc := r.scope
	iter, ok := c.Loop.(*syntax.WordIter)
	if !ok {
		j.within(c.Loop, sc)
		return j.stmts(c.Do, sc, r.in)
	}
	for _, w := range iter.Items {
		j.within(w, sc)
	}
	items := j.fields(sc, iter.Items...)
	if len(items) == 0 || len(items) > maxRounds {
		items = append(items[:min(len(items), maxRounds)], dark+iter.Name.Value+darkEnd)
	}
	var out stream
	for _, item := range items {
		sc.set(iter.Name.Value, item)
		out = out.then(j.stmts(c.Do, sc, r.in))
		if j.found != nil {
			break
		}
	}
	return out
}

// pipe runs each stage in a shell of its own and hands on what it prints. A
// stage is told what comes after it: a secret that is only counted is no leak.
func (j *judge) pipe(s *syntax.Stmt, r ran) stream {
	stages := flatten(s, nil)
	next := make([][]string, 0, len(stages))
	for _, stage := range stages[1:] {
		next = append(next, flat(stage))
	}
	in := r.in
	for i, stage := range stages {
		in = j.stmt(stage, r.scope.sub(), in, append(next[i:len(next):len(next)], r.next...))
	}
	return in
}

// flatten turns a | b | c, which the parser nests, into its stages.
func flatten(s *syntax.Stmt, stages []*syntax.Stmt) []*syntax.Stmt {
	b, ok := s.Cmd.(*syntax.BinaryCmd)
	if !ok || b.Op != syntax.Pipe && b.Op != syntax.PipeAll {
		return append(stages, s)
	}
	return flatten(b.Y, flatten(b.X, stages))
}

// declare remembers a function and judges it for itself: it was written to be
// called.
func (j *judge) declare(c *syntax.FuncDecl, sc *scope) {
	if c.Name == nil {
		return
	}
	if bomb(c.Name.Value, c.Body) {
		j.report(ResourceExhaustion, "fork bomb "+c.Name.Value+"()")
		return
	}
	sc.funcs[c.Name.Value] = c.Body
	inner := sc.sub()
	delete(inner.funcs, c.Name.Value)
	inner.argsSet = false
	j.stmt(c.Body, inner, stream{}, nil)
}

func (j *judge) declClause(c *syntax.DeclClause, r ran) {
	j.loading(c, r.scope)
	for _, a := range c.Args {
		j.assign(a, r.scope, c.Variant.Value != "local")
	}
	j.exports(c, r)
}

// assign gives a variable its value. One for a single command is judged more
// mildly than one that lasts.
func (j *judge) assign(a *syntax.Assign, sc *scope, lasting bool) {
	if a.Name == nil || a.Naked {
		return
	}
	name := a.Name.Value
	if a.Array != nil {
		var list []string
		for _, e := range a.Array.Elems {
			list = append(list, j.fields(sc, e.Value)...)
		}
		sc.vars[name] = expand.Variable{Set: true, Kind: expand.Indexed, List: list}
		return
	}
	value := j.whole(sc, a.Value)
	j.variable(name, value, lasting)
	if a.Append {
		value = sc.vars[name].Str + value
	}
	if a.Index == nil {
		sc.set(name, value)
	}
}

// bomb is a function that starts itself more than once, or in the background.
func bomb(name string, body *syntax.Stmt) bool {
	found := false
	syntax.Walk(body, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.BinaryCmd:
			if n.Op == syntax.Pipe && calls(n.X, name) && calls(n.Y, name) {
				found = true
			}
		case *syntax.Stmt:
			if n.Background && calls(n, name) {
				found = true
			}
		}
		return !found
	})
	return found
}

func calls(s *syntax.Stmt, name string) bool {
	found := false
	syntax.Walk(s, func(n syntax.Node) bool {
		if c, ok := n.(*syntax.CallExpr); ok && len(c.Args) > 0 {
			found = found || c.Args[0].Lit() == name
		}
		return !found
	})
	return found
}

// endless is `while true` that starts processes in the background and never
// waits.
func endless(c *syntax.WhileClause) bool {
	if len(c.Cond) != 1 {
		return false
	}
	if w := flat(c.Cond[0]); len(w) != 1 || w[0] != "true" && w[0] != ":" {
		return false
	}
	starts := false
	for _, s := range c.Do {
		starts = starts || s.Background
		if w := flat(s); len(w) > 0 && strings.Contains(" sleep wait read break exit return ", " "+w[0]+" ") {
			return false
		}
	}
	return starts
}
