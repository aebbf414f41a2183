package check

import (
	"bytes"
	"io"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/core/journal"
	"github.com/ralph-loop/ralph/internal/lib/pattern"
	"github.com/ralph-loop/ralph/internal/proof/suite"
)

// env returns the environment of the commands. In a clean checkout Go runs all tests: it keeps results, and does not
// see that a script which a test runs has changed. The caller's variables cannot make a check run only some tests.
func (j Job) env(env []string) []string {
	env = slices.DeleteFunc(slices.Clone(env), func(entry string) bool {
		return strings.HasPrefix(entry, suite.Variable+"=")
	})
	if j.Where == journal.AtWork {
		return env
	}
	if j.Where == journal.AtTrial { // Python compares seconds, in which a file can change twice
		env = append(env, "PYTHONDONTWRITEBYTECODE=1")
	}
	return withOption(env, "GOFLAGS", "-count=1")
}

// reporting adds variables by which runners write reports into a folder.
func reporting(env []string, call suite.Call, folder string) []string {
	env = withOption(env, "PYTEST_ADDOPTS", "'--junitxml="+folder+"/pytest.xml'")
	env = append(env, suite.Reports+"="+folder, "JEST_JUNIT_OUTPUT_DIR="+folder)
	if !call.UsesNode() { // older versions of node refuse these options
		return env
	}
	const console = "--test-reporter=spec --test-reporter-destination=stdout"
	junit := ` --test-reporter=junit --test-reporter-destination="` + folder + `/node.xml"`
	return withOption(env, "NODE_OPTIONS", console+junit)
}

// withOption adds an option to a variable.
func withOption(env []string, name, option string) []string {
	env = slices.Clone(env)
	for i, entry := range env {
		if strings.HasPrefix(entry, name+"=") {
			env[i] = strings.TrimSuffix(entry, " ") + " " + option
			return env
		}
	}
	return append(env, name+"="+option)
}

// progress matches lines about passing tests, which only appear because names were asked for.
var progress = pattern.Of(`^\s*(=== (RUN|PAUSE|CONT|NAME) |--- PASS: )`)

type withoutProgress struct {
	to   io.Writer
	line []byte
}

func (w *withoutProgress) Write(part []byte) (int, error) {
	w.line = append(w.line, part...)
	for {
		at := bytes.IndexByte(w.line, '\n')
		if at < 0 && len(w.line) < 64<<10 {
			return len(part), nil
		}
		if at < 0 {
			at = len(w.line) - 1
		}
		if err := w.pass(w.line[:at+1]); err != nil {
			return 0, err
		}
		w.line = w.line[at+1:]
	}
}

func (w *withoutProgress) pass(line []byte) error {
	if progress.MatchString(string(line)) {
		return nil
	}
	_, err := w.to.Write(line)
	return err
}

// Close passes on a last line without an end.
func (w *withoutProgress) Close() error { return w.pass(w.line) }
