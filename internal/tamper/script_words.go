package tamper

import "strings"

var scriptSigns = []string{
	">>>=", "...", "===", "!==", "**=", "<<=", ">>=", ">>>", "&&=", "||=", "??=",
	"=>", "==", "!=", "<=", ">=", "&&", "||", "??", "?.", "++", "--", "+=", "-=", "*=", "/=", "%=", "**", "|=", "&=", "^=",
}

// scriptWords reads JavaScript, TypeScript, JSX and what people write for
// JSON. Text between JSX tags comes out as words; nobody asks for it.
func scriptWords(src string) ([]word, []remark) {
	x := &lexer{src: src, line: 1}
	for x.at < len(src) {
		switch c := src[x.at]; {
		case c == '\n':
			x.line++
			x.at++
		case c == ' ' || c == '\t' || c == '\r':
			x.at++
		case c == '/' && x.peek(1) == '/', c == '#' && x.peek(1) == '!' && x.at == 0:
			x.note(x.take(func(c byte) bool { return c != '\n' }))
		case c == '/' && x.peek(1) == '*':
			x.blockNote()
		case c == '"' || c == '\'':
			x.scriptText(string(c))
		case c == '`':
			x.template()
		case c == '/' && x.regular():
			x.expression()
		case letter(c) || c == '#' || c == '@' && letter(x.peek(1)):
			from := x.at
			x.at++
			x.take(func(c byte) bool { return letter(c) || digit(c) })
			x.put(name, src[from:x.at], x.line)
		case digit(c) || c == '.' && digit(x.peek(1)):
			x.number()
		default:
			x.sign(scriptSigns)
		}
	}
	return x.words, x.notes
}

func (x *lexer) note(text string) {
	code := len(x.words) > 0 && x.words[len(x.words)-1].line == x.line
	x.notes = append(x.notes, remark{text, x.line, code})
}

func (x *lexer) blockNote() {
	end := strings.Index(x.src[x.at+2:], "*/")
	note := x.src[x.at:]
	if end >= 0 {
		note = x.src[x.at : x.at+end+4]
	}
	x.note(note)
	x.line += strings.Count(note, "\n")
	x.at += len(note)
}

// scriptText passes a text. An apostrophe within the words of a JSX element
// opens nothing: it is known by having no other on its line.
func (x *lexer) scriptText(quote string) {
	rest, _, _ := strings.Cut(x.src[x.at+1:min(len(x.src), x.at+4096)], "\n")
	if quote == "'" && !strings.Contains(rest, "'") && !strings.HasSuffix(rest, `\`) && len(rest) < 4000 {
		x.at++
		return
	}
	x.quoted(quote, false)
}

// template passes a template literal with all that is put into it, templates
// too.
func (x *lexer) template() {
	line, from := x.line, x.at+1
	open := []int{-1} // -1: in the text of a template; else how many braces deep in a ${
	for x.at++; x.at < len(x.src) && len(open) > 0; x.at++ {
		top := &open[len(open)-1]
		switch c := x.src[x.at]; {
		case c == '\n':
			x.line++
		case c == '\\':
			x.escaped()
		case *top < 0 && c == '`', *top == 0 && c == '}':
			open = open[:len(open)-1]
		case *top < 0 && c == '$' && x.peek(1) == '{':
			open = append(open, 0)
			x.at++
		case *top < 0:
		case c == '`':
			open = append(open, -1)
		case c == '{':
			*top++
		case c == '}':
			*top--
		case c == '"' || c == '\'':
			x.skipText(c)
		}
	}
	x.at = min(x.at, len(x.src))
	end := x.at
	if len(open) == 0 {
		end--
	}
	x.put(text, x.src[min(from, end):end], line)
}

// escaped passes a backslash up to what it escapes.
func (x *lexer) escaped() {
	x.at++
	if x.peek(0) == '\n' {
		x.line++
	}
}

// skipText passes a text up to its closing quote, if that is on its line.
func (x *lexer) skipText(quote byte) {
	for i := x.at + 1; i < len(x.src) && x.src[i] != '\n'; i++ {
		switch x.src[i] {
		case '\\':
			i++
		case quote:
			x.at = i
			return
		}
	}
}

// regular tells whether a slash begins a regular expression: after a value it
// divides.
func (x *lexer) regular() bool {
	if len(x.words) == 0 {
		return true
	}
	switch last := x.words[len(x.words)-1]; last.kind {
	case number, text:
		return false
	case name:
		return last.is("return", "typeof", "case", "in", "of", "await")
	case sign:
		return !last.is(")", "]", "}", "<", ">") // nor does that of </div>
	}
	return true
}

func (x *lexer) expression() {
	from, class := x.at, false
	for i := x.at + 1; i < len(x.src) && x.src[i] != '\n'; i++ {
		switch c := x.src[i]; {
		case c == '\\':
			i++
		case c == '[':
			class = true
		case c == ']':
			class = false
		case c == '/' && !class:
			x.at = i + 1
			x.take(letter)
			x.put(text, x.src[from:x.at], x.line)
			return
		}
	}
	x.sign(nil)
}
