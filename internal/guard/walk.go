package guard

import (
	"strconv"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/ralph-loop/ralph/internal/pattern"
)

func (j *judge) statements(list []*syntax.Stmt, sc *scope, in string) (out string) {
	for _, s := range list {
		out = joinOutput(out, j.statement(s, sc, in))
	}
	return out
}

func (j *judge) statementsIn(node syntax.Node, c call) (out string) {
	syntax.Walk(node, func(n syntax.Node) bool {
		s, ok := n.(*syntax.Stmt)
		if ok {
			out = joinOutput(out, j.statement(s, c.scope, c.stdin))
		}
		return !ok
	})
	return out
}

func joinOutput(a, b string) string {
	if a == "" || b == "" {
		return a + b
	}
	return a[:min(len(a), maxText)] + "\n" + b[:min(len(b), maxText)]
}

func (j *judge) statement(s *syntax.Stmt, sc *scope, in string) string {
	defer func() { j.depth-- }()
	if !j.begin() {
		return ""
	}
	c := call{scope: sc, stdin: in}
	for _, r := range s.Redirs {
		j.redirect(r, &c)
	}
	out := j.command(s.Cmd, c)
	if c.outputFile == "" {
		return out
	}
	if strings.Contains(out, markStart+secretOutput.Name) && c.outputFile != "/dev/null" {
		j.checkShown(out)
	}
	file := j.fileKey(c.outputFile, sc)
	j.files[file] = joinOutput(j.files[file], out)
	return ""
}

func (j *judge) command(cmd syntax.Command, c call) string {
	sc := c.scope
	switch cmd := cmd.(type) {
	case nil:
		return ""
	case *syntax.CallExpr:
		for _, a := range cmd.Assigns {
			c.env += j.assign(a, sc, len(cmd.Args) == 0) + " "
		}
		return j.words(j.splitWords(sc, cmd.Args...), c)
	case *syntax.DeclClause: // export and its like
		for _, a := range cmd.Args {
			j.assign(a, sc, true)
		}
		return ""
	case *syntax.BinaryCmd:
		if cmd.Op == syntax.Pipe || cmd.Op == syntax.PipeAll {
			return j.statement(cmd.Y, sc.child(), j.statement(cmd.X, sc.child(), c.stdin))
		}
	case *syntax.Subshell:
		c.scope = sc.child()
	case *syntax.FuncDecl:
		var text strings.Builder
		_ = syntax.NewPrinter().Print(&text, cmd) // a Builder never fails
		if m := forkBomb.FindStringSubmatch(text.String()); m != nil && m[1] == m[2] && m[2] == m[3] {
			j.report(ResourceExhaustion, "fork bomb "+m[1]+"()", "")
		}
		c.scope = sc.child()
	case *syntax.ForClause:
		if iter, ok := cmd.Loop.(*syntax.WordIter); ok {
			return j.loop(iter, cmd.Do, c)
		}
	}
	return j.statementsIn(cmd, c)
}

var forkBomb = pattern.Of(`([\w.:]+)\(\)\s*\{\s*([\w.:]+)\s*\|\s*([\w.:]+)\s*&`)

func (j *judge) loop(over *syntax.WordIter, do []*syntax.Stmt, c call) (out string) {
	items := j.splitWords(c.scope, over.Items...)
	if len(items) == 0 || len(items) > maxRounds {
		items = append(items[:min(len(items), maxRounds)], markStart+over.Name.Value+markEnd)
	}
	for _, item := range items {
		c.scope.set(over.Name.Value, item)
		out = joinOutput(out, j.statements(do, c.scope, c.stdin))
	}
	return out
}

// assign judges a variable like a command: "export NAME value", or "env NAME value" for one command.
func (j *judge) assign(a *syntax.Assign, sc *scope, lasting bool) string {
	if a.Name == nil || a.Naked {
		j.splitWords(sc, a.Value)
		return ""
	}
	name := a.Name.Value
	if a.Array != nil {
		var list []*syntax.Word
		for _, e := range a.Array.Elems {
			list = append(list, e.Value)
		}
		sc.set(name, strings.Join(j.splitWords(sc, list...), wordGap))
		return ""
	}
	value := j.unsplitWord(sc, a.Value, escape)
	verb := map[bool]string{false: "env", true: "export"}[lasting]
	j.checkRules(&call{scope: sc, name: verb, args: []string{name, "--", value}})
	if lasting && a.Index == nil {
		sc.set(name, value)
	}
	return name + "=" + value
}

func (j *judge) redirect(r *syntax.Redirect, c *call) {
	target := j.unsplitWord(c.scope, r.Word, escape)
	_, err := strconv.Atoi(strings.TrimSuffix(target, "-"))
	switch {
	case r.Hdoc != nil:
		c.stdin = j.unsplitWord(c.scope, r.Hdoc, quotedEscape)
	case r.Op == syntax.WordHdoc:
		c.stdin = target
	case r.Op == syntax.RdrIn:
		c.stdin = j.fileText(target, c.scope)
	case (r.Op == syntax.DplIn || r.Op == syntax.DplOut) && (err == nil || target == "-"):
	default:
		if r.Op != syntax.AppOut && r.Op != syntax.AppAll {
			j.checkRules(&call{scope: c.scope, name: "truncate", args: []string{"--", target}})
			delete(j.files, j.fileKey(target, c.scope))
		}
		j.checkWrite(target, c.scope)
		if r.N == nil || r.N.Value == "1" {
			c.outputFile = target
		}
	}
}
