package tamper

var defining = set("function class const let var interface type enum namespace")

// definitions finds what a file defines: functions, classes and their
// methods, constants, types.
func (s *scribe) definitions() {
	if s.collects {
		return
	}
	begin, called := 0, ""
	for i := 0; i <= len(s.words); i++ {
		fresh := i == len(s.words) || defining[s.words[i].text] && s.words[i].kind == name && !s.w(i-1).is(".", "?.", "=", "(", ",") ||
			s.words[i].is("import", "export") && !s.w(i-1).is(".") || s.exports(i)
		if fresh {
			s.settle(called, begin, i)
			if i == len(s.words) {
				return
			}
			begin, called = i, s.called(i)
		}
		if s.words[i].is("{", "(", "[") && s.match[i] > 0 {
			i = s.match[i]
		}
	}
}

// exports tells of exports.name = …, be it a module's.
func (s *scribe) exports(i int) bool {
	own := !s.w(i-1).is(".", "?.") || s.w(i-2).is("module")
	return s.words[i].is("exports") && own && s.w(i+1).is(".") && s.w(i+2).kind == name && s.w(i+3).is("=")
}

// called is what the definition at i is called.
func (s *scribe) called(i int) string {
	next := s.w(i + 1)
	switch {
	case s.words[i].is("exports"):
		return s.w(i + 2).text
	case s.words[i].is("import"):
		return ""
	case s.words[i].is("export"):
		if next.is("default") {
			return "default"
		}
		return ""
	case next.kind == name && !next.is("async"):
		return next.text
	default:
		return "statements of " + s.path
	}
}

func (s *scribe) settle(called string, from, to int) {
	if called == "" || from >= to {
		return
	}
	words := s.words[from:to]
	s.define(called, nil, words)
	for i := from; i < to; i++ {
		w := s.words[i]
		if w.kind == name && (s.w(i-1).is(".") && s.w(i-2).is("this") || s.w(i+1).is(":", "?")) {
			s.fields[w.text] = true
		}
	}
	if s.words[from].is("class", "const", "let", "var") {
		s.methods(from, to)
	}
}

// methods finds name(…) {…} right within braces.
func (s *scribe) methods(from, to int) {
	for i := from + 1; i < to; i++ {
		if s.words[i].kind != name || !s.w(i+1).is("(") || s.match[i+1] < 0 || s.w(i-1).is(".", "new", "return", "await") {
			continue
		}
		shut := s.match[i+1]
		open := shut + 1
		for open < to && open < shut+20 && !s.words[open].is("{", ";", "}", ")") {
			open++
		}
		if s.w(open).is("{") && s.match[open] > 0 && !s.words[i].is("if", "for", "while", "switch", "catch", "function") && (open == shut+1 || s.w(shut+1).is(":")) {
			s.define(s.words[i].text, s.words[i+1:shut+1], s.words[open:s.match[open]+1])
			i = s.match[open]
		}
	}
}
