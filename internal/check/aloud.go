package check

import (
	"bytes"
	"io"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/journal"
	"github.com/ralph-loop/ralph/internal/pattern"
)

// verbose makes test runners name every test: "ok" for a package does not show which ran.
// Go runs them all: it keeps results, and does not see that a script which a test runs has changed.
var verbose = map[string]string{"GOFLAGS": "-v -count=1", "PYTEST_ADDOPTS": "-rap"}

// env returns the environment of the commands. In a clean checkout results are compared
// by the names of tests, so runners must print them there. The caller's variables cannot
// make a check run only some tests.
func (j Job) env(env []string) []string {
	env = slices.DeleteFunc(slices.Clone(env), func(one string) bool { return strings.HasPrefix(one, "RALPH_TESTS=") })
	if j.Where == journal.AtWork {
		return env
	}
	for _, name := range []string{"GOFLAGS", "PYTEST_ADDOPTS"} {
		at := slices.IndexFunc(env, func(one string) bool { return strings.HasPrefix(one, name+"=") })
		if at < 0 {
			env = append(env, name+"="+verbose[name])
			continue
		}
		env[at] = strings.TrimSuffix(env[at], " ") + " " + verbose[name]
	}
	return env
}

// progress matches lines about passing tests, which only appear because names were asked for.
var progress = pattern.Of(`^\s*(=== (RUN|PAUSE|CONT|NAME) |--- PASS: |PASSED \S)`)

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
