package tamper

// answered are the checks whose wanted value comes from the code that they look
// at: it is asked twice, and agrees with itself.
func (t *test) answered() {
	for i := range t.checks {
		c := &t.checks[i]
		if c.force <= partly || len(c.subject) == 0 || len(c.expected) == 0 {
			continue
		}
		subject, expected := t.origin(c.subject, c.end), t.origin(c.expected, c.end)
		if len(expected) > 2 && expected[len(expected)-1].is(")") && joined(subject) == joined(expected) {
			c.force = partly
		}
	}
}

// origin puts what was last given to a name, up to a line, in its place.
func (t *test) origin(words []word, until int) []word {
	if len(words) != 1 || words[0].kind != name {
		return words
	}
	found := words
	for i := 1; i+1 < len(t.words); i++ {
		w := t.words[i]
		if w.line > until || !w.is("=", ":=") || t.words[i-1].text != words[0].text || t.words[i-1].kind != name {
			continue
		}
		end := i + 1
		for end < len(t.words) && t.words[end].line == w.line && !t.words[end].is(";") {
			end++
		}
		found = t.words[i+1 : end] // none, where what is given stands on the next line
		if begins(found, "await") {
			found = found[1:]
		}
	}
	return found
}
