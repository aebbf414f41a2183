package tamper

import (
	"strings"

	"github.com/ralph-loop/ralph/internal/pattern"
)

var target = pattern.Of(`^([\w./%-]+(?: [\w./%-]+)*)\s*:(?:[^=]|$)(.*)`)

func ofMake(name, text string) []command {
	m := &makefile{name: name, variables: makeVariables(text)}
	for line := range strings.Lines(text) {
		m.line++
		if strings.HasPrefix(line, "\t") || strings.HasPrefix(line, "    ") {
			if m.block.Len() == 0 {
				m.begin = m.line
			}
			m.block.WriteString(strings.TrimLeft(line, " \t"))
			continue
		}
		m.target(line)
	}
	m.flush()
	return m.all
}

// makefile is one that is being read.
type makefile struct {
	name, place string
	line, begin int
	block       strings.Builder // the commands of the target
	all         []command
	variables   map[string]string
}

func (m *makefile) flush() {
	if m.place != "" && m.block.Len() > 0 {
		m.all = append(m.all, shell(m.name, m.place, expanded(m.block.String(), m.variables), m.begin)...)
	}
	m.block.Reset()
}

// target begins with a line that may name one; what it needs counts as what it
// runs.
func (m *makefile) target(line string) {
	found := target.FindStringSubmatch(strings.TrimRight(line, "\n"))
	if found == nil || strings.HasPrefix(line, ".") {
		return
	}
	m.flush()
	m.place = found[1]
	deps, _, _ := strings.Cut(strings.TrimSpace(line[strings.Index(line, ":")+1:]), "#")
	for dep := range strings.FieldsSeq(deps) {
		if checking.MatchString(m.place) && checking.MatchString(dep) {
			m.all = append(m.all, command{file: m.name, place: m.place, tool: "make", class: gathering, args: []string{dep}, line: m.line, text: "make " + dep})
		}
	}
}
