package checkdef

import (
	"bytes"
	"encoding/json"
	"path"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/pattern"
)

// packageJSON is a package.json, by its keys.
type packageJSON map[string]json.RawMessage

func readPackageJSON(text []byte) (packageJSON, bool) {
	var p packageJSON
	return p, json.Unmarshal(text, &p) == nil && p != nil
}

func (p packageJSON) object(key string) map[string]json.RawMessage {
	var inner map[string]json.RawMessage
	if json.Unmarshal(p[key], &inner) != nil {
		return nil
	}
	return inner
}

// managerCommands are the commands of package managers that are no scripts.
var managerCommands = words("install ci add remove exec dlx x i create init link pack publish update audit outdated why set config cache info view login")

// followNodeScript follows a script of package.json with those that run before and after it.
func (f *follower) followNodeScript(args []string, in shellText) {
	args = slices.DeleteFunc(slices.Clone(args), func(word string) bool { return strings.HasPrefix(word, "-") })
	if len(args) == 0 || managerCommands[args[0]] {
		return
	}
	file := path.Join(in.dir, "package.json")
	pack, is := readPackageJSON(f.base(file))
	if !is {
		return
	}
	for name := range pack.object("imports") { // by which tests are given another file than they name
		f.addParts(file, jsonMembers, "imports."+name)
	}
	for _, name := range args[:min(len(args), 4)] { // the first, or what follows a flag's value
		if name == "t" || name == "tst" {
			name = "test"
		}
		for _, script := range []string{"pre" + name, name, "post" + name} {
			f.addParts(file, jsonMembers, "scripts."+script)
			var text string
			if json.Unmarshal(pack.object("scripts")[script], &text) == nil {
				f.enqueue(shellText{text, in.dir, in.isSetup})
			}
		}
	}
}

// restoreMembers is a package.json with some members as they were; nil: one cannot be read.
func restoreMembers(was, now []byte, parts []string) []byte {
	old, read := readPackageJSON(was)
	young, still := readPackageJSON(now)
	if !read || !still {
		return nil
	}
	changed := false
	for _, part := range parts {
		if outer, key, is := strings.Cut(part, "."); is {
			inner := young.object(outer)
			if restoreMember(&inner, old.object(outer), key) {
				changed = true
				young[outer], _ = json.Marshal(inner) //nolint:errchkjson // was read from JSON
			}
			continue
		}
		all := map[string]json.RawMessage(young)
		changed = restoreMember(&all, old, part) || changed
	}
	if !changed {
		return now
	}
	text, err := json.MarshalIndent(young, "", "  ")
	if err != nil {
		return nil
	}
	return append(text, '\n')
}

// restoreMember gives an object a member as another one has it, and tells whether that is a change.
func restoreMember(to *map[string]json.RawMessage, from map[string]json.RawMessage, key string) bool {
	was, had := from[key]
	now, has := (*to)[key]
	switch {
	case had == has && (!had || sameJSON(was, now)):
		return false
	case !had:
		delete(*to, key)
		return true
	case *to == nil:
		*to = map[string]json.RawMessage{}
	}
	(*to)[key] = was
	return true
}

func sameJSON(a, b json.RawMessage) bool {
	var one, two bytes.Buffer
	return json.Compact(&one, a) == nil && json.Compact(&two, b) == nil && bytes.Equal(one.Bytes(), two.Bytes())
}

// toolSettings is what a tool reads its settings from.
type toolSettings struct {
	files    []string            // all of each
	sections map[string][]string // of a file, by how their names begin
	members  []string            // keys of a package.json
	hookFile string              // what comes and hooks into the runner
}

