// Package survey suggests setup, checks and tools from a project's own files: the
// commands that a new contributor would type. It opens no file and runs
// nothing; the baseline shows whether a command works.
package survey

import (
	"encoding/json"
	"path"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/lib/pattern"
	"github.com/ralph-loop/ralph/internal/proof/makefile"
)

var locks = pattern.Of(`(?:^|/)(?:(?:package-lock|npm-shrinkwrap|packages\.lock)\.json|pnpm-lock\.yaml|` +
	`bun\.lockb?|gradle\.lockfile|go\.sum|pom\.xml|build\.gradle(?:\.kts)?|libs\.versions\.toml|` +
	`Package\.resolved|requirements[\w.-]*\.txt|` +
	`(?:yarn|deno|Cargo|Gemfile|poetry|uv|Pipfile|pdm|composer|mix)\.lock)$`)

// Locks reports whether a file names the dependencies that a project fetches.
func Locks(name string) bool { return locks.MatchString(name) }

// Command is a command that a file suggests.
type Command struct {
	Command string
	From    string // the file
}

// Checks returns the commands that check work, the likeliest first. The projects in folders have checks of their own,
// unless there are some at the top.
func (f Files) Checks() []Command {
	var found []Command
	for _, dir := range f.projects() {
		for _, check := range f.in(dir).checks() {
			found = append(found, check.in(dir))
		}
	}
	return found
}

// Setup returns the commands that install what the checks need. The packages of a folder are installed at the top if
// that has a package.json.
func (f Files) Setup() []Command {
	var found []Command
	add := func(commands ...Command) {
		for _, c := range commands {
			if !slices.Contains(found, c) {
				found = append(found, c)
			}
		}
	}
	for _, dir := range f.projects() {
		files := f.in(dir)
		if _, ok := files.target(); ok { // it installs what it needs
			continue
		}
		for _, k := range files.kinds() {
			if k.setup != "" {
				add(Command{k.setup, k.needs}.in(dir))
			}
		}
		switch {
		case files.scripts() == nil:
		case f.has("package.json"):
			_, install := f.manager()
			add(install...)
		default:
			_, install := files.manager()
			for _, c := range install {
				add(c.in(dir))
			}
		}
	}
	return found
}

// in returns the command for a project in a folder.
func (c Command) in(dir string) Command {
	if dir == "." {
		return c
	}
	return Command{"cd " + dir + " && " + c.Command, path.Join(dir, c.From)}
}

// checks returns the checks of one project. A Makefile's test target stands for all.
func (f Files) checks() []Command {
	if check, ok := f.target(); ok {
		return []Command{check}
	}
	var found []Command
	for _, k := range f.kinds() {
		found = append(found, Command{k.check, k.file})
	}
	return append(found, f.scripts()...)
}

// target returns the check that a Makefile or justfile has.
func (f Files) target() (Command, bool) {
	for _, name := range []string{"Makefile", "GNUmakefile", "makefile", "justfile", "Justfile"} {
		rules := makefile.Rules(f[name])
		for _, target := range []string{"test", "check"} {
			if slices.ContainsFunc(rules, func(r makefile.Rule) bool { return slices.Contains(r.Targets, target) }) {
				return Command{runner(name) + " " + target, name}, true
			}
		}
	}
	return Command{}, false
}

func runner(name string) string {
	if strings.EqualFold(name, "justfile") {
		return "just"
	}
	return "make"
}

func (f Files) has(name string) bool {
	_, ok := f[name]
	return ok
}

// kind is a kind of project, by its files.
type kind struct {
	group string // of several kinds in a group the first counts
	file  string
	word  string // in that file
	needs string // another file
	check string
	setup string
}

