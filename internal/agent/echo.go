package agent

import "strings"

// echo tells the lines of a prompt from an agent's own: they come in the
// prompt's order, from its beginning.
type echo struct {
	prompt []string
	next   int
}

func newEcho(prompt string) *echo {
	e := &echo{}
	for line := range strings.Lines(prompt) {
		if line = bare(line); line != "" {
			e.prompt = append(e.prompt, line)
		}
	}
	return e
}

// bare is a line without what programs put around one that they repeat.
func bare(line string) string { return strings.TrimSpace(strings.TrimLeft(line, "> |\t")) }

// heard tells whether line is the prompt's next one. Blank lines are nobody's.
func (e *echo) heard(line string) bool {
	line = bare(line)
	switch {
	case line == "" || len(e.prompt) == 0:
		return false
	case line == e.prompt[e.next]:
		e.next = (e.next + 1) % len(e.prompt)
		return true
	case line == e.prompt[0]: // it begins again
		e.next = 1 % len(e.prompt)
		return true
	}
	return false
}
