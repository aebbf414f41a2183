// Package survey suggests setup and checks from a project's own files: the
// commands that a new contributor would type. It opens no file and runs
// nothing; the baseline shows whether a command works.
package survey

import (
	"cmp"
	"encoding/json"
	"path"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/lib/pattern"
	"github.com/ralph-loop/ralph/internal/proof/makefile"
)

// Files are a project's files, and those of projects in its folders, that suggest commands. A folder's
// name ends with a slash.
type Files map[string][]byte

func wanted() []string {
	return []string{
		"go.work", "pnpm-workspace.yaml",
		"Makefile", "GNUmakefile", "makefile", "justfile", "Justfile", "Taskfile.yml",
		"go.mod", "Cargo.toml",
		"package.json", "package-lock.json", "npm-shrinkwrap.json",
		"pnpm-lock.yaml", "yarn.lock", "bun.lock", "bun.lockb", "deno.json", "deno.jsonc",
		"pyproject.toml", "pytest.ini", "setup.cfg", "tox.ini", "setup.py",
		"requirements.txt", "uv.lock", "poetry.lock",
		"tests/", "test/", "spec/",
		"pom.xml", "mvnw", "build.gradle", "build.gradle.kts", "gradlew",
		"Gemfile", "Rakefile", "composer.json", "mix.exs", "Package.swift",
	}
}

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

// Checks returns the commands that check work, the likeliest first. A Makefile's test target stands for all. A project
// in a folder has its own checks, unless the top has some of the same kind, which run for all. Go's never do.
func (f Files) Checks() []Command {
	found := f.top()
	for _, c := range found {
		if !manifest(c.From) {
			return found
		}
	}
	kinds := map[string]bool{}
	for _, c := range found {
		kinds[c.From] = c.From != "go.mod"
	}
	for _, dir := range f.below() {
		for _, c := range f.in(dir).top() {
			if !kinds[c.From] {
				found = append(found, Command{"cd " + dir + " && " + c.Command, dir + "/" + c.From})
			}
		}
	}
	return found
}

func manifest(name string) bool {
	return !strings.HasSuffix(strings.ToLower(name), "file") || name == "Gemfile" || name == "Rakefile"
}

func (f Files) top() []Command {
	for _, name := range []string{"Makefile", "GNUmakefile", "makefile", "justfile", "Justfile"} {
		rules := makefile.Rules(f[name])
		for _, target := range []string{"test", "check"} {
			if slices.ContainsFunc(rules, func(r makefile.Rule) bool { return slices.Contains(r.Targets, target) }) {
				return []Command{{runner(name) + " " + target, name}}
			}
		}
	}
	var found []Command
	add := func(applies bool, command, from string) {
		if applies {
			found = append(found, Command{command, from})
		}
	}
	add(f.has("go.mod"), "go vet ./...", "go.mod")
	add(f.has("go.mod"), "go test ./...", "go.mod")
	crates := f.holds("Cargo.toml", "[workspace]")
	add(crates, "cargo test --workspace", "Cargo.toml")
	add(f.has("Cargo.toml") && !crates, "cargo test", "Cargo.toml")
	found = append(found, f.node()...)
	deno := f.first("deno.json", "deno.jsonc")
	add(deno != "", "deno test", deno)
	found = append(found, f.python()...)
	gradle := f.first("build.gradle", "build.gradle.kts")
	add(f.has("pom.xml"), f.wrapped("mvnw", "mvn")+" -B test", "pom.xml")
	add(gradle != "" && !f.has("pom.xml"), f.wrapped("gradlew", "gradle")+" test", gradle)
	specs := f.has("Gemfile") && f.has("spec/")
	add(specs, "bundle exec rspec", "Gemfile")
	add(!specs && f.has("Gemfile") && f.has("Rakefile") && f.has("test/"), "bundle exec rake test", "Rakefile")
	add(f.holds("composer.json", `"test"`), "composer test", "composer.json")
	add(f.has("mix.exs"), "mix test", "mix.exs")
	add(f.has("Package.swift"), "swift test", "Package.swift")
	return found
}

