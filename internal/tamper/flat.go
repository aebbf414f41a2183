package tamper

import (
	"path"
	"strings"
)

const (
	maxSettings = 256 << 10
	maxKeys     = 4000
)

// flat reads a file of settings; nothing where it cannot be read.
func flat(name string, data []byte) []setting {
	if len(data) > maxSettings || tangled(data) {
		return nil
	}
	base := path.Base(name)
	switch end := path.Ext(name); {
	case end == ".yml" || end == ".yaml" || base == ".mocharc" || base == ".eslintrc" && !strings.Contains(string(data), "{"):
		return flatYAML(data)
	case end == ".toml":
		return flatTOML(data)
	case end == ".ini" || end == ".cfg" || base == ".flake8" || base == ".coveragerc" || strings.HasSuffix(base, "pylintrc"):
		return flatINI(string(data))
	case end == ".json" || strings.HasPrefix(base, ".lintstagedrc") || end == ".jsonc" || end == ".json5" || languageOf(name) == script || strings.HasPrefix(base, ".eslintrc") || strings.HasPrefix(base, ".nycrc"):
		return flatObject(string(data))
	case base == ".eslintignore":
		return flatLines("ignores[]", string(data))
	default:
		return nil
	}
}

func flatLines(key, text string) []setting {
	var all []setting
	n := 0
	for line := range strings.Lines(text) {
		n++
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "#") {
			all = append(all, setting{key, line, n})
		}
	}
	return all
}

// tangled tells whether a text is nested or long-winded as only a trap is.
func tangled(data []byte) bool {
	depth, run := 0, 0
	for _, c := range data {
		switch c {
		case '{', '[', '(':
			depth++
		case '}', ']', ')':
			depth--
		case '\n':
			run = -1
		}
		if run++; depth > 100 || run > 4000 {
			return true
		}
	}
	return false
}

func joinKey(key, part string) string {
	if key == "" {
		return part
	}
	return key + "." + part
}
