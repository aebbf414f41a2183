package checkdef

import (
	"bytes"
	"encoding/json"
	"path"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/pattern"
)

// packed is a package.json, by its keys.
type packed map[string]json.RawMessage

func unpack(text []byte) (packed, bool) {
	var p packed
	return p, json.Unmarshal(text, &p) == nil && p != nil
}

func (p packed) inner(key string) map[string]json.RawMessage {
	var inner map[string]json.RawMessage
	if json.Unmarshal(p[key], &inner) != nil {
		return nil
	}
	return inner
}

// own are the commands of package managers that are no scripts.
var own = words("install ci add remove exec dlx x i create init link pack publish update audit outdated why set config cache info view login")

// node follows a script of package.json with those that run before and after it.
func (t *trail) node(args []string, in errand) {
	args = slices.DeleteFunc(slices.Clone(args), func(word string) bool { return strings.HasPrefix(word, "-") })
	if len(args) > 1 && (args[0] == "run" || args[0] == "run-script") {
		args = args[1:]
	}
	if len(args) == 0 || own[args[0]] {
		return
	}
	name := args[0]
	if name == "t" || name == "tst" {
		name = "test"
	}
	file := path.Join(in.dir, "package.json")
	pack, is := unpack(t.base(file))
	if !is {
		return
	}
	for name := range pack.inner("imports") { // by which tests are given another file than they name
		t.some(file, members, "imports."+name)
	}
	for _, script := range []string{"pre" + name, name, "post" + name} {
		t.some(file, members, "scripts."+script)
		var text string
		if json.Unmarshal(pack.inner("scripts")[script], &text) == nil {
			t.add(errand{text, in.dir, in.ready})
		}
	}
}

// holdMembers is a package.json with some members as they were; nil: one cannot be read.
func holdMembers(was, now []byte, parts []string) []byte {
	old, read := unpack(was)
	young, still := unpack(now)
	if !read || !still {
		return nil
	}
	changed := false
	for _, part := range parts {
		if outer, key, is := strings.Cut(part, "."); is {
			inner := young.inner(outer)
			if put(&inner, old.inner(outer), key) {
				changed = true
				young[outer], _ = json.Marshal(inner) //nolint:errchkjson // was read from JSON
			}
			continue
		}
		all := map[string]json.RawMessage(young)
		changed = put(&all, old, part) || changed
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

// put gives an object a member as another one has it, and tells whether that is a change.
func put(to *map[string]json.RawMessage, from map[string]json.RawMessage, key string) bool {
	was, had := from[key]
	now, has := (*to)[key]
	switch {
	case had == has && (!had || same(was, now)):
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

func same(a, b json.RawMessage) bool {
	var one, two bytes.Buffer
	return json.Compact(&one, a) == nil && json.Compact(&two, b) == nil && bytes.Equal(one.Bytes(), two.Bytes())
}

// owned is what a tool reads its settings from.
type owned struct {
	files    []string            // all of each
	sections map[string][]string // of a file, by how their names begin
	members  []string            // keys of a package.json
	keys     map[string][]string // of a file with a KEY=VALUE a line
	hooks    string              // what comes and hooks into the runner
}

var (
	npm = owned{keys: map[string][]string{".npmrc": {
		"script-shell", "shell", "node-options", "ignore-scripts", "scripts-prepend-node-path", "shell-emulator", "if-present",
		"pnpmfile", "global-pnpmfile", "enable-pre-post-scripts", "prefix", "globalconfig", "userconfig",
	}}}
	pytest = owned{
		hooks: "conftest.py",
		files: []string{"pytest.ini", ".pytest.ini"},
		sections: map[string][]string{
			"tox.ini": {"pytest"}, "setup.cfg": {"tool:pytest"}, "pyproject.toml": {"tool.pytest", "project.entry-points.pytest11"},
		},
	}
	settingsOf = map[string]owned{
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
		"jest":          {files: family("jest.config", "js", "ts", "cjs", "mjs", "cts", "json"), members: []string{"jest"}},
		"vitest":        {files: append(family("vitest.config", "js", "ts", "mjs", "mts", "cjs", "cts"), family("vitest.workspace", "js", "ts", "json")...)},
		"mocha":         {files: family(".mocharc", "js", "cjs", "json", "jsonc", "yml", "yaml"), members: []string{"mocha"}},
		"ava":           {files: family("ava.config", "js", "cjs", "mjs"), members: []string{"ava"}},
		"nyc":           {files: append(family(".nycrc", "json", "yml", "yaml"), ".nycrc", "nyc.config.js"), members: []string{"nyc"}},
		"c8":            {files: []string{".c8rc.json", ".c8rc"}, members: []string{"c8"}},
		"karma":         {files: family("karma.conf", "js", "ts", "cjs")},
		"playwright":    {files: family("playwright.config", "js", "ts", "mjs")},
		"cypress":       {files: family("cypress.config", "js", "ts", "mjs", "cjs")},
		"eslint":        {files: append(append(family("eslint.config", "js", "mjs", "cjs", "ts"), family(".eslintrc", "js", "cjs", "json", "yml", "yaml")...), ".eslintrc", ".eslintignore"), members: []string{"eslintConfig", "eslintIgnore"}},
		"biome":         {files: []string{"biome.json", "biome.jsonc"}},
		"golangci-lint": {files: family(".golangci", "yml", "yaml", "toml", "json")},
		"phpunit":       {files: []string{"phpunit.xml", "phpunit.xml.dist"}},
		"rspec":         {files: []string{".rspec"}},
		"rubocop":       {files: []string{".rubocop.yml"}},
		"pre-commit":    {files: []string{".pre-commit-config.yaml"}},
		"task":          {files: []string{"Taskfile.yml", "Taskfile.yaml"}},
	}
)

func family(stem string, ends ...string) []string {
	var all []string
	for _, end := range ends {
		all = append(all, stem+"."+end)
	}
	return all
}

// settings takes hold of what a tool reads, there already or not: it may come.
func (t *trail) settings(tool, dir string) {
	own, known := settingsOf[tool]
	if !known {
		return
	}
	for _, name := range own.files {
		t.all(path.Join(dir, name))
	}
	for name, parts := range own.sections {
		t.some(path.Join(dir, name), sections, parts...)
	}
	for name, parts := range own.keys {
		t.some(path.Join(dir, name), keys, parts...)
	}
	if own.hooks != "" {
		t.some(path.Join(dir, own.hooks), hooks)
	}
	if len(own.members) > 0 {
		t.some(path.Join(dir, "package.json"), members, own.members...)
	}
}

// section is a part of an ini or toml file; the lines before the first head have no name.
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
