package tamper

import "strings"

// scribe reads a JavaScript or TypeScript file.
type scribe struct {
	*page
	match   []int
	lists   map[string]int // where the list begins that a name holds
	at      *test          // the test or helper that is being read
	group   string
	skips   []mark
	deads   []string // why what is read does not count, innermost last
	claimed []bool   // words that are in a test or helper
	around  []row    // the table that tests are made from
	until   int      // where it ends
}

func (p *page) readScript(src []byte) {
	p.words, p.remarks = scriptWords(string(src))
	s := &scribe{page: p, match: brackets(p.words), lists: map[string]int{}, claimed: make([]bool, len(p.words))}
	s.definitions()
	tests := p.collects || aside(p.path)
	if tests {
		s.remember()
		s.read(0, len(p.words), 0)
		s.functions()
	}
	for i, w := range p.words {
		if !s.claimed[i] {
			p.outside = append(p.outside, w)
		}
	}
}

func (s *scribe) w(i int) word {
	if i < 0 || i >= len(s.words) {
		return word{kind: sign}
	}
	return s.words[i]
}

// remember notes the lists that names hold.
func (s *scribe) remember() {
	for i, w := range s.words {
		if w.is("=") && s.w(i+1).is("[") && i > 0 {
			called := s.w(i - 1).text
			for j := i - 1; j > i-12 && j > 0; j-- {
				if s.w(j).is("const", "let", "var") {
					called = s.w(j + 1).text
				}
			}
			s.lists[called] = i + 1
		}
	}
}

var (
	groupWords = set("describe context suite fdescribe xdescribe fcontext xcontext")
	testWords  = set("it test specify fit xit xtest ftest xspecify bench")
)

const maxDepth = 60

// read goes through words and stops at what defines tests and checks.
func (s *scribe) read(from, to, depth int) {
	for i := from; i < to; {
		i = s.step(i, to, depth)
	}
}

// step reads what begins at a word and gives where to go on.
func (s *scribe) step(i, to, depth int) int {
	w := s.words[i]
	if s.at == nil && w.is("forEach", "map") && i > 1 {
		s.tableAround(i)
	}
	if w.kind != name || s.w(i-1).is(".", "?.") || depth > maxDepth {
		return i + 1
	}
	switch {
	case (groupWords[w.text] || testWords[w.text]) && s.at == nil, w.is("Deno") && s.w(i+2).is("test"):
		if next := s.unit(i, depth); next > i {
			return next
		}
	case s.at == nil:
		s.tableAround(i)
	case w.is("if"):
		return s.branch(i, to, depth)
	case w.is("try"):
		return s.try(i, to, depth)
	case w.is("for"):
		s.loop(i)
	case w.is("return"):
		s.leave(i, to)
	}
	if s.at != nil && depth <= maxDepth {
		return s.inTest(i, to)
	}
	return i + 1
}

// chain is a.b(…).c`…`: its names, the first bracket of each call and the
// word behind it.
type chain struct {
	names []string
	calls []int // by name: the bracket that follows it, or -1
	end   int
}

func (s *scribe) chain(i int) chain {
	c := chain{end: i}
	for {
		c.names, c.calls = append(c.names, s.w(c.end).text), append(c.calls, -1)
		c.end++
		for s.link(&c) {
		}
		if !s.w(c.end).is(".", "?.") || s.w(c.end+1).kind != name {
			return c
		}
		c.end++
	}
}

// link passes what stands behind a name of a chain: a call, an index, the
// types of a call.
func (s *scribe) link(c *chain) bool {
	last := len(c.names) - 1
	w := s.w(c.end)
	switch {
	case w.is("!") && s.w(c.end+1).is(".", "?.", "("): // not null, says TypeScript
		c.end++
	case w.is("(") && s.match[c.end] > 0:
		if c.calls[last] < 0 || c.names[last] == "each" {
			c.calls[last] = c.end
		}
		c.end = s.match[c.end] + 1
	case w.kind == text && c.names[last] == "each":
		c.end++
	case w.is("<") && s.generic(c.end) > 0:
		c.end = s.generic(c.end)
	case w.is("[") && s.match[c.end] > 0:
		c.end = s.match[c.end] + 1
	default:
		return false
	}
	return true
}

// generic is where type arguments end that a call follows; 0 where there are
// none.
func (s *scribe) generic(i int) int {
	depth := 0
	for j := i; j < len(s.words) && j < i+40; j++ {
		switch {
		case s.words[j].is("<"):
			depth++
		case s.words[j].is(">"):
			if depth--; depth == 0 {
				if s.w(j + 1).is("(") {
					return j + 1
				}
				return 0
			}
		case s.words[j].is(";", "&&", "||", ")", "=>"):
			return 0
		}
	}
	return 0
}

