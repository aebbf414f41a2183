package tamper

import "strings"

// binding is what a statement outside of functions does to the name of a test:
// what it then stands for is not what was written.
type binding struct {
	group string // the class; empty: the module, or whatever has the name
	name  string
	at    mark
}

// bind notes what is taken away, bound anew, or said to be no test.
func (s *snake) bind(st *statement, in scopeOf) {
	words := st.words
	at := mark{st.line, short(spoken(words), 80)}
	note := func(group, called string) { s.bounds = append(s.bounds, binding{group, called, at}) }
	switch sides := split(words, "="); {
	case words[0].is("del"):
		for _, part := range list(inside(words[1:])) {
			group, called := owner(part, in.group)
			note(group, called)
		}
	case words[0].is("delattr", "setattr"):
		if args := arguments(words); len(args) >= 2 && len(args[1]) == 1 && args[1][0].kind == text {
			note(joined(args[0]), args[1][0].text)
		}
	case len(sides) == 2 && strings.HasSuffix(joined(sides[0]), ". __test__") && joined(sides[1]) == "False":
		called := sides[0][:len(sides[0])-2]
		note(in.group, joined(called))
		note(joined(called), "")
	case len(sides) == 2:
		group, called := owner(sides[0], in.group)
		if !handedOn(sides[1], called) {
			note(group, called)
		}
	}
}

// owner parts Class.name; a bare name belongs to what it stands in.
func owner(words []word, group string) (of, called string) {
	if len(words) > 2 && words[len(words)-2].is(".") {
		return strings.ReplaceAll(joined(words[:len(words)-2]), " . ", "."), words[len(words)-1].text
	}
	return group, joined(words)
}

// handedOn tells whether what a name is bound to is made of what it stood for,
// and runs.
func handedOn(words []word, called string) bool {
	own := false
	for _, w := range words {
		own = own || w.kind == name && w.text == called
	}
	return own && !strings.Contains(strings.ToLower(joined(words)), "skip")
}

// settle has each test as the whole file leaves it: one that is defined again
// in the same place is the later one.
func (s *snake) settle() {
	last := map[string]int{}
	for i, t := range s.tests {
		if !t.maybe {
			last[t.group+"\x00"+t.name] = i
		}
	}
	var left []*test
	for i, t := range s.tests {
		if later, again := last[t.group+"\x00"+t.name]; again && later > i && !t.maybe {
			continue
		}
		for _, b := range s.bounds {
			if b.at.line > t.end && b.takes(t) {
				t.skips = append(t.skips, b.at)
			}
		}
		left = append(left, t)
	}
	s.tests = left
}

// takes tells whether a binding is of a test, or of the class that it is in.
func (b binding) takes(t *test) bool {
	if b.group == "" && t.group != "" && b.name == t.group {
		return true
	}
	return b.group == t.group && (b.name == t.name || b.name == "")
}

// yields tells whether a function is a generator: called as a test it runs
// nothing of its body. A decorator of a library's own may run it all the same.
func yields(body []*statement, decorators []*statement) bool {
	for _, d := range decorators {
		if all := joined(d.words); !strings.HasPrefix(all, "@ pytest . mark") && !strings.HasPrefix(all, "@ unittest") {
			return false
		}
	}
	return yielding(body)
}

func yielding(body []*statement) bool {
	for _, st := range body {
		if begins(st.words, "def", "class", "async") {
			continue
		}
		for _, w := range st.words {
			if w.kind == name && w.text == "yield" {
				return true
			}
		}
		if yielding(st.body) {
			return true
		}
	}
	return false
}

// rowless are the marks of tables without a row: what they are for is not run.
func (s *snake) rowless(decorators []*statement) []mark {
	var marks []mark
	for _, d := range decorators {
		args := arguments(d.words)
		if !strings.Contains(joined(d.words), "parametrize (") || len(args) < 2 {
			continue
		}
		rows := args[1]
		if len(rows) == 1 && rows[0].kind == name {
			rows = s.lists[rows[0].text]
		}
		if all := joined(rows); all == "[ ]" || all == "( )" {
			marks = append(marks, mark{d.line, spoken(d.words)})
		}
	}
	return marks
}
