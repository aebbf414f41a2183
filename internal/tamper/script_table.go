package tamper

import (
	"strings"
)

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

// loop takes the rows of for (… of […]).
func (s *scribe) loop(i int) {
	if !s.w(i+1).is("(") || s.match[i+1] < 0 {
		return
	}
	words := s.words[i+2 : s.match[i+1]]
	for j, w := range words {
		if w.is("of") {
			s.at.rows = append(s.at.rows, s.rows(words[j+1:])...)
			return
		}
	}
}

// iterated takes the rows of [[…], […]].forEach and cases.forEach.
func (s *scribe) iterated(c chain) {
	if at, known := s.lists[c.names[0]]; known && len(c.names) == 2 && s.match[at] > 0 {
		s.at.rows = append(s.at.rows, rowsOf(s.words[at:s.match[at]+1])...)
	}
}
