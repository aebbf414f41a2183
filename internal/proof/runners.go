package proof

import (
	"path"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/pattern"
)

// runner is a test runner that can be asked for the tests in some files.
type runner struct {
	command *pattern.Pattern // a whole command that runs all tests
	name    string           // what its output says that it is; empty: the command says so
	tests   *pattern.Pattern // the files that it can be asked for; nil: any test file
	ask     func(command string, files []string) string
	// shared tells that tests share a process or the checkout, and may need others before them.
	shared bool
	// apart are files that change nothing for tests of other files, or folders if folder is set; nil: none known.
	apart    *pattern.Pattern
	folder   bool
	isolates bool // files are apart unless the project says otherwise.
	unnamed  bool // the exit code is enough: a run of few tests fails if none is there.
}

// Variable is what a check may read to run only some test files: their names with spaces
// between. Unset or empty stands for all. Its tests share the checkout: a new one can
// write what the others see.
const Variable = "RALPH_TESTS"

const flags = `( -[-\w=.,:/]+)*$`

// programs are the tests of Rust that are a program each.
var programs = pattern.Of(`(^|/)tests/[^/]+\.rs$`)

// The test files of JavaScript's runners, and those of Mocha, which takes a folder's.
var (
	scripts = pattern.Of(`\.(test|spec)\.[cm]?[jt]sx?$|(^|/)__tests__/[^/]+\.[cm]?[jt]sx?$`)
	specs   = pattern.Of(`\.(test|spec)\.[cm]?[jt]sx?$|^tests?/[^/]+\.[cm]?[jt]s$`)
)

// classes are the files of Java and its relatives that surefire takes for tests.
var classes = pattern.Of(`(^|/)(Test[^/]*|[^/]*(Test|Tests|TestCase))\.(java|kt|groovy)$`)

// A package's script, which hands on what stands behind it to its last command. One
// that another command would take ends red without a test's name, or runs all.
var (
	npm  = pattern.Of(`^npm (test|t|run [\w:.-]+)$`)
	yarn = pattern.Of(`^(yarn|pnpm) ((run )?test|run [\w:.-]+)$`)
)

// runners are few, and known by whole commands: what is not here runs all tests.
var runners = []runner{
	{command: pattern.Of(`^go test( -[-\w=.,:/]+)* \./\.\.\.` + flags), tests: pattern.Of(`_test\.go$|(^|/)testdata/`), ask: packages, apart: pattern.Of(`_test\.go$`), folder: true},
	{command: pattern.Of(`^cargo test( --?[a-z][-\w=.,:/]*)*$`), tests: programs, ask: targets, apart: programs},
	{command: pattern.Of(`^((npx|yarn|pnpm|bunx) )?jest` + flags), tests: scripts, ask: after(" --runTestsByPath "), apart: scripts},
	{command: pattern.Of(`^((npx|yarn|pnpm|bunx) )?vitest run` + flags), tests: scripts, ask: after(" "), apart: scripts, isolates: true},
	{command: npm, name: "jest", tests: scripts, ask: after(" -- --runTestsByPath "), apart: scripts},
	{command: npm, name: "vitest", tests: scripts, ask: after(" -- "), apart: scripts, isolates: true},
	{command: npm, name: "mocha", tests: specs, ask: after(" -- "), shared: true},
	{command: yarn, name: "jest", tests: scripts, ask: after(" --runTestsByPath "), apart: scripts},
	{command: yarn, name: "vitest", tests: scripts, ask: after(" "), apart: scripts, isolates: true},
	{command: yarn, name: "mocha", tests: specs, ask: after(" "), shared: true},
	{command: pattern.Of(`^((uv|poetry|pipenv|pdm|hatch) run )?(python3? -m )?pytest` + flags), tests: pattern.Of(`(^|/)(test_[^/]*|[^/]*_test)\.py$`), ask: after(" "), shared: true},
	{command: pattern.Of(`^((npx|yarn|pnpm|bunx) )?mocha` + flags), tests: specs, ask: after(" "), shared: true},
	{command: pattern.Of(`^(bundle exec )?rspec` + flags), tests: pattern.Of(`_spec\.rb$`), ask: after(" "), shared: true, unnamed: true},
	{command: pattern.Of(`^(\./)?(vendor/bin/)?phpunit` + flags), tests: pattern.Of(`Test\.php$`), ask: after(" "), shared: true, unnamed: true},
	{command: pattern.Of(`^(\./mvnw|mvn)( -[-\w=.,:/]+)* test` + flags), tests: classes, ask: each(" -Dtest=", ","), shared: true, unnamed: true},
	{command: pattern.Of(`^(\./gradlew|gradle)( -[-\w=.,:/]+)* test` + flags), tests: classes, ask: each(" --tests ", " --tests "), shared: true, unnamed: true},
}

func after(between string) func(string, []string) string {
	return func(command string, files []string) string { return command + between + strings.Join(files, " ") }
}

// red is the command for the files or packages of some tests; empty: their names do not tell.
func (r runner) red(command string, names []string) string {
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

// named is where the name of a test begins behind that of its file or package.
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

// each has Maven or Gradle run the classes that some files are named for.
func each(first, next string) func(string, []string) string {
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
