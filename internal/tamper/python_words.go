package tamper

import "strings"

// statement is a logical line of Python with what is indented under it.
type statement struct {
	words []word // without the colon of a block
	line  int
	end   int
	body  []*statement
}

// pythonLine is a logical line.
type pythonLine struct {
	indent int
	words  []word
}

var pythonSigns = []string{"**=", "//=", ">>=", "<<=", "...", "==", "!=", "<=", ">=", "->", ":=", "+=", "-=", "*=", "/=", "%=", "**", "//", "<<", ">>", "|=", "&=", "^=", "@="}

// pythonLines parts a source into logical lines.
func pythonLines(src string) (lines []pythonLine, notes []remark, all []word) {
	x := &pythonLexer{lexer: lexer{src: src, line: 1}, fresh: true}
	for x.at < len(src) {
		if x.fresh && x.depth == 0 {
			x.margin, x.fresh = x.indent(), false
			continue
		}
		x.step()
	}
	x.flush()
	return x.lines, x.notes, x.words
}

type pythonLexer struct {
	lexer
	lines  []pythonLine
	depth  int  // of brackets
	margin int  // of the line
	fresh  bool // at the beginning of a line
	from   int  // the word that the line begins with
}

func (x *pythonLexer) flush() {
	if len(x.words) > x.from {
		x.lines = append(x.lines, pythonLine{x.margin, x.words[x.from:len(x.words):len(x.words)]})
	}
	x.from, x.fresh = len(x.words), true
}

func (x *pythonLexer) step() {
	switch c := x.src[x.at]; {
	case c == '\n':
		x.line++
		x.at++
		if x.depth == 0 {
			x.flush()
		}
	case c == ' ' || c == '\t' || c == '\r' || c == '\f':
		x.at++
	case c == '\\':
		x.continued()
	case c == ';' && x.depth == 0:
		x.at++
		x.flush()
		x.fresh = false
	default:
		x.depth = max(0, x.depth+x.python())
	}
}

// continued passes a backslash, and the end of the line behind it.
func (x *lexer) continued() {
	x.at++
	if x.peek(0) == '\r' {
		x.at++
	}
	if x.peek(0) == '\n' {
		x.line++
		x.at++
	}
}

func (x *lexer) indent() int {
	width := 0
	for _, c := range x.take(func(c byte) bool { return c == ' ' || c == '\t' || c == '\f' }) {
		if c == '\t' {
			width += 8 - width%8
		} else {
			width++
		}
	}
	return width
}

// python passes one word or remark and gives how the depth changes.
func (x *lexer) python() int {
	c := x.src[x.at]
	switch {
	case c == '#':
		code := len(x.words) > 0 && x.words[len(x.words)-1].line == x.line
		x.notes = append(x.notes, remark{x.take(func(c byte) bool { return c != '\n' }), x.line, code})
	case c == '"' || c == '\'':
		x.quoted(x.quote(), false)
	case letter(c):
		called := x.take(func(c byte) bool { return letter(c) || digit(c) })
		if q := x.peek(0); (q == '"' || q == '\'') && len(called) <= 2 && strings.Trim(strings.ToLower(called), "rbfut") == "" {
			x.quoted(x.quote(), strings.ContainsAny(called, "rR"))
			return 0
		}
		x.put(name, called, x.line)
	case digit(c) || c == '.' && digit(x.peek(1)):
		x.number()
	default:
		return x.sign(pythonSigns)
	}
	return 0
}

func (x *lexer) quote() string {
	q := x.src[x.at : x.at+1]
	if strings.HasPrefix(x.src[x.at:], q+q+q) {
		return q + q + q
	}
	return q
}

var blocks = set("if elif else for while try except finally with def class async match case")

// statements builds the tree of a source.
func statements(lines []pythonLine) *statement {
	root := &statement{}
	type open struct {
		indent int
		of     *statement
	}
	stack := []open{{-1, root}}
	for _, l := range lines {
		for len(stack) > 1 && l.indent <= stack[len(stack)-1].indent {
			stack = stack[:len(stack)-1]
		}
		s := &statement{line: l.words[0].line, end: l.words[len(l.words)-1].line}
		head, rest, block := suite(l.words)
		s.words = head
		parent := stack[len(stack)-1].of
		parent.body = append(parent.body, s)
		for _, o := range stack {
			o.of.end = max(o.of.end, s.end)
		}
		if len(rest) > 0 {
			s.body = append(s.body, &statement{words: rest, line: rest[0].line, end: s.end})
		}
		if block && len(rest) == 0 && len(stack) < 200 {
			stack = append(stack, open{l.indent, s})
		}
	}
	return root
}

// suite parts "if x: return" into its head and what stands behind the colon.
func suite(words []word) (head, rest []word, block bool) {
	if !blocks[words[0].text] || words[0].kind != name {
		return words, nil, false
	}
	depth := 0
	for i, w := range words {
		switch {
		case w.kind == sign && w.is("(", "[", "{"):
			depth++
		case w.kind == sign && w.is(")", "]", "}"):
			depth--
		case depth == 0 && w.is(":") && !lambda(words[:i]):
			return words[:i], words[i+1:], true
		}
	}
	return words, nil, false
}

// lambda tells whether a colon after words belongs to one.
func lambda(words []word) bool {
	for i := len(words) - 1; i >= 0 && i > len(words)-12; i-- {
		if words[i].is(":") {
			return false
		}
		if words[i].is("lambda") {
			return true
		}
	}
	return false
}
