package tamper

import (
	"slices"
	"strings"
)

// snake reads a Python file.
type snake struct {
	*page
	lists  map[string][]word
	bounds []binding
}

func (p *page) readPython(src []byte) {
	lines, notes, all := pythonLines(string(src))
	p.remarks, p.words = notes, all
	s := &snake{page: p, lists: map[string][]word{}}
	s.block(statements(lines).body, scopeOf{})
	s.settle()
	for i, w := range all {
		if w.kind == name && i > 0 && (all[i-1].is(".") && i+1 < len(all) && all[i+1].is("=", ":") || i+1 < len(all) && all[i+1].is(":") && all[i-1].line != w.line) {
			p.fields[w.text] = true
		}
	}
}

// scopeOf is what surrounds a statement.
type scopeOf struct {
	group string
	skips []mark
	found bool // a class that is collected
	maybe bool // what stands there is there only if something holds
}

// block reads statements outside of functions.
func (s *snake) block(list []*statement, in scopeOf) {
	var decorators []*statement
	for _, st := range list {
		head := st.words
		if len(head) > 0 && head[0].is("async") {
			head = head[1:]
		}
		switch {
		case len(head) == 0:
		case head[0].is("@"):
			decorators = append(decorators, st)
			continue
		case head[0].is("def") && len(head) > 1:
			s.function(st, head, decorators, in)
		case head[0].is("class") && len(head) > 1:
			s.class(st, head, decorators, in)
		case head[0].is("if", "else", "elif", "try", "except", "finally", "with", "for"):
			s.conditionalBlock(st, head, in)
		default:
			s.loose(st, in)
		}
		decorators = nil
	}
}

func (s *snake) conditionalBlock(st *statement, head []word, in scopeOf) {
	s.outside = append(s.outside, head...)
	if head[0].is("if") && never(head[1:]) {
		return // what stands there is not there
	}
	in.maybe = in.maybe || head[0].is("if", "else", "elif", "try", "except")
	if head[0].is("if", "elif") && elsewhere(head[1:]) {
		in.skips = append(slices.Clone(in.skips), mark{st.line, "only " + spoken(head)})
	}
	s.block(st.body, in)
}

// loose is a statement on the level of a module or a class.
func (s *snake) loose(st *statement, in scopeOf) {
	s.outside = append(s.outside, st.words...)
	all := joined(st.words)
	if len(st.words) > 2 && st.words[1].is("=", ":") && st.words[0].kind == name {
		s.define(st.words[0].text, nil, st.words[2:])
		if st.words[2].is("[", "(", "{") {
			s.lists[st.words[0].text] = st.words[2:]
		}
	} else if len(st.words) > 1 && !st.words[0].is("import", "from", "pass") {
		s.define("statements of "+s.path, nil, st.words)
	}
	if !s.collects && !aside(s.path) {
		return
	}
	s.bind(st, in)
	switch {
	case in.group != "": // says what it says for its class
	case strings.HasPrefix(all, "pytestmark") && strings.Contains(all, "skip"), strings.HasPrefix(all, "pytestmark") && strings.Contains(all, "xfail"),
		strings.HasPrefix(all, "pytest . skip ("), strings.HasPrefix(all, "pytest . importorskip"), strings.HasPrefix(all, "raise unittest . SkipTest"),
		strings.HasPrefix(all, "raise SkipTest"), all == "__test__ = False", strings.HasPrefix(all, "collect_ignore"), strings.HasPrefix(all, "sys . exit ("), strings.HasPrefix(all, "exit ("),
		strings.HasPrefix(all, "load_tests ="), strings.HasPrefix(all, "os . _exit ("), strings.HasPrefix(all, "atexit . register ( os . _exit"):
		s.halts = append(s.halts, mark{st.line, short(spoken(st.words), 80)})
	}
}

func (s *snake) class(st *statement, head []word, decorators []*statement, in scopeOf) {
	called := head[1].text
	in = scopeOf{group: strings.TrimPrefix(in.group+"."+called, "."), skips: slices.Concat(in.skips, skipMarks(decorators), s.rowless(decorators)), maybe: in.maybe}
	if !in.maybe {
		s.bounds = append(s.bounds, binding{"", in.group, mark{st.line, "the class " + called + " is defined again"}})
	}
	bases := joined(head[2:])
	in.found = strings.HasPrefix(called, "Test") || strings.HasSuffix(called, "Test") || strings.HasSuffix(called, "Tests") || strings.Contains(bases, "TestCase") || strings.Contains(bases, "Test")
	for _, inner := range st.body {
		in.skips = append(in.skips, s.prepared(inner)...)
		s.runs(inner, in)
		all := joined(inner.words)
		if all == "__test__ = False" || strings.HasPrefix(all, "pytestmark") && strings.Contains(all, "skip") {
			in.skips = append(in.skips, mark{inner.line, spoken(inner.words)})
		}
	}
	if !s.collects {
		s.define(called, nil, head)
	}
	s.block(st.body, in)
}

