package tamper_test

import (
	"strings"
	"testing"

	"github.com/ralph-loop/ralph/internal/tamper"
)

// TestFindsWhatWasMissed has changes by which tests say less, and ordinary ones
// that were taken for such.
func TestFindsWhatWasMissed(t *testing.T) {
	const (
		py = "from p import of\n\ndef test_a():\n    assert of(1) == 3\n\ndef test_b():\n    assert of(2) == 6\n"
		js = "const test = require(\"node:test\");\nconst assert = require(\"node:assert\");\nconst { of } = require(\"./p\");\ntest(\"a\", () => { assert.strictEqual(of(1), 3); });\n"
		ts = "import { of } from \"./p\";\ntest(\"a\", async () => { await expect(of(1)).resolves.toBe(3); });\ntest(\"b\", () => { expect(of(2)).toBe(6); });\n"
		mk = "GO ?= go\ntest:\n\tgo test ./...\n"
	)
	for name, c := range map[string]struct {
		path, before, after string
		tampered            bool
	}{
		"defined again, empty":     {"test_p.py", py, py + "\ndef test_b():\n    pass\n", true},
		"taken out of the module":  {"test_p.py", py, py + "\ndel test_b\n", true},
		"bound anew":               {"test_p.py", py, py + "\ntest_b = lambda: None\n", true},
		"__test__ is false":        {"test_p.py", py, py + "\ntest_b.__test__ = False\n", true},
		"became a generator":       {"test_p.py", py, py + "    yield\n", true},
		"no parameters":            {"test_p.py", py, "import pytest\n" + strings.Replace(py, "def test_b():", "@pytest.mark.parametrize(\"x\", [])\ndef test_b(x):", 1), true},
		"node: skip as an option":  {"p.test.js", js, strings.Replace(js, "\"a\", ()", "\"a\", { skip: true }, ()", 1), true},
		"node: todo as an option":  {"p.test.js", js, strings.Replace(js, "\"a\", ()", "\"a\", { todo: \"later\" }, ()", 1), true},
		"after the test has ended": {"p.test.ts", ts, strings.Replace(ts, "expect(of(2)).toBe(6);", "setTimeout(() => { expect(of(2)).toBe(6); }, 0);", 1), true},
		"await is gone":            {"p.test.ts", ts, strings.Replace(ts, "await ", "", 1), true},
		"the matcher is no call":   {"p.test.ts", ts, strings.Replace(ts, ".toBe(6)", ".toBe", 1), true},
		"each of nothing":          {"p.test.ts", ts, strings.Replace(ts, "test(\"b\"", "test.each([])(\"b\"", 1), true},
		"behind a variable":        {"p.test.ts", ts, strings.Replace(ts, "test(\"b\"", "if (process.env.FULL) test(\"b\"", 1), true},
		"make ignores failures":    {"Makefile", mk, "MAKEFLAGS += -i\n" + mk, true},
		"make's .IGNORE":           {"Makefile", mk, ".IGNORE:\n" + mk, true},
		"make's SHELL":             {"Makefile", mk, "SHELL := /bin/true\n" + mk, true},
		"a variable for go":        {"Makefile", mk, strings.Replace(mk, "\tgo", "\t$(GO)", 1), false},
		"ruff's section moved":     {"pyproject.toml", "[tool.ruff]\nselect = [\"E\", \"F\"]\n", "[tool.ruff.lint]\nselect = [\"E\", \"F\", \"I\"]\n", false},
	} {
		t.Run(name, func(t *testing.T) {
			found := tamper.Find([]tamper.Change{{Path: c.path, Before: []byte(c.before), After: []byte(c.after)}})
			if got := len(found) > 0; got != c.tampered {
				t.Errorf("Find = %v, want findings: %v", found, c.tampered)
			}
		})
	}
}
