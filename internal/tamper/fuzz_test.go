package tamper_test

import (
	"strings"
	"testing"

	"github.com/ralph-loop/ralph/internal/tamper"
)

// names reach every reader.
var names = []string{
	"a_test.go", "a.go", "tests/test_a.py", "a.py", "conftest.py", "a.test.tsx", "a.ts", "package.json", "tsconfig.json", "eslint.config.js", "jest.config.js",
	".github/workflows/ci.yml", ".golangci.yml", "pyproject.toml", "setup.cfg", "Makefile", "noxfile.py", "test.sh", "__snapshots__/a.snap", "testdata/a.txtar", ".coveragerc", "codecov.yml",
}

// whatever compares a text with another.
func whatever(t *testing.T, name, before, after string) {
	t.Helper()
	for _, f := range find(name, before, after) {
		if f.File != name || f.Why == "" || strings.ContainsAny(f.Why, "\n\r") || len(f.Why) > 600 || len(f.Lines) > 24 {
			t.Errorf("%s: %+v", name, f)
		}
	}
	if again := find(name, after, after); len(again) > 0 {
		t.Errorf("%s: the same on both sides gives %v", name, again)
	}
}

func FuzzFind(f *testing.F) {
	for _, folder := range []string{"developed", "heldout"} {
		for _, s := range corpus(f, folder) {
			for _, c := range s.changes {
				f.Add(c.Path, string(c.Before), string(c.After))
			}
		}
	}
	f.Add(".gitlab-ci.yml", "x: &a [*a, *a]\n", "[[[[[[[[")
	f.Add("test_a.py", "def test_a(:\n\tassert '''", "it('a', `${`${")
	f.Fuzz(func(t *testing.T, name, before, after string) {
		if len(before)+len(after) > 8<<10 {
			return // what is long is bounded elsewhere: TestHostileFilesAreReadInTime
		}
		whatever(t, name, before, after)
	})
}

// Files made to be slow are read like others. Nothing is asserted but the end:
// what is more than linear does not come to one here.
func TestHostileFilesAreReadInTime(t *testing.T) {
	n := 8 << 10
	if testing.Short() { // the race detector makes it twenty times as long
		n /= 4
	}
	for name, unit := range map[string]string{
		"open": "(", "braces": "{[(", "closed": ")]}", "wrong": "([{)]}", "quotes": "'\"`", "templates": "`${", "colons": "a:\n ", "dashes": "- ", "asserts": "assert a == b\n",
		"its": "it('a', () => { expect(a).toBe(1) })\n", "tests": "def test_a(): assert f(1) == 2\n", "deep": "if x:\n\t", "anchors": "a: &a [*a]\n", "slashes": "/*//", "generic": "a<",
		"chains": "expect(a).b.c(", "commas": "a,", "names": "a ", "arrows": "x => ", "each": "it.each([", "ands": "assert a and b or ", "exports": "exports[`a`] = `", "defs": "def f(", "lambda": "if lambda: ",
		"go": "func TestA(t *testing.T) { if a != b { t.Error() } }\n", "if": "if (a) ", "elif": "else if (false) { ", "hash": "# noqa #", "make": "a: a\n\tgo test || true\n", "shell": "a && ", "ini": "[a]\nb = c,\n",
	} {
		t.Run(name, func(t *testing.T) {
			text := strings.Repeat(unit, n/len(unit))
			for _, file := range names {
				tamper.Find([]tamper.Change{{Path: file, Before: []byte(text), After: []byte(text + "x")}})
				tamper.Find([]tamper.Change{{Path: file, Before: []byte("package a\n" + text), After: []byte{}}})
			}
		})
	}
}

func BenchmarkFind(b *testing.B) {
	list := corpus(b, "heldout")
	size := 0
	for _, s := range list {
		for _, c := range s.changes {
			size += len(c.Before) + len(c.After)
		}
	}
	b.SetBytes(int64(size))
	b.ReportAllocs()
	for b.Loop() {
		for _, s := range list {
			tamper.Find(s.changes)
		}
	}
}