// runs notes a class of tests that runs them in a way of its own, and does not
// hand on what is told of them.
func (s *snake) runs(st *statement, in scopeOf) {
	if s.collects && in.found && len(st.words) > 1 && st.words[0].is("def") && st.words[1].is("run", "__call__") && !strings.Contains(joined(flatten(st.body, nil)), "( result )") {
		s.halts = append(s.halts, mark{st.line, in.group + "." + st.words[1].text + " runs them in a way of its own"})
	}
}

var preparing = set("setUp setUpClass asyncSetUp setup_method setup_class setup")

// prepared are the skips of what runs before each test.
func (s *snake) prepared(st *statement) []mark {
	for i, w := range st.words {
		if w.is("def") && i+1 < len(st.words) && preparing[st.words[i+1].text] {
			b := &snakeBody{snake: s, test: &test{}}
			b.block(st.body, "")
			return b.test.skips
		}
	}
	return nil
}

func skipMarks(decorators []*statement) []mark {
	var marks []mark
	for _, d := range decorators {
		all := joined(d.words)
		if strings.Contains(all, "skip") || strings.Contains(all, "xfail") || strings.Contains(all, "expectedFailure") || strings.Contains(all, "Skip") || strings.Contains(all, "disabled") {
			marks = append(marks, mark{d.line, spoken(d.words)})
		}
	}
	return marks
}

func (s *snake) function(st *statement, head []word, decorators []*statement, in scopeOf) {
	t := &test{group: in.group, name: head[1].text, line: st.line, end: st.end}
	if len(decorators) > 0 {
		t.line = decorators[0].line
	}
	body := &snakeBody{snake: s, test: t}
	body.block(st.body, "")
	t.words = flatten(st.body, nil)
	t.maybe = in.maybe
	t.skips = slices.Concat(t.skips, in.skips, skipMarks(decorators), s.rowless(decorators))
	for _, d := range decorators {
		body.parameters(d.words)
	}
	fixture := false
	for _, d := range decorators {
		fixture = fixture || strings.Contains(joined(d.words), "fixture")
	}
	switch {
	case s.collects && !fixture && (strings.HasPrefix(t.name, "test") && (in.group == "" || in.found)):
		if st.words[0].is("def") && yields(st.body, decorators) {
			t.skips = append(t.skips, mark{st.line, "it is a generator, and nothing runs it"})
		}
		s.tests = append(s.tests, t)
	case len(t.checks) > 0 && (s.collects || aside(s.path) || raises(t)):
		s.helpers = append(s.helpers, t)
	default:
		s.idle = append(s.idle, t)
		s.outside = append(s.outside, t.words...)
	}
	if !s.collects {
		s.define(t.name, head[2:], withoutDocs(st.body))
	}
	if s.collects || aside(s.path) {
		s.hooks(t, st)
	}
}

// hooks looks at functions that pytest calls by name.
func (s *snake) hooks(t *test, st *statement) {
	all := joined(t.words)
	switch {
	case t.name == "load_tests" && t.group == "" && !handsBack(st, all),
		t.name == "pytest_ignore_collect",
		t.name == "pytest_collection_modifyitems" && (strings.Contains(all, "skip") || strings.Contains(all, "xfail") || strings.Contains(all, "deselected") || strings.Contains(all, "items [ : ]") || strings.Contains(all, "clear (")),
		t.name == "pytest_runtest_makereport" && strings.Contains(all, `"passed`),
		t.name == "pytest_sessionfinish" && strings.Contains(all, "exitstatus"),
		t.name == "pytest_runtest_setup" && strings.Contains(all, "skip"):
		s.halts = append(s.halts, mark{st.line, t.name + " changes what counts"})
	}
}

// raises tells of a function that fails as only an assertion does: wherever it
// lies, tests compare with it.
func raises(t *test) bool {
	return slices.ContainsFunc(t.checks, func(c check) bool { return c.what == "raise AssertionError" })
}

// handsBack tells whether load_tests gives what was found without it, with more.
func handsBack(st *statement, body string) bool {
	params := list(inside(st.words[min(2, len(st.words)):]))
	return len(params) > 1 && len(params[1]) > 0 && strings.Contains(body, "return "+params[1][0].text) && !strings.Contains(body, params[1][0].text+" =")
}

func flatten(list []*statement, into []word) []word {
	for _, st := range list {
		into = append(into, st.words...)
		into = flatten(st.body, into)
	}
	return into
}

// withoutDocs are the words of a body but for texts that stand alone.
func withoutDocs(list []*statement) []word {
	var into []word
	for _, st := range list {
		if len(st.words) == 1 && st.words[0].kind == text {
			continue
		}
		into = append(append(into, st.words...), withoutDocs(st.body)...)
	}
	return into
}
