package suite

import (
	"path"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/lib/pattern"
	"github.com/ralph-loop/ralph/internal/lib/shell"
)

// Variables of the commands.
const (
	// Variable has the names of test files that a check runs, separated by spaces. If it is unset, all tests run.
	Variable = "RALPH_TESTS"
	// Reports is a folder for JUnit XML files, which a check may write.
	Reports = "RALPH_REPORTS"
)

// runner is a test runner that can run only the tests in some files, or report results by name.
type runner struct {
	command *pattern.Pattern // a whole command that runs all tests
	tests   *pattern.Pattern // the files that it can run alone; nil: none
	only    func(files []string) string
	report  string // options with which it writes a report
}

const flags = `( -[-\w=.,:/]+)*$`

// The test files of JavaScript's runners. Mocha also runs all files in a folder.
var (
	jsTests = pattern.Of(`\.(test|spec)\.[cm]?[jt]sx?$|(^|/)__tests__/[^/]+\.[cm]?[jt]sx?$`)
	specs   = pattern.Of(`\.(test|spec)\.[cm]?[jt]sx?$|^tests?/[^/]+\.[cm]?[jt]s$`)
	classes = pattern.Of(`(^|/)(Test[^/]*|[^/]*(Test|Tests|TestCase))\.(java|kt|groovy)$`)
	goTests = pattern.Of(`_test\.go$|(^|/)testdata/`)
)

// goTest is the command of which all packages can be replaced by some.
var goTest = pattern.Of(`^go test( -[-\w=.,:/]+)* \./\.\.\.` + flags)

var runners = []runner{
	{
		command: pattern.Of(`^cargo test( --?[a-z][-\w=.,:/]*)*$`),
		tests:   pattern.Of(`(^|/)tests/[^/]+\.rs$`),
		only:    each(" --test ", ".rs"),
	},
	{
		command: pattern.Of(`^((npx|yarn|pnpm|bunx) )?jest` + flags),
		tests:   jsTests,
		only:    after(" --runTestsByPath"),
		report:  ` $(test -e node_modules/jest-junit && echo --reporters=default --reporters=jest-junit)`,
	},
	{
		command: pattern.Of(`^((npx|yarn|pnpm|bunx) )?vitest run` + flags),
		tests:   jsTests,
		only:    after(""),
		report:  ` --reporter=default --reporter=junit --outputFile.junit="$RALPH_REPORTS/vitest.xml"`,
	},
	{command: pattern.Of(`^node --test` + flags), tests: jsTests, only: after("")},
	{
		command: pattern.Of(`^((npx|yarn|pnpm|bunx) )?mocha` +
			`( (-R|-r|-t|--reporter|--require|--timeout) [\w./@-]+)*` + flags),
		tests: specs,
		only:  after(""),
	},
	{
		command: pattern.Of(`^((uv|poetry|pipenv|pdm|hatch) run )?(python3? -m )?pytest` + flags),
		tests:   pattern.Of(`(^|/)(test_[^/]*|[^/]*_test)\.py$`),
		only:    after(""),
	},
	{command: pattern.Of(`^(bundle exec )?rspec` + flags), tests: pattern.Of(`_spec\.rb$`), only: after("")},
	{command: pattern.Of(`^(\./)?(vendor/bin/)?phpunit` + flags), tests: pattern.Of(`Test\.php$`), only: after("")},
	{
		command: pattern.Of(`^(\./mvnw|mvn)( -[-\w=.,:/]+)* test` + flags),
		tests:   classes,
		only:    each(" -Dtest=", ".java", ".kt", ".groovy"),
	},
	{
		command: pattern.Of(`^(\./gradlew|gradle)( -[-\w=.,:/]+)* test` + flags),
		tests:   classes,
		only:    each(" --tests ", ".java", ".kt", ".groovy"),
	},
	{command: pattern.Of(`^(python3? -m )?unittest|^(python3? )?manage\.py test|^dotnet test|^mix test|^swift test|` +
		`^zig build test|^ctest|^bats |^prove |^deno test|^bun test|^cargo nextest`)},
}

// after appends files to a command.
func after(option string) func([]string) string {
	return func(files []string) string { return option + " " + strings.Join(files, " ") }
}

// each appends an option for each file, without its folder and extension.
func each(option string, ends ...string) func([]string) string {
	return func(files []string) string {
		var text strings.Builder
		for _, file := range files {
			name := path.Base(file)
			for _, end := range ends {
				name = strings.TrimSuffix(name, end)
			}
			text.WriteString(option + name)
		}
		return text.String()
	}
}

// Call is a check's command, with its runner if that is known.
type Call struct {
	command string
	words   string // the command without its quotes, if it is a single one
	runner  *runner
	between string // what package managers need between a script and its arguments
	usesEnv bool   // the command reads Variable
	node    bool   // it runs tests by node itself
	plain   bool   // it is no check
}

// Source gives what a command needs: the text of a script of package.json, and whether the command reads a variable.
type Source struct {
	Script func(name string) string
	Reads  func(variable string) bool
}

// Plain is a command without a runner.
func Plain(command string) Call { return Call{command: command, plain: true} }

var npmScript = pattern.Of(`^(npm|yarn|pnpm)( run)? ([\w:.-]+)$`)

