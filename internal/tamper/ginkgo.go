package tamper

import (
	"go/ast"
	"strings"
)

// ginkgo's words: P and X before them skip, F before them skips the others.
var (
	specGroups = set("Describe Context When DescribeTable DescribeTableSubtree")
	specTests  = set("It Specify Entry")
)

// specs reads var _ = Describe(…): tests that are no functions.
func (g *gopher) specs(n ast.Node, group string, skips []mark) bool {
	found := false
	ast.Inspect(n, func(n ast.Node) bool {
		c, is := n.(*ast.CallExpr)
		if !is {
			return true
		}
		id, is := c.Fun.(*ast.Ident)
		if !is || len(c.Args) == 0 {
			return true
		}
		called, how := plainSpec(id.Name)
		if !specGroups[called] && !specTests[called] {
			return true
		}
		found = true
		g.spec(c, called, how, specScope{group, skips})
		return false
	})
	return found
}

// specScope is what surrounds a test of ginkgo.
type specScope struct {
	group string
	skips []mark
}

// plainSpec takes the letter off that says whether it runs.
func plainSpec(called string) (plain string, how byte) {
	if specGroups[called] || specTests[called] {
		return called, 0
	}
	if rest := called[min(1, len(called)):]; strings.ContainsAny(called[:min(1, len(called))], "PXF") && (specGroups[rest] || specTests[rest]) {
		return rest, called[0]
	}
	return called, 0
}

func (g *gopher) spec(c *ast.CallExpr, called string, how byte, in specScope) {
	line := g.line(c.Pos())
	title := strings.Trim(joined(g.of(c.Args[0])), `"`)
	switch how {
	case 'P', 'X':
		in.skips = append(append([]mark{}, in.skips...), mark{line, string(how) + called})
	case 'F':
		g.halts = append(g.halts, mark{line, "only: F" + called})
	}
	if specGroups[called] {
		inner := strings.TrimPrefix(in.group+" > "+title, " > ")
		for _, arg := range c.Args[1:] {
			g.specs(arg, inner, in.skips)
		}
		return
	}
	t := &test{group: in.group, name: title, line: line, end: g.line(c.End()), words: g.of(c), spec: true}
	t.skips = append(t.skips, in.skips...)
	b := &goBody{gopher: g, test: t, lists: map[string]*ast.CompositeLit{}}
	for _, arg := range c.Args[1:] {
		if body, is := arg.(*ast.FuncLit); is {
			b.block(body.Body.List)
		}
	}
	g.tests = append(g.tests, t)
}

// output is what an example has to print, as its remark says.
func (g *gopher) output(t *test) {
	for i, note := range g.remarks {
		head, rest, found := strings.Cut(strings.TrimLeft(note.text, "/ \t"), ":")
		if note.line < t.line || note.line > t.end || !found || !strings.EqualFold(strings.TrimPrefix(strings.ToLower(head), "unordered "), "output") {
			continue
		}
		for _, more := range g.remarks[i+1:] {
			if more.line <= t.end {
				rest += "\n" + strings.TrimLeft(more.text, "/ \t")
			}
		}
		wants := []word{{text, strings.TrimSpace(rest), note.line}}
		t.checks = append(t.checks, check{line: note.line, end: t.end, force: exact, subject: t.words, expected: wants, words: wants, what: "Output"})
		return
	}
}