// unit reads a test or a group; the place itself where it is none.
func (s *scribe) unit(i, depth int) int {
	c := s.chain(i)
	last := c.end - 1
	if !s.w(last).is(")") || s.match[last] < 0 {
		return i
	}
	open := s.match[last]
	called := joined(firstArgument(s.words[open+1 : last]))
	if called == "" {
		return i
	}
	for j := i; j < c.end; j++ {
		s.claimed[j] = true
	}
	how := strings.Join(c.names, ".")
	stops, only := modified(c.names)
	line := s.words[i].line
	if groupWords[c.names[0]] || len(c.names) > 1 && c.names[1] == "describe" {
		s.within(how, called, stops, line, func() { s.read(open+1, last, depth+1) })
		if only {
			s.halts = append(s.halts, mark{line, "only: " + how})
		}
		return c.end
	}
	t := &test{group: s.group, name: strings.Trim(called, `"`), line: line, end: s.words[last].line, words: s.words[open+1 : last]}
	t.skips = append(t.skips, s.skips...)
	if stops {
		t.skips = append(t.skips, mark{line, how})
	}
	if only {
		t.only = append(t.only, mark{line, how})
	}
	t.empty = len(list(s.words[open+1:last])) == 1 && c.names[len(c.names)-1] == "todo"
	s.table(t, c, i)
	if i < s.until {
		t.rows = append(t.rows, s.around...)
	}
	s.at = t
	s.deads = nil
	s.read(open+1, last, depth+1)
	s.at = nil
	s.tests = append(s.tests, t)
	return c.end
}

func (s *scribe) within(how, called string, stops bool, line int, do func()) {
	group, skips := s.group, s.skips
	s.group = strings.TrimPrefix(group+" > "+strings.Trim(called, `"`), " > ")
	if stops {
		s.skips = append(append([]mark{}, skips...), mark{line, how})
	}
	do()
	s.group, s.skips = group, skips
}

func firstArgument(words []word) []word {
	if args := list(words); len(args) > 0 {
		return args[0][:min(len(args[0]), 30)]
	}
	return nil
}

// modified reads what stands behind it or describe.
func modified(names []string) (stops, only bool) {
	first := names[0]
	stops = strings.HasPrefix(first, "x")
	only = strings.HasPrefix(first, "f")
	for _, n := range names[1:] {
		switch n {
		case "skip", "todo", "skipIf", "fails", "failing", "fixme", "ignore", "runIf":
			stops = true
		case "only":
			only = true
		}
	}
	return stops, only
}

// table takes the rows of .each.
func (s *scribe) table(t *test, c chain, i int) {
	for j := i; j < c.end; j++ {
		if !s.words[j].is("each", "for") || !s.w(j-1).is(".") {
			continue
		}
		next := s.w(j + 1)
		if next.kind == text {
			t.rows = append(t.rows, drawn(next)...)
		} else if next.is("(") && s.match[j+1] > 0 {
			t.rows = append(t.rows, s.rows(s.words[j+2:s.match[j+1]])...)
		}
		return
	}
}

// tableAround notes the rows of a list that tests are made from in a loop.
func (s *scribe) tableAround(i int) {
	switch {
	case s.words[i].is("for") && s.w(i+1).is("(") && s.match[i+1] > 0:
		open := s.match[i+1] + 1
		for j := i + 2; j < open; j++ {
			if s.words[j].is("of") && s.close(open) > 0 {
				s.around, s.until = s.rows(s.words[j+1:open-1]), s.match[open]
			}
		}
	case s.words[i].is("forEach", "map") && s.w(i-1).is(".") && s.w(i+1).is("(") && s.match[i+1] > 0:
		list := s.words[i-2 : i-1]
		if open := s.close(i - 2); s.w(i-2).is("]") && open >= 0 {
			list = s.words[open : i-1]
		}
		s.around, s.until = s.rows(list), s.match[i+1]
	}
}

func (s *scribe) rows(words []word) []row {
	if len(words) == 1 {
		if at, known := s.lists[words[0].text]; known && s.match[at] > 0 {
			words = s.words[at : s.match[at]+1]
		}
	}
	if len(words) > 2 && words[0].is("[") { // as const, says TypeScript
		if shut := brackets(words)[0]; shut > 0 {
			words = words[:shut+1]
		}
	}
	return rowsOf(words)
}

// drawn are the rows of a table drawn with bars.
func drawn(w word) []row {
	var rows []row
	line := w.line - 1
	for text := range strings.Lines(w.text) {
		line++
		cells := strings.Split(strings.TrimSpace(text), "|")
		if len(cells) < 2 || line == w.line {
			continue
		}
		r := row{line: line}
		for i, cell := range cells {
			words, _ := scriptWords(cell)
			if i == len(cells)-1 {
				r.expected = words
			} else {
				r.inputs = append(r.inputs, words...)
			}
		}
		rows = append(rows, r)
	}
	return rows
}
