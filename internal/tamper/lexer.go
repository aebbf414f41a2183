package tamper

import "strings"

// lexer walks through a source by bytes.
type lexer struct {
	src   string
	at    int
	line  int
	words []word
	notes []remark
}

func (x *lexer) peek(n int) byte {
	if x.at+n >= len(x.src) {
		return 0
	}
	return x.src[x.at+n]
}

func (x *lexer) put(kind sort, text string, line int) {
	x.words = append(x.words, word{kind, text, line})
}

func letter(c byte) bool {
	return c == '_' || c == '$' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= 0x80
}

func digit(c byte) bool { return c >= '0' && c <= '9' }

// take moves on while a byte is wanted, and gives what was passed.
func (x *lexer) take(wanted func(byte) bool) string {
	from := x.at
	for x.at < len(x.src) && wanted(x.src[x.at]) {
		x.at++
	}
	return x.src[from:x.at]
}

// number passes digits, points, exponents and suffixes.
func (x *lexer) number() {
	line := x.line
	x.put(number, x.take(func(c byte) bool {
		sign := (c == '-' || c == '+') && strings.ContainsRune("eE", rune(x.src[x.at-1])) && !strings.HasPrefix(x.src[max(0, x.at-2):], "0x")
		return digit(c) || letter(c) && c < 0x80 || c == '.' || sign && x.at > 0
	}), line)
}

// quoted passes a text up to its closing quote, which is 1 or 3 long. An open
// one of length 1 ends with its line.
func (x *lexer) quoted(quote string, raw bool) {
	line := x.line
	x.at += len(quote)
	from := x.at
	for x.at < len(x.src) {
		switch {
		case strings.HasPrefix(x.src[x.at:], quote):
			x.put(text, x.src[from:x.at], line)
			x.at += len(quote)
			return
		case x.src[x.at] == '\\' && !raw && x.at+1 < len(x.src):
			if x.src[x.at+1] == '\n' {
				x.line++
			}
			x.at += 2
			continue
		case x.src[x.at] == '\\' && raw && x.at+1 < len(x.src) && x.src[x.at+1] == quote[0]:
			x.at += 2
			continue
		case x.src[x.at] == '\n':
			if len(quote) == 1 {
				x.put(text, x.src[from:x.at], line)
				return
			}
			x.line++
		}
		x.at++
	}
	x.put(text, x.src[min(from, len(x.src)):], line)
}

func (x *lexer) sign(long []string) int {
	for _, s := range long {
		if strings.HasPrefix(x.src[x.at:], s) {
			x.put(sign, s, x.line)
			x.at += len(s)
			return 0
		}
	}
	s := x.src[x.at : x.at+1]
	x.put(sign, s, x.line)
	x.at++
	switch s {
	case "(", "[", "{":
		return 1
	case ")", "]", "}":
		return -1
	}
	return 0
}
