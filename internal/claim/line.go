package claim

import "strings"

// line keeps as much of the current line as a claim can need.
type line struct {
	window string // its end: the whole of it while it is short
	head   string // its beginning, without the white space before it
	more   bool   // there is more on it than head, and not only white space
}

const blanks = " \t\r\v\f"

func (s *Scanner) add(part string) {
	s.line.begin(part, s.longest)
	// What is kept must hold the longest claim whole, tags and all.
	keep := max(MaxResponse, s.longest) + len("<response></response>")
	for part != "" {
		n := min(len(part), keep)
		s.line.window += part[:n]
		part = part[n:]
		if len(s.line.window) >= 2*keep {
			s.scan()
			s.line.window = s.line.window[len(s.line.window)-keep:]
		}
	}
}

func (l *line) begin(part string, limit int) {
	if l.head == "" {
		part = strings.TrimLeft(part, blanks)
	}
	n := min(len(part), limit-len(l.head))
	l.head += part[:n]
	if strings.Trim(part[n:], blanks) != "" {
		l.more = true
	}
}

func (l *line) alone() (string, bool) {
	return strings.TrimRight(l.head, blanks), !l.more
}

// scan looks for whole claims. Finding one twice changes nothing.
func (s *Scanner) scan() {
	if !strings.Contains(s.line.window, "</") {
		return
	}
	s.scanPromises(s.line.window)
	if !s.answered {
		s.response, s.answered = between("response", s.line.window)
	}
	if s.question == "" {
		s.question, _ = between("question", s.line.window)
		s.question = strings.TrimSpace(s.question)
	}
}

func (s *Scanner) scanPromises(text string) {
	for {
		before, rest, found := strings.Cut(text, "</promise>")
		if !found {
			return
		}
		// The last opening counts: "say <promise>…" is not yet a promise.
		if i := strings.LastIndex(before, "<promise>"); i >= 0 {
			s.promise(before[i+len("<promise>"):])
		}
		text = rest
	}
}

// between finds what (?i)<response>(.*?)</response> finds, if it is short enough.
func between(name, text string) (string, bool) {
	open, end := "<"+name+">", "</"+name+">"
	lower := lowerASCII(text)
	at := 0
	for {
		i := strings.Index(lower[at:], open)
		if i < 0 {
			return "", false
		}
		from := at + i + len(open)
		n := strings.Index(lower[from:], end)
		switch {
		case n < 0:
			return "", false
		case n <= MaxResponse:
			return text[from : from+n], true
		}
		at = from
	}
}

// lowerASCII is strings.ToLower that keeps every byte in its place.
func lowerASCII(text string) string {
	out := []byte(text)
	for i, c := range out {
		if 'A' <= c && c <= 'Z' {
			out[i] = c + 'a' - 'A'
		}
	}
	return string(out)
}
