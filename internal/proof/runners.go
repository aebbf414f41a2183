package proof

import (
	"path"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/pattern"
)

// runner is a test runner that can run only the tests in some files.
type runner struct {
	command *pattern.Pattern // a whole command that runs all tests
	name    string           // the runner that its output shows; empty: the command shows it
	tests   *pattern.Pattern // the files that it can run alone; nil: any test file
	ask     func(command string, files []string) string
	// shared is set if tests share a process or the checkout, and may need others to run first.
	shared bool
	// apart matches files without effect on the tests of other files, or of other folders if folder is set. May be nil.
	apart    *pattern.Pattern
	folder   bool
	isolates bool // files run in processes of their own unless the project's settings say otherwise
	unnamed  bool // its exit code is enough: it fails if the files have no tests
}

// Variable is the environment variable with the names of test files that a check runs,
// separated by spaces. If it is unset, all tests run. The tests share a checkout: a new
// one can write what others read.
const Variable = "RALPH_TESTS"

const flags = `( -[-\w=.,:/]+)*$`

// programs matches Rust's integration tests, each of which is a program.
var programs = pattern.Of(`(^|/)tests/[^/]+\.rs$`)

// The test files of JavaScript's runners. Mocha also runs all files in a folder.
var (
	scripts = pattern.Of(`\.(test|spec)\.[cm]?[jt]sx?$|(^|/)__tests__/[^/]+\.[cm]?[jt]sx?$`)
	specs   = pattern.Of(`\.(test|spec)\.[cm]?[jt]sx?$|^tests?/[^/]+\.[cm]?[jt]s$`)
)

// classes matches the files of JVM languages that surefire runs as tests.
var classes = pattern.Of(`(^|/)(Test[^/]*|[^/]*(Test|Tests|TestCase))\.(java|kt|groovy)$`)

// A package's script passes its arguments to its last command. If that is not the runner,
// the script fails without a test's name, or runs all tests.
var (
	npm  = pattern.Of(`^npm (test|t|run [\w:.-]+)$`)
	yarn = pattern.Of(`^(yarn|pnpm) ((run )?test|run [\w:.-]+)$`)
)

// runners are known by whole commands. Other commands run all tests.
var runners = []runner{
	{command: pattern.Of(`^go test( -[-\w=.,:/]+)* \./\.\.\.` + flags), tests: pattern.Of(`_test\.go$|(^|/)testdata/`), ask: packages, apart: pattern.Of(`_test\.go$`), folder: true},
	{command: pattern.Of(`^cargo test( --?[a-z][-\w=.,:/]*)*$`), tests: programs, ask: targets, apart: programs},
	{command: pattern.Of(`^((npx|yarn|pnpm|bunx) )?jest` + flags), tests: scripts, ask: appended(" --runTestsByPath "), apart: scripts},
	{command: pattern.Of(`^((npx|yarn|pnpm|bunx) )?vitest run` + flags), tests: scripts, ask: appended(" "), apart: scripts, isolates: true},
	{command: npm, name: "jest", tests: scripts, ask: appended(" -- --runTestsByPath "), apart: scripts},
	{command: npm, name: "vitest", tests: scripts, ask: appended(" -- "), apart: scripts, isolates: true},
	{command: npm, name: "mocha", tests: specs, ask: appended(" -- "), shared: true},
	{command: yarn, name: "jest", tests: scripts, ask: appended(" --runTestsByPath "), apart: scripts},
	{command: yarn, name: "vitest", tests: scripts, ask: appended(" "), apart: scripts, isolates: true},
	{command: yarn, name: "mocha", tests: specs, ask: appended(" "), shared: true},
	{command: pattern.Of(`^((uv|poetry|pipenv|pdm|hatch) run )?(python3? -m )?pytest` + flags), tests: pattern.Of(`(^|/)(test_[^/]*|[^/]*_test)\.py$`), ask: appended(" "), shared: true},
	{command: pattern.Of(`^((npx|yarn|pnpm|bunx) )?mocha` + flags), tests: specs, ask: appended(" "), shared: true},
	{command: pattern.Of(`^(bundle exec )?rspec` + flags), tests: pattern.Of(`_spec\.rb$`), ask: appended(" "), shared: true, unnamed: true},
	{command: pattern.Of(`^(\./)?(vendor/bin/)?phpunit` + flags), tests: pattern.Of(`Test\.php$`), ask: appended(" "), shared: true, unnamed: true},
	{command: pattern.Of(`^(\./mvnw|mvn)( -[-\w=.,:/]+)* test` + flags), tests: classes, ask: eachClass(" -Dtest=", ","), shared: true, unnamed: true},
	{command: pattern.Of(`^(\./gradlew|gradle)( -[-\w=.,:/]+)* test` + flags), tests: classes, ask: eachClass(" --tests ", " --tests "), shared: true, unnamed: true},
}

func appended(between string) func(string, []string) string {
	return func(command string, files []string) string { return command + between + strings.Join(files, " ") }
}

// commandFor returns the command for the files or packages of some tests, or "" if their names do not show these.
func (r runner) commandFor(command string, names []string) string {
	if len(names) == 0 || r.tests == nil {
		return ""
	}
	var of []string
	for _, name := range names {
		if at := named.FindStringIndex(name); at != nil {
			name = name[:at[0]]
		}
		if !plain.MatchString(name) || !r.folder && !r.tests.MatchString(name) {
			return ""
		}
		of = append(of, name)
	}
	slices.Sort(of)
	if of = slices.Compact(of); r.folder {
		return strings.Replace(command, " ./...", " "+strings.Join(of, " "), 1)
	}
	return r.ask(command, of)
}

// named matches what separates the name of a file or package from that of a test.
var named = pattern.Of(`::| > |\.(Test|Example|Fuzz)`)

func packages(command string, files []string) string {
	var dirs []string
	for _, file := range files {
		dir := path.Dir(file)
		if above, _, is := strings.Cut("/"+file, "/testdata/"); is {
			dir = path.Clean("." + above)
		}
		dirs = append(dirs, "./"+strings.TrimPrefix(dir, "./"))
	}
	slices.Sort(dirs)
	return strings.Replace(command, " ./...", " "+strings.Join(slices.Compact(dirs), " "), 1)
}

// eachClass makes Maven or Gradle run the classes with the names of some files.
func eachClass(first, next string) func(string, []string) string {
	return func(command string, files []string) string {
		for i, file := range files {
			command += []string{first, next}[min(i, 1)] + strings.TrimSuffix(path.Base(file), path.Ext(file))
		}
		return command
	}
}

func targets(command string, files []string) string {
	for _, file := range files {
		command += " --test " + strings.TrimSuffix(path.Base(file), ".rs")
	}
	return command
}