// Setup returns the commands that install what the checks need.
func (f Files) Setup() []Command {
	var found []Command
	add := func(commands ...Command) {
		for _, c := range commands {
			if !slices.Contains(found, c) {
				found = append(found, c)
			}
		}
	}
	for _, c := range f.Checks() {
		if path.Base(c.From) == "package.json" {
			add(f.install(path.Dir(c.From))...)
		}
		for _, v := range venvs {
			if cd, _, ok := strings.Cut(c.Command, v.run); ok {
				add(Command{cd + v.setup, path.Join(path.Dir(c.From), v.lock)})
			}
		}
	}
	return found
}

// install returns what installs the packages of a folder. The top installs those of its workspaces, too.
func (f Files) install(dir string) []Command {
	if f.has("package.json") {
		_, install := f.manager()
		return install
	}
	_, install := f.in(dir).manager()
	for i, c := range install {
		install[i] = Command{"cd " + dir + " && " + c.Command, dir + "/" + c.From}
	}
	return install
}

var managers = []struct{ lock, name, install string }{
	{"pnpm-lock.yaml", "pnpm", "pnpm install --frozen-lockfile"},
	{"yarn.lock", "yarn", "yarn install --frozen-lockfile"},
	{"bun.lock", "bun", "bun install --frozen-lockfile"},
	{"bun.lockb", "bun", "bun install --frozen-lockfile"},
	{"package-lock.json", "npm", "npm ci"},
	{"npm-shrinkwrap.json", "npm", "npm ci"},
}

// manager returns the package manager whose lock file exists, or npm, and its command to install.
func (f Files) manager() (name string, install []Command) {
	for _, m := range managers {
		if f.has(m.lock) {
			return m.name, []Command{{m.install, m.lock}}
		}
	}
	for name, data := range f {
		if path.Base(name) == "package.json" && strings.Contains(string(data), `ependencies":`) {
			return "npm", []Command{{"npm install --no-package-lock", "package.json"}}
		}
	}
	return "npm", nil
}

func (f Files) has(name string) bool {
	_, ok := f[name]
	return ok
}

func (f Files) holds(name, word string) bool { return strings.Contains(string(f[name]), word) }

func runner(name string) string {
	if strings.EqualFold(name, "justfile") {
		return "just"
	}
	return "make"
}

const untested = "no test specified" // what npm init writes for a project without tests

func (f Files) node() []Command {
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

// venvs are the tools that run a program with the packages of their lock file.
var venvs = []struct{ lock, run, setup string }{
	{"uv.lock", "uv run ", "uv sync --locked"},
	{"poetry.lock", "poetry run ", "poetry install"},
}

func (f Files) python() []Command {
	run := ""
	pytest := "python3 -m pytest"
	for _, v := range venvs {
		if f.has(v.lock) {
			run = v.run
			pytest = v.run + "pytest"
			break
		}
	}
	for _, name := range []string{"pytest.ini", "pyproject.toml", "setup.cfg", "tox.ini", "requirements.txt"} {
		if f.has(name) && (name == "pytest.ini" || f.holds(name, "pytest")) {
			return []Command{{pytest, name}}
		}
	}
	folder := cmp.Or(f.first("tests/"), f.first("test/"))
	from := f.first("pyproject.toml", "setup.py")
	if folder == "" || from == "" {
		return nil
	}
	return []Command{{run + "python3 -m unittest discover -s " + strings.TrimSuffix(folder, "/"), from}}
}

func (f Files) wrapped(wrapper, program string) string {
	if f.has(wrapper) {
		return "sh " + wrapper
	}
	return program
}

func (f Files) first(names ...string) string {
	for _, name := range names {
		if f.has(name) {
			return name
		}
	}
	return ""
}
