package tamper

import "slices"

// want is a value that is given a name which says that it has to come out.
type want struct {
	name  string
	value []word
	line  int
}

// assigned are the wants among words.
func assigned(words []word) []want {
	var all []want
	for i, w := range words {
		if w.kind != name || !wanted(w.text) || i+2 >= len(words) || !words[i+1].is(":=", "=", ":") {
			continue
		}
		if value := assignedTo(words[i+2:]); len(values(value)) > 0 {
			all = append(all, want{w.text, value, w.line})
		}
	}
	return all
}

// assignedTo is the value that words begin with: to the end of the line, or of
// the bracket that it opens.
func assignedTo(words []word) []word {
	depth := 0
	for i, w := range words {
		switch {
		case depth == 0 && (w.line != words[0].line || w.is(",", ";")):
			return words[:i]
		case w.kind == sign && w.is("(", "[", "{"):
			depth++
		case w.kind == sign && w.is(")", "]", "}"):
			if depth--; depth < 0 {
				return words[:i]
			}
		}
	}
	return words
}

// wants reports wanted values that changed alone.
func (r *report) wants(p pair) {
	was, now := assigned(p.was.words), assigned(p.now.words)
	if len(was) != len(now) || len(was) == 0 || r.explained(p) {
		return
	}
	for i := range was {
		a, b := values(was[i].value), values(now[i].value)
		if was[i].name != now[i].name || a.same(b) || inRow(p.was, was[i].line) {
			continue
		}
		r.onBoth(p, aligned{check{line: was[i].line, end: was[i].line}, check{line: now[i].line, end: now[i].line}}, ExpectedChanged,
			"what "+short(p.now.title(), maxName)+" wants is another value, and nothing that it tests has changed")
	}
}

func inRow(t *test, line int) bool {
	return slices.ContainsFunc(t.rows, func(r row) bool { return r.line == line })
}

// rows compares the cases of a table.
func (r *report) rows(p pair, ev *evidence) {
	left, now := unlike(p.was.rows, p.now.rows), unlike(p.now.rows, p.was.rows)
	var gone []row
	for _, w := range left {
		i := slices.IndexFunc(now, func(n row) bool { return len(w.expected) > 0 && joined(n.inputs) == joined(w.inputs) })
		if i < 0 {
			gone = append(gone, w)
			continue
		}
		if squeezed(w.expected) != squeezed(now[i].expected) && !r.explainedRow(p) {
			r.onBoth(p, aligned{check{line: w.line, end: w.line}, check{line: now[i].line, end: now[i].line}}, ExpectedChanged,
				"a case of "+short(p.now.title(), maxName)+" wants another value, and nothing that it tests has changed")
		}
		now = slices.Delete(now, i, i+1)
	}
	for _, w := range gone[min(len(now), len(gone)):] { // the others are fixtures that changed
		if !r.product.outlived(w.words()) && !ev.hasRow(w) {
			r.add(Finding{
				p.was.page.path, TestDeleted, pick(r.change(p.was.page.path).Before, false, w.line),
				"a case of " + short(p.was.title(), maxName) + " is gone",
			})
		}
	}
}

// unlike are the rows, of one table, that another does not have.
func unlike(rows, others []row) []row {
	same := map[string]int{}
	for _, o := range others {
		same[joined(o.words())]++
	}
	var some []row
	for _, w := range rows {
		key := joined(w.words())
		if same[key]--; same[key] < 0 && len(some) < 300 {
			some = append(some, w)
		}
	}
	return some
}

// explainedRow is explained, but for the rows: what others put in says
// nothing about this one.
func (r *report) explainedRow(p pair) bool {
	return r.product.explains(p.now) || r.product.explains(p.was) || len(r.product.inputs) > 0
}

// hasRow tells whether a case is in another table now, or a check by itself.
func (ev *evidence) hasRow(w row) bool {
	own := values(w.words())
	if len(own) == 0 {
		own = literals(w.words())
	}
	return ev.written(values(w.words())) || slices.ContainsFunc(ev.rows, own.within) || slices.ContainsFunc(ev.checks, func(p proof) bool { return own.within(p.bag) })
}