// CallOf finds the runner of a command, also behind a script of package.json.
func CallOf(command string, source Source) Call {
	c := Call{command: command, usesEnv: source.Reads(Variable)}
	words, err := shell.Words(command)
	if err != nil { // more than a single command
		c.node = strings.Contains(command, "node --test")
		return c
	}
	c.words = strings.Join(words, " ")
	text := c.words
	if found := npmScript.FindStringSubmatch(c.words); found != nil {
		name := found[3]
		if name == "t" {
			name = "test"
		}
		text = source.Script(name)
		if found[1] == "npm" {
			c.between = " --"
		}
	}
	c.node = strings.Contains(text, "node --test")
	for i := range runners {
		if runners[i].command.MatchString(text) {
			c.runner = &runners[i]
			return c
		}
	}
	return c
}

// goCall matches a call of go test, and elsewhere what makes its output another's.
var (
	goCall    = pattern.Of(`(^|[\s;&(])go( -C \S+)? test(\s|$)`)
	elsewhere = pattern.Of("[|<>`$]")
)

// IsGo reports whether the command is `go test`, maybe after others, whose results can be read from its output.
func (c Call) IsGo() bool {
	return !c.plain && c.runner == nil && goCall.MatchString(c.command) && !elsewhere.MatchString(c.command)
}

// callsRunner matches a command that calls a test runner, or a target or script whose name says that it tests.
var callsRunner = pattern.Of(`(^|[\s;&|(])(go( -C \S+)? test|pytest|py\.test|jest|vitest|mocha|ava|` +
	`cargo (test|nextest)|node --test|rspec|phpunit|unittest|` +
	`(\./)?(mvnw?|gradlew?)( \S+)* (test|check|verify)|(dotnet|mix|swift|deno|bun|zig build) test|ctest|bats|prove|` +
	`(make|just|task|rake|invoke|composer|mage|npm|yarn|pnpm|bun|tox|nox)( run| -\S+( [^-\s]\S*)?)*` +
	`( \S*tests?\S*| t| spec))(\s|$|[;&|)])|` +
	`(^|[;&|(]\s*)((ba)?sh )?\S*tests?\S*\.(sh|bash|py|rb|js)(\s|$)`)

// RunsTests reports whether the command certainly runs tests.
func (c Call) RunsTests() bool {
	if c.plain {
		return false
	}
	return c.runner != nil || c.usesEnv || c.node || callsRunner.MatchString(c.command)
}

// onlyReads matches a command that certainly runs no tests: a linter or a compiler.
var onlyReads = pattern.Of(`^\s*($|cd \S+\s*$|` +
	`((npx|yarn|pnpm|bunx) |(uv|poetry|pipenv|pdm|hatch) run )?(go (vet|build|fmt)|gofmt|` +
	`golangci-lint|staticcheck|eslint|tsc|prettier|biome|ruff|mypy|pyright|flake8|black|pylint|rubocop|shellcheck|` +
	`cargo (check|clippy|build|fmt)|` +
	`(make|just|task|npm run|yarn|pnpm run|yarn run) (lint|build|fmt|format|vet|typecheck|compile))(\s|$))`)

// RunsNoTests reports whether the command certainly runs no tests.
func (c Call) RunsNoTests() bool {
	commands := strings.NewReplacer(";", "&&", "\n", "&&").Replace(c.command)
	for part := range strings.SplitSeq(commands, "&&") {
		if !onlyReads.MatchString(part) {
			return false
		}
	}
	return true
}

// UsesNode reports whether the command runs tests by node itself.
func (c Call) UsesNode() bool { return c.node }

// plain matches a path without special characters for shells and runners.
var plain = pattern.Of(`^\w[\w./-]*$`)

// CanSelect reports whether the command can run only the tests in some files, named from the folder in which it runs.
func (c Call) CanSelect(files []string) bool {
	isTest := func(file string) bool { return Of(file) == Test }
	switch {
	case goTest.MatchString(c.words):
		isTest = goTests.MatchString
	case c.runner != nil && c.runner.tests != nil:
		isTest = c.runner.tests.MatchString
	case !c.usesEnv:
		return false
	}
	for _, file := range files {
		if !plain.MatchString(file) || !isTest(file) {
			return false
		}
	}
	return len(files) > 0
}

// Text returns the command for a shell: with options by which its runner reports results, and only for the tests in
// some files if there are any.
func (c Call) Text(files []string) string {
	switch {
	case c.IsGo() && len(files) > 0:
		selected := strings.Replace(c.words, " ./...", " "+packages(files), 1)
		return strings.Replace(selected, "go test", "go test -json -vet=off", 1) // vet saw all of it before
	case c.IsGo():
		return goCall.ReplaceAllStringFunc(c.command, func(call string) string {
			words := strings.TrimRight(call, " \t\n")
			return words + " -json" + call[len(words):]
		})
	case c.runner == nil && len(files) > 0:
		return "export " + Variable + "='" + strings.Join(files, " ") + "'; " + c.command
	case c.runner == nil:
		return c.command
	}
	options := c.runner.report
	if len(files) > 0 {
		options += c.runner.only(files)
	}
	if options == "" {
		return c.command
	}
	return c.command + c.between + options
}

// packages returns the folders of some Go files.
func packages(files []string) string {
	var dirs []string
	for _, file := range files {
		dir := path.Dir(file)
		if above, _, ok := strings.Cut("/"+file, "/testdata/"); ok {
			dir = path.Clean("." + above)
		}
		dirs = append(dirs, "./"+strings.TrimPrefix(dir, "./"))
	}
	slices.Sort(dirs)
	return strings.Join(slices.Compact(dirs), " ")
}
