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
	asked   *test    // the test of which waited tells
	waited  bool
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
	case s.at == nil && w.is("if"):
		return s.gate(i, to, depth)
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
		return s.inTest(i, to, depth)
	}
	return i + 1
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
	stops, only := s.modified(c, i)
	line := s.words[i].line
	if groupWords[c.names[0]] || len(c.names) > 1 && c.names[1] == "describe" {
		s.within(how, called, stops, line, func() { s.read(open+1, last, depth+1) })
		if only {
			s.halts = append(s.halts, mark{line, "only: " + how})
		}
		return c.end
	}
	t := &test{group: s.group, name: strings.Trim(called, `"`), line: line, end: s.words[last].line, words: s.words[open+1 : last]}
	t.skips = append(append(t.skips, s.skips...), s.guarded(i)...)
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

// modified reads how a test or group is to be run, or not.
func (s *scribe) modified(c chain, i int) (stops, only bool) {
	stops, only = modified(c.names)
	told, alone := s.options(s.words[s.match[c.end-1]+1 : c.end-1])
	return stops || told || s.rowless(c, i), only || alone
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
