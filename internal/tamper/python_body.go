package tamper

import (
	"cmp"
	"strings"
)

// snakeBody reads the body of a test or helper.
type snakeBody struct {
	*snake
	test *test
}

// block reads statements; dead says why they do not count.
func (b *snakeBody) block(list []*statement, dead string) {
	for i, st := range list {
		if len(st.words) == 0 {
			continue
		}
		b.statement(st, list[i+1:], dead)
		if st.words[0].is("return") && dead == "" && i+1 < len(list) {
			dead = "a return stands before it"
		}
	}
}

func (b *snakeBody) statement(st *statement, next []*statement, dead string) {
	head := st.words
	if head[0].is("async") && len(head) > 1 {
		head = head[1:]
	}
	switch {
	case head[0].is("assert"):
		b.asserts(st, head[1:], dead)
	case head[0].is("if", "elif", "while"):
		b.branch(st, head[1:], dead)
	case head[0].is("for"):
		b.loop(head)
		b.block(st.body, dead)
	case head[0].is("try"):
		b.block(st.body, cmp.Or(dead, swallows(next)))
	case head[0].is("with"):
		b.calls(head, st, dead)
		b.block(st.body, cmp.Or(dead, suppressed(head)))
	case head[0].is("raise"):
		if all := joined(head); strings.Contains(all, "SkipTest") {
			b.test.skips = append(b.test.skips, mark{st.line, all})
		} else if strings.Contains(all, "AssertionError") {
			b.put(check{line: st.line, end: st.end, force: partly, subject: head, words: head, dead: dead, what: "raise AssertionError"})
		}
	case head[0].is("def", "class", "else", "except", "finally", "match", "case"):
		b.block(st.body, dead)
	default:
		b.remember(head)
		b.calls(head, st, dead)
	}
}

func (b *snakeBody) put(c check) { b.test.checks = append(b.test.checks, c) }

func (b *snakeBody) remember(head []word) {
	if len(head) > 2 && head[1].is("=") && head[2].is("[", "(", "{") {
		b.lists[head[0].text] = head[2:]
	}
}

// swallows says how a try forgets what fails in it.
func swallows(next []*statement) string {
	for _, st := range next {
		if len(st.words) == 0 || !st.words[0].is("except") {
			break
		}
		caught := joined(st.words[1:])
		wide := caught == "" || strings.Contains(caught, "Exception") || strings.Contains(caught, "AssertionError")
		body := flatten(st.body, nil)
		fails := false
		for _, w := range body {
			fails = fails || w.is("raise", "assert", "fail") || strings.HasPrefix(w.text, "assert")
		}
		if wide && !fails {
			return "its failure is caught"
		}
	}
	return ""
}

func suppressed(head []word) string {
	all := joined(head)
	if strings.Contains(all, "suppress (") && (strings.Contains(all, "AssertionError") || strings.Contains(all, "Exception")) {
		return "its failure is suppressed"
	}
	return ""
}

func (b *snakeBody) branch(st *statement, condition []word, dead string) {
	plain := len(b.test.checks)
	why := ""
	if never(condition) {
		why = "it stands under if " + short(spoken(condition), 40)
	} else if elsewhere(condition) {
		why = "it is checked only if " + short(spoken(condition), 40)
	}
	b.block(st.body, cmp.Or(dead, why))
	n := len(st.body)
	if n > 0 && begins(st.body[n-1].words, "return") && plain == len(b.test.checks) && dead == "" {
		b.test.exits = append(b.test.exits, mark{st.line, spoken(condition)})
	}
}

// asserts makes a check of each part of an assert.
func (b *snakeBody) asserts(st *statement, words []word, dead string) {
	if parts := split(words, ","); len(parts) > 1 {
		words = parts[0]
	}
	made := check{line: st.line, end: st.end, dead: dead, words: words, subject: words, what: "assert"}
	if inner := inside(words); len(inner) < len(words) && len(list(inner)) > 1 {
		b.put(made) // a tuple is always true
		return
	}
	words = inside(words)
	if parts := split(words, "or"); len(parts) > 1 {
		for _, part := range parts {
			if f, _, _ := pythonForce(part); f == vain {
				made.what = "assert … or " + short(spoken(part), 30)
				b.put(made)
				return
			}
		}
		made.force = partly - 2
		b.put(made)
		return
	}
	for _, part := range split(words, "and") {
		made.words = part
		made.force, made.subject, made.expected = pythonForce(part)
		made.slack = pythonSlack(part)
		made.none = begins(part, "not") || strings.Contains(joined(part), "not in ") || strings.HasSuffix(joined(part), "== False") || strings.HasSuffix(joined(part), "is False")
		made.bound = bound(part)
		b.put(made)
	}
}

