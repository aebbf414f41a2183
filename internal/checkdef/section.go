package checkdef

import (
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/pattern"
)

// section is a part of an ini or toml file, with its head. The lines before the
// first head are one without a name.
type section struct {
	name  string
	lines []string
}

var head = pattern.Of(`^\s*\[\[?\s*([^\[\]]+?)\s*\]`)

func sectionsOf(text []byte) []section {
	all := []section{{}}
	for line := range strings.Lines(string(text)) {
		if found := head.FindStringSubmatch(line); found != nil {
			all = append(all, section{name: strings.ReplaceAll(found[1], `"`, "")})
		}
		last := &all[len(all)-1]
		last.lines = append(last.lines, line)
	}
	return all
}

// holdSections is a file with some sections, by how their names begin, as they
// were. One that came goes; one that went stands at the end.
func holdSections(was, now []byte, parts []string) []byte {
	held := func(s section) bool {
		return slices.ContainsFunc(parts, func(part string) bool { return s.name != "" && strings.HasPrefix(s.name, part) })
	}
	old, young := only(sectionsOf(was), held), only(sectionsOf(now), held)
	if slices.EqualFunc(old, young, func(a, b section) bool { return said(a) == said(b) }) {
		return now
	}
	var text strings.Builder
	for _, s := range sectionsOf(now) {
		if !held(s) {
			text.WriteString(strings.Join(s.lines, ""))
		}
	}
	for _, s := range old {
		if n := text.Len(); n > 0 && text.String()[n-1] != '\n' {
			text.WriteByte('\n')
		}
		text.WriteString(strings.Join(s.lines, ""))
	}
	return []byte(text.String())
}

func only(all []section, which func(section) bool) []section {
	var some []section
	for _, s := range all {
		if which(s) {
			some = append(some, s)
		}
	}
	return some
}

// said is a section without comments and blank lines.
func said(s section) string {
	var text strings.Builder
	for _, line := range s.lines {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "#") && !strings.HasPrefix(line, ";") {
			text.WriteString(line + "\n")
		}
	}
	return text.String()
}