var kinds = []kind{
	{group: "go vet", file: "go.mod", check: "go vet ./..."},
	{group: "go", file: "go.mod", check: "go test ./..."},
	{group: "rust", file: "Cargo.toml", word: "[workspace]", check: "cargo test --workspace"},
	{group: "rust", file: "Cargo.toml", check: "cargo test"},
	{
		group: "python", file: "pyproject.toml", word: "pytest", needs: "uv.lock",
		check: "uv run pytest", setup: "uv sync --locked",
	},
	{
		group: "python", file: "pyproject.toml", word: "pytest", needs: "poetry.lock",
		check: "poetry run pytest", setup: "poetry install",
	},
	{group: "python", file: "pytest.ini", check: "python3 -m pytest"},
	{group: "python", file: "pyproject.toml", word: "pytest", check: "python3 -m pytest"},
	{group: "python", file: "setup.cfg", word: "pytest", check: "python3 -m pytest"},
	{group: "python", file: "tox.ini", word: "pytest", check: "python3 -m pytest"},
	{group: "python", file: "requirements.txt", word: "pytest", check: "python3 -m pytest"},
	{group: "python", file: "pyproject.toml", needs: "tests/", check: "python3 -m unittest discover -s tests"},
	{group: "python", file: "setup.py", needs: "tests/", check: "python3 -m unittest discover -s tests"},
	{group: "java", file: "pom.xml", needs: "mvnw", check: "sh mvnw -B test"},
	{group: "java", file: "pom.xml", check: "mvn -B test"},
	{group: "java", file: "build.gradle", needs: "gradlew", check: "sh gradlew test"},
	{group: "java", file: "build.gradle", check: "gradle test"},
	{group: "java", file: "build.gradle.kts", needs: "gradlew", check: "sh gradlew test"},
	{group: "java", file: "build.gradle.kts", check: "gradle test"},
	{group: "ruby", file: "Gemfile", needs: "spec/", check: "bundle exec rspec"},
	{group: "ruby", file: "Rakefile", needs: "test/", check: "bundle exec rake test"},
	{group: "php", file: "composer.json", word: `"test"`, check: "composer test"},
	{group: "elixir", file: "mix.exs", check: "mix test"},
	{group: "swift", file: "Package.swift", check: "swift test"},
}

// kinds returns what a project is.
func (f Files) kinds() []kind {
	var found []kind
	for _, k := range kinds {
		switch {
		case !f.has(k.file) || !strings.Contains(string(f[k.file]), k.word):
		case k.needs != "" && !f.has(k.needs):
		case slices.ContainsFunc(found, func(earlier kind) bool { return earlier.group == k.group }):
		default:
			found = append(found, k)
		}
	}
	return found
}

var managers = []struct{ lock, name, install string }{
	{"pnpm-lock.yaml", "pnpm", "pnpm install --frozen-lockfile"},
	{"yarn.lock", "yarn", "yarn install --frozen-lockfile"},
	{"bun.lock", "bun", "bun install --frozen-lockfile"},
	{"bun.lockb", "bun", "bun install --frozen-lockfile"},
	{"package-lock.json", "npm", "npm ci"},
	{"npm-shrinkwrap.json", "npm", "npm ci"},
}

// fetches matches a package.json with dependencies of its own or of its workspaces.
var fetches = pattern.Of(`(?:ependencies|"workspaces)":`)

// manager returns the package manager whose lock file exists, or npm, and its command to install.
func (f Files) manager() (name string, install []Command) {
	for _, m := range managers {
		if f.has(m.lock) {
			return m.name, []Command{{m.install, m.lock}}
		}
	}
	for name, data := range f {
		if path.Base(name) == "package.json" && fetches.MatchString(string(data)) {
			return "npm", []Command{{"npm install --no-package-lock", "package.json"}}
		}
	}
	return "npm", nil
}

const untested = "no test specified" // what npm init writes for a project without tests

// scripts returns the checks of a package.json.
func (f Files) scripts() []Command {
	var pack struct{ Scripts map[string]string }
	if json.Unmarshal(f["package.json"], &pack) != nil {
		return nil
	}
	manager, _ := f.manager()
	var found []Command
	for _, name := range []string{"test", "lint", "typecheck"} {
		script := strings.TrimSpace(pack.Scripts[name])
		if script == "" || strings.Contains(script, untested) {
			continue
		}
		watches := strings.Contains(script, "--watch") && !strings.Contains(script, "--watch=false")
		if watches {
			continue
		}
		command := manager + " run " + name
		if name == "test" && manager != "bun" {
			command = manager + " test"
		}
		found = append(found, Command{command, "package.json"})
	}
	return found
}