var (
	npm    = toolSettings{sections: map[string][]string{".npmrc": {}}} // tried, and not put back
	pytest = toolSettings{
		hookFile: "conftest.py",
		files:    []string{"pytest.ini", ".pytest.ini"},
		sections: map[string][]string{
			"tox.ini": {"pytest"}, "setup.cfg": {"tool:pytest"}, "pyproject.toml": {"tool.pytest", "project.entry-points.pytest11"},
		},
	}
	settingsOf = map[string]toolSettings{
		"pytest": pytest, "py.test": pytest,
		"npm": npm, "npx": npm, "pnpm": npm, "pnpx": npm, "yarn": npm,
		"cargo":         {sections: map[string][]string{".cargo/config.toml": {"target", "build", "alias", "env"}}},
		"tox":           {sections: map[string][]string{"tox.ini": {"tox", "testenv", "pytest"}, "pyproject.toml": {"tool.tox", "tool.pytest"}}},
		"nox":           {files: []string{"noxfile.py"}},
		"nose2":         {files: []string{"unittest.cfg", "nose2.cfg"}},
		"coverage":      {files: []string{".coveragerc"}, sections: map[string][]string{"setup.cfg": {"coverage:"}, "tox.ini": {"coverage:"}, "pyproject.toml": {"tool.coverage"}}},
		"ruff":          {files: []string{"ruff.toml", ".ruff.toml"}, sections: map[string][]string{"pyproject.toml": {"tool.ruff"}}},
		"flake8":        {files: []string{".flake8"}, sections: map[string][]string{"setup.cfg": {"flake8"}, "tox.ini": {"flake8"}}},
		"mypy":          {files: []string{"mypy.ini", ".mypy.ini"}, sections: map[string][]string{"setup.cfg": {"mypy"}, "pyproject.toml": {"tool.mypy"}}},
		"pylint":        {files: []string{".pylintrc", "pylintrc"}, sections: map[string][]string{"pyproject.toml": {"tool.pylint"}}},
		"pyright":       {files: []string{"pyrightconfig.json"}, sections: map[string][]string{"pyproject.toml": {"tool.pyright"}}},
		"jest":          {files: withExtensions("jest.config", "js", "ts", "cjs", "mjs", "cts", "json"), members: []string{"jest"}},
		"vitest":        {files: append(withExtensions("vitest.config", "js", "ts", "mjs", "mts", "cjs", "cts"), withExtensions("vitest.workspace", "js", "ts", "json")...)},
		"mocha":         {files: withExtensions(".mocharc", "js", "cjs", "json", "jsonc", "yml", "yaml"), members: []string{"mocha"}},
		"ava":           {files: withExtensions("ava.config", "js", "cjs", "mjs"), members: []string{"ava"}},
		"nyc":           {files: append(withExtensions(".nycrc", "json", "yml", "yaml"), ".nycrc", "nyc.config.js"), members: []string{"nyc"}},
		"c8":            {files: []string{".c8rc.json", ".c8rc"}, members: []string{"c8"}},
		"karma":         {files: withExtensions("karma.conf", "js", "ts", "cjs")},
		"playwright":    {files: withExtensions("playwright.config", "js", "ts", "mjs")},
		"cypress":       {files: withExtensions("cypress.config", "js", "ts", "mjs", "cjs")},
		"eslint":        {files: append(append(withExtensions("eslint.config", "js", "mjs", "cjs", "ts"), withExtensions(".eslintrc", "js", "cjs", "json", "yml", "yaml")...), ".eslintrc", ".eslintignore"), members: []string{"eslintConfig", "eslintIgnore"}},
		"biome":         {files: []string{"biome.json", "biome.jsonc"}},
		"golangci-lint": {files: withExtensions(".golangci", "yml", "yaml", "toml", "json")},
		"phpunit":       {files: []string{"phpunit.xml", "phpunit.xml.dist"}},
		"rspec":         {files: []string{".rspec"}},
		"rubocop":       {files: []string{".rubocop.yml"}},
		"pre-commit":    {files: []string{".pre-commit-config.yaml"}},
		"task":          {files: []string{"Taskfile.yml", "Taskfile.yaml"}},
	}
)

func withExtensions(stem string, ends ...string) []string {
	var all []string
	for _, end := range ends {
		all = append(all, stem+"."+end)
	}
	return all
}

// addSettings adds what a tool reads, there already or not: it may come.
func (f *follower) addSettings(tool, dir string) {
	own, known := settingsOf[tool]
	if !known {
		return
	}
	for _, name := range own.files {
		f.addWhole(path.Join(dir, name))
	}
	for name, parts := range own.sections {
		f.addParts(path.Join(dir, name), iniSections, parts...)
	}
	if own.hookFile != "" {
		f.addParts(path.Join(dir, own.hookFile), pytestHooks)
	}
	if len(own.members) > 0 {
		f.addParts(path.Join(dir, "package.json"), jsonMembers, own.members...)
	}
}

// section is a part of an ini or toml file; the lines before the first head have no name.
type section struct {
	name  string
	lines []string
}

var sectionHead = pattern.Of(`^\s*\[\[?\s*([^\[\]]+?)\s*\]`)

func sectionsOf(text []byte) []section {
	all := []section{{}}
	for line := range strings.Lines(string(text)) {
		if found := sectionHead.FindStringSubmatch(line); found != nil {
			all = append(all, section{name: strings.ReplaceAll(found[1], `"`, "")})
		}
		last := &all[len(all)-1]
		last.lines = append(last.lines, line)
	}
	return all
}

// restoreSections is a file with some sections, by how their names begin, as they
// were. One that came goes; one that went stands at the end.
func restoreSections(was, now []byte, parts []string) []byte {
	other := func(s section) bool {
		return s.name == "" || !slices.ContainsFunc(parts, func(part string) bool { return strings.HasPrefix(s.name, part) })
	}
	old, young := slices.DeleteFunc(sectionsOf(was), other), slices.DeleteFunc(sectionsOf(now), other)
	if slices.EqualFunc(old, young, func(a, b section) bool { return sectionText(a) == sectionText(b) }) {
		return now
	}
	var text strings.Builder
	for _, s := range sectionsOf(now) {
		if other(s) {
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

// sectionText is a section without comments and blank lines.
func sectionText(s section) string {
	var text strings.Builder
	for _, line := range s.lines {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "#") && !strings.HasPrefix(line, ";") {
			text.WriteString(line + "\n")
		}
	}
	return text.String()
}
