package tamper

import (
	"strings"
)

// flatINI reads sections, keys and values that go on over indented lines. A
// value of several parts is a list.
func flatINI(text string) []setting {
	var all []setting
	section, key := "", ""
	n := 0
	for line := range strings.Lines(text) {
		n++
		bare := strings.TrimSpace(line)
		indented := line != "" && (line[0] == ' ' || line[0] == '\t')
		switch {
		case bare == "" || bare[0] == '#' || bare[0] == ';':
		case bare[0] == '[' && strings.HasSuffix(bare, "]"):
			section, key = sectionOf(bare[1:len(bare)-1]), ""
		case indented && key != "":
			all = append(all, parted(key, bare, n)...)
		default:
			name, value, _ := strings.Cut(bare, "=")
			if before, after, colon := strings.Cut(bare, ":"); colon && len(before) < len(name) {
				name, value = before, after
			}
			key = joinKey(section, strings.TrimSpace(name))
			all = append(all, parted(key, strings.TrimSpace(value), n)...)
		}
	}
	return all
}

// sectionOf gives "tool:pytest" and "coverage:report" the names they have in
// pyproject.toml.
func sectionOf(text string) string {
	text = strings.ReplaceAll(strings.TrimSpace(text), ":", ".")
	switch text {
	case "pytest", "tool.pytest":
		return "tool.pytest.ini_options"
	case "run", "report":
		return "tool.coverage." + text
	}
	return text
}

// parted makes elements of a value with commas; a command or a text stays
// whole.
func parted(key, value string, line int) []setting {
	if value == "" {
		return nil
	}
	last := key[strings.LastIndex(key, ".")+1:]
	if strings.Contains(last, "commands") || strings.Contains(last, "addopts") || strings.HasPrefix(last, "deps") {
		return []setting{{key, value, line}}
	}
	fields := strings.FieldsFunc(value, func(r rune) bool { return r == ',' || r == ' ' && many(last) })
	if len(fields) < 2 && !many(last) {
		return []setting{{key, value, line}}
	}
	var all []setting
	for _, f := range fields {
		if f = strings.TrimSpace(f); f != "" {
			all = append(all, setting{key + "[]", f, line})
		}
	}
	return all
}

func many(key string) bool {
	for _, part := range []string{"ignore", "select", "exclude", "omit", "disable", "testpaths", "norecursedirs", "python_files", "filterwarnings"} {
		if strings.Contains(key, part) && key != "ignore_errors" && key != "ignore_missing_imports" {
			return true
		}
	}
	return false
}