func pythonForce(part []word) (force, []word, []word) {
	part = inside(part)
	if len(part) > 1 && part[0].is("not") {
		return denied(part[1:])
	}
	if sides := split(part, "is"); len(sides) == 2 && len(sides[1]) > 0 {
		switch b := sides[1]; {
		case b[0].is("not"):
			return presence, sides[0], b
		case nothing(b):
			return exact, sides[0], b
		default:
			return equality(sides[0], b)
		}
	}
	switch {
	case len(split(part, "==")) > 2:
		return exact, part, nil
	case len(part) > 2 && part[0].is("all"):
		if f, s, _ := required(part[2 : len(part)-1]); f == exact {
			return exact, s, nil
		}
		return partly, part, nil
	default:
		return required(part)
	}
}

// denied is what must not be so.
func denied(part []word) (force, []word, []word) {
	f, subject, expected := pythonForce(part)
	if f == vain && !never(part) {
		return vain, subject, expected
	}
	if f == exact {
		f = partly
	}
	return max(f, presence), subject, expected
}

// pythonSlack is the tolerance of an approx.
func pythonSlack(words []word) float64 {
	for i, w := range words {
		if !w.is("approx", "isclose", "allclose", "assert_allclose") {
			continue
		}
		for j := i; j+2 < len(words); j++ {
			if words[j].is("abs", "rel", "atol", "rtol", "abs_tol", "rel_tol") && words[j+1].is("=") {
				return value(words[j+2:])
			}
		}
	}
	return 0
}

// loop takes the rows of a loop over a list.
func (b *snakeBody) loop(head []word) {
	for i, w := range head {
		if w.is("in") && i > 0 {
			b.rows(head[i+1:], true)
			return
		}
	}
}

// parameters takes the rows of a parametrize.
func (b *snakeBody) parameters(words []word) {
	for i, w := range words {
		if !w.is("parametrize", "expand", "parameterized", "data") {
			continue
		}
		if args := arguments(words[i:]); len(args) > 1 && w.is("parametrize") {
			b.rows(args[1], true)
		} else if len(args) == 1 {
			b.rows(args[0], true)
		} else if w.is("data") {
			for _, arg := range args {
				b.rows([]word{arg[0]}, false)
			}
		}
		return
	}
}

// rows takes the cells of a list of rows.
func (b *snakeBody) rows(words []word, many bool) {
	if len(words) == 1 && many {
		words = b.lists[words[0].text]
	}
	b.test.rows = append(b.test.rows, rowsOf(words)...)
}

// rowsOf reads a list literal.
func rowsOf(words []word) []row {
	if len(words) < 2 || !words[0].is("[", "(", "{") {
		return nil
	}
	match := brackets(words)
	if match[0] != len(words)-1 {
		return nil
	}
	var rows []row
	for _, cell := range list(words[1 : len(words)-1]) {
		rows = append(rows, rowOf(cell))
	}
	return rows
}

func rowOf(cell []word) row {
	r := row{line: cell[0].line}
	if pair := split(cell, ":"); len(pair) == 2 && !cell[0].is("{") { // of a dictionary
		return row{cell[0].line, pair[0], pair[1]}
	}
	if cell[0].is("pytest") || cell[0].is("param") || cell[0].is("case") {
		cell = append([]word{{sign, "(", cell[0].line}}, append(joinedArgs(arguments(cell)), word{sign, ")", cell[0].line})...)
	}
	if len(cell) < 2 || !cell[0].is("[", "(", "{") {
		r.inputs = cell
		return r
	}
	cells := list(cell[1 : len(cell)-1])
	for i, c := range cells {
		switch named := split(c, ":", "="); {
		case len(named) == 2 && wanted(strings.Trim(joined(named[0]), `"`)), len(named) != 2 && i > 0 && i == len(cells)-1:
			r.expected = append(r.expected, c...)
		default:
			r.inputs = append(r.inputs, c...)
		}
	}
	return r
}

func joinedArgs(args [][]word) []word {
	var all []word
	for _, arg := range args {
		if len(arg) > 1 && arg[0].is("id", "marks") && arg[1].is("=") {
			continue
		}
		if len(all) > 0 {
			all = append(all, word{sign, ",", arg[0].line})
		}
		all = append(all, arg...)
	}
	return all
}
