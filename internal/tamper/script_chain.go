package tamper

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

func called(c chain) bool {
	for _, at := range c.calls {
		if at > 0 {
			return true
		}
	}
	return false
}
