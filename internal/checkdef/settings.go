package checkdef

import (
	"encoding/json"
	"path"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/pattern"
)

// packageJSON holds the members of a package.json.
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

// managerCommands are commands of package managers, not scripts.
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
	for name := range pack.object("imports") { // they can give tests another file than they name
		f.addParts(file, "imports."+name)
	}
	for _, name := range args[:min(len(args), 4)] { // the script's name, maybe after flags with values
		if name == "t" || name == "tst" {
			name = "test"
		}
		for _, script := range []string{"pre" + name, name, "post" + name} {
			f.addParts(file, "scripts."+script)
			var text string
			if json.Unmarshal(pack.object("scripts")[script], &text) == nil {
				f.enqueue(shellText{text, in.dir, in.isSetup})
			}
		}
	}
}

// toolFiles are the files that decide what a tool does.
type toolFiles struct {
	files    []string            // whole files
	parts    map[string][]string // of a file, by the beginning of their names; without parts it is tried, and not put back
	new      []string            // files that hide the tool itself, or its settings, if the base has none
	newAbove []string            // the same, also in all folders above; one of the base is tried
}

var (
	npm    = toolFiles{parts: map[string][]string{".npmrc": {}}}
	pytest = toolFiles{
		files: []string{"pytest.ini", ".pytest.ini"}, new: python.new,
		parts: map[string][]string{
			"tox.ini": {"pytest"}, "setup.cfg": {"tool:pytest"}, "pyproject.toml": {"tool.pytest", "project.entry-points.pytest11"},
		},
	}
	python  = toolFiles{new: pythonModules()}
	maven   = toolFiles{files: []string{".mvn/maven.config", ".mvn/jvm.config", ".mvn/extensions.xml", ".mvn/wrapper/maven-wrapper.properties", ".mvn/wrapper/maven-wrapper.jar"}}
	bazel   = toolFiles{files: []string{".bazelrc", ".bazelversion", "tools/bazel"}}
	filesOf = map[string]toolFiles{
		"python": python, "mvn": maven, "mvnw": maven, "bazel": bazel, "bazelisk": bazel,
		"gradlew": {files: []string{"gradle/wrapper/gradle-wrapper.properties", "gradle/wrapper/gradle-wrapper.jar"}},
		"tsc":     {new: nodeBinary("tsc")},
		"pytest":  pytest, "py.test": pytest,
		"npm": npm, "npx": npm, "pnpm": npm, "pnpx": npm, "yarn": npm,
		"go":            {parts: map[string][]string{"go.mod": {}}, newAbove: []string{"go.work"}},
		"cargo":         {parts: map[string][]string{".cargo/config.toml": {"target", "build", "alias", "env"}, "Cargo.toml": {}}, new: []string{"rust-toolchain", "rust-toolchain.toml"}, newAbove: []string{".cargo/config"}},
		"tox":           {new: python.new, parts: map[string][]string{"tox.ini": {"tox", "testenv", "pytest"}, "pyproject.toml": {"tool.tox", "tool.pytest"}}},
		"nox":           {new: python.new, files: []string{"noxfile.py"}},
		"nose2":         {new: python.new, files: []string{"unittest.cfg", "nose2.cfg"}},
		"coverage":      {new: python.new, files: []string{".coveragerc"}, parts: map[string][]string{"setup.cfg": {"coverage:"}, "tox.ini": {"coverage:"}, "pyproject.toml": {"tool.coverage"}}},
		"ruff":          {files: []string{"ruff.toml", ".ruff.toml"}, parts: map[string][]string{"pyproject.toml": {"tool.ruff"}}},
		"flake8":        {files: []string{".flake8"}, parts: map[string][]string{"setup.cfg": {"flake8"}, "tox.ini": {"flake8"}}},
		"mypy":          {files: []string{"mypy.ini", ".mypy.ini"}, parts: map[string][]string{"setup.cfg": {"mypy"}, "pyproject.toml": {"tool.mypy"}}},
		"pylint":        {files: []string{".pylintrc", "pylintrc"}, parts: map[string][]string{"pyproject.toml": {"tool.pylint"}}},
		"pyright":       {files: []string{"pyrightconfig.json"}, parts: map[string][]string{"pyproject.toml": {"tool.pyright"}}},
		"jest":          {new: nodeBinary("jest"), files: withExtensions("jest.config", "js", "ts", "cjs", "mjs", "cts", "json"), parts: map[string][]string{"package.json": {"jest"}}},
		"vitest":        {new: nodeBinary("vitest"), files: append(withExtensions("vitest.config", "js", "ts", "mjs", "mts", "cjs", "cts"), withExtensions("vitest.workspace", "js", "ts", "json")...)},
		"mocha":         {new: nodeBinary("mocha"), files: withExtensions(".mocharc", "js", "cjs", "json", "jsonc", "yml", "yaml"), parts: map[string][]string{"package.json": {"mocha"}}},
		"ava":           {new: nodeBinary("ava"), files: withExtensions("ava.config", "js", "cjs", "mjs"), parts: map[string][]string{"package.json": {"ava"}}},
		"nyc":           {files: append(withExtensions(".nycrc", "json", "yml", "yaml"), ".nycrc", "nyc.config.js"), parts: map[string][]string{"package.json": {"nyc"}}},
		"c8":            {files: []string{".c8rc.json", ".c8rc"}, parts: map[string][]string{"package.json": {"c8"}}},
		"karma":         {files: withExtensions("karma.conf", "js", "ts", "cjs")},
		"playwright":    {files: withExtensions("playwright.config", "js", "ts", "mjs")},
		"cypress":       {files: withExtensions("cypress.config", "js", "ts", "mjs", "cjs")},
		"eslint":        {new: nodeBinary("eslint"), files: append(append(withExtensions("eslint.config", "js", "mjs", "cjs", "ts"), withExtensions(".eslintrc", "js", "cjs", "json", "yml", "yaml")...), ".eslintrc", ".eslintignore"), parts: map[string][]string{"package.json": {"eslintConfig", "eslintIgnore"}}},
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

// addFiles adds a tool's files, even if the base has none: the change may add them.
func (f *follower) addFiles(tool, dir string) {
	if interpreter.MatchString(tool) {
		tool = "python"
	}
	of := filesOf[tool]
	for _, name := range of.files {
		f.addWhole(path.Join(dir, name))
	}
	for name, parts := range of.parts {
		f.addParts(path.Join(dir, name), parts...)
		f.base(path.Join(dir, name)) // to look for it behind cd, too
	}
	for _, name := range of.new {
		f.addIfNew(path.Join(dir, name))
	}
	for at := path.Clean(dir); len(of.newAbove) > 0; at = path.Dir(at) {
		for _, name := range of.newAbove {
			if file := path.Join(at, name); f.base(file) == nil {
				f.addIfNew(file)
			} else {
				f.addParts(file)
			}
		}
		if at == "." {
			return
		}
	}
}

// section is a part of an ini or toml file. The lines before the first head have no name.
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

// sectionsDiffer reports whether sections differ, by the beginning of their names.
func sectionsDiffer(was, now []byte, parts []string) bool {
	said := func(text []byte) (all []string) {
		for _, s := range sectionsOf(text) {
			if s.name != "" && slices.ContainsFunc(parts, func(part string) bool { return strings.HasPrefix(s.name, part) }) {
				all = append(all, sectionText(s))
			}
		}
		return all
	}
	return !slices.Equal(said(was), said(now))
}

// sectionText returns a section without comments and blank lines.
func sectionText(s section) string {
	var text strings.Builder
	for _, line := range s.lines {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "#") && !strings.HasPrefix(line, ";") {
			text.WriteString(line + "\n")
		}
	}
	return text.String()
}
