package guard

import (
	"io"
	"strings"

	"mvdan.cc/sh/v3/expand"
	"mvdan.cc/sh/v3/syntax"
)

// within judges the commands that stand inside words, and remembers what they
// would print. It returns what they read.
func (j *judge) within(node syntax.Node, sc *scope) stream {
	var sum stream
	syntax.Walk(node, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.CmdSubst:
			inner := sc.sub()
			inner.word = true
			out := j.stmts(n.Stmts, inner, stream{})
			j.printed[n] = out
			sum = sum.also(out)
			return false
		case *syntax.ProcSubst:
			sum = sum.also(j.stmts(n.Stmts, sc.sub(), stream{}))
			return false
		case *syntax.Stmt:
			return false
		}
		return true
	})
	return sum
}

// originOf is where the variables in a command's words came from.
func (j *judge) originOf(c *syntax.CallExpr, sc *scope) stream {
	var sum stream
	if len(sc.origins) == 0 {
		return sum
	}
	syntax.Walk(c, func(n syntax.Node) bool {
		if p, ok := n.(*syntax.ParamExp); ok && p.Param != nil {
			o := sc.origins[p.Param.Value]
			sum.fetched, sum.decoded = sum.fetched || o.fetched, sum.decoded || o.decoded
		}
		return true
	})
	return sum
}

// fields are the words as the command would get them. What is unknown in them
// is marked.
func (j *judge) fields(sc *scope, words ...*syntax.Word) []string {
	var all []string
	for _, w := range words {
		if len(all) > maxFields {
			break
		}
		if plain, ok := literal(w); ok {
			all = append(all, plain)
			continue
		}
		all = append(all, j.expanded(sc, w)...)
	}
	return all
}

// literal is the quick way, and the usual one.
func literal(w *syntax.Word) (string, bool) {
	if len(w.Parts) != 1 {
		return "", false
	}
	switch p := w.Parts[0].(type) {
	case *syntax.Lit:
		return p.Value, !strings.ContainsAny(p.Value, `\~{`)
	case *syntax.SglQuoted:
		return p.Value, !p.Dollar
	}
	return "", false
}

func (j *judge) expanded(sc *scope, w *syntax.Word) []string {
	if bursts(w) {
		return []string{nothing}
	}
	fields, err := expand.Fields(j.expander(sc, w), w)
	if err != nil {
		j.unread = true
		return []string{nothing}
	}
	return fields
}

// whole is a word where nothing is split: an assignment, a redirection.
func (j *judge) whole(sc *scope, w *syntax.Word) string {
	if w == nil {
		return ""
	}
	if plain, ok := literal(w); ok {
		return plain
	}
	if bursts(w) {
		return nothing
	}
	s, err := expand.Literal(j.expander(sc, w), w)
	if err != nil {
		j.unread = true
		return nothing
	}
	return s
}

func (j *judge) document(sc *scope, w *syntax.Word) string {
	if len(w.Parts) > maxFields {
		return nothing
	}
	s, err := expand.Document(j.expander(sc, w), w)
	if err != nil {
		return nothing
	}
	return s
}

func (j *judge) expander(sc *scope, w *syntax.Word) *expand.Config {
	return &expand.Config{
		Env: env{scope: sc, j: j, defaulted: defaulted(w)},
		CmdSubst: func(out io.Writer, n *syntax.CmdSubst) error {
			text := nothing
			if s := j.printed[n]; s.known && len(s.text) <= maxValue {
				text = s.text
			}
			_, err := io.WriteString(out, text)
			return err
		},
		ProcSubst: func(*syntax.ProcSubst) (string, error) { return "/dev/fd/63", nil },
	}
}

// defaulted finds ${X:-/}: an X that nobody set is taken to be unset, if the
// default says more than nothing.
func defaulted(w *syntax.Word) map[string]bool {
	var names map[string]bool
	syntax.Walk(w, func(n syntax.Node) bool {
		p, ok := n.(*syntax.ParamExp)
		if !ok || p.Exp == nil || p.Param == nil || p.Exp.Word == nil {
			return true
		}
		switch p.Exp.Op { //nolint:exhaustive // the operators that have a default, of many
		case syntax.DefaultUnset, syntax.DefaultUnsetOrNull, syntax.AssignUnset, syntax.AssignUnsetOrNull:
			if names == nil {
				names = map[string]bool{}
			}
			names[p.Param.Value] = true
		}
		return true
	})
	return names
}

// bursts keeps {1..1000000}, {a,b}{a,b}{a,b}… and long replacements in long
// values from being written out.
func bursts(w *syntax.Word) bool {
	n := 0
	long := w.End().Offset()-w.Pos().Offset() > 500
	syntax.Walk(w, func(node syntax.Node) bool {
		if p, ok := node.(*syntax.ParamExp); ok && p.Repl != nil && long {
			n += 100
		}
		if lit, ok := node.(*syntax.Lit); ok {
			n += strings.Count(lit.Value, "{")
			if strings.Contains(lit.Value, "{") && strings.Contains(lit.Value, "..") {
				n += 100
			}
		}
		return n < 100
	})
	return n > 4
}

// flat is a tree of words as it stands in the source, for commands that are
// only named: what comes next in a pipe.
func flat(s *syntax.Stmt) []string {
	call, ok := s.Cmd.(*syntax.CallExpr)
	if !ok {
		return nil
	}
	var words []string
	for _, w := range call.Args {
		if plain, ok := literal(w); ok {
			words = append(words, plain)
			continue
		}
		var b strings.Builder
		_ = syntax.NewPrinter().Print(&b, w) // a Builder takes everything
		words = append(words, strings.Trim(b.String(), `'"`))
	}
	return words
}
