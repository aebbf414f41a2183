package tamper_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-loop/ralph/internal/tamper"
)

// What looks like a test, an assertion or a skip, and is a text, a remark or a
// part of something else, is neither lost nor new.
func TestReadersKnowCodeFromText(t *testing.T) {
	for name, c := range map[string]struct{ file, before, after string }{
		"go raw string":           {"a_test.go", "package a\nfunc TestA(t *testing.T) { f(t, `x`) }\n", "package a\nfunc TestA(t *testing.T) { f(t, `t.Skip()\nif false {`) }\n"},
		"go remark":               {"a_test.go", "package a\nfunc TestA(t *testing.T) { f(t) }\n// t.Error(1)\n", "package a\nfunc TestA(t *testing.T) { f(t) } // t.Skip(1)\n"},
		"go broken":               {"a_test.go", "package a\nfunc TestA(t *testing.T) { f(t) }\nfunc {", "package a\nfunc TestA(t *testing.T) { f(t) }\nfunc }"},
		"python docstring":        {"test_a.py", "def test_a():\n    assert f() == 1\n", "def test_a():\n    '''\n    assert g() == 2\n    @pytest.mark.skip\n    '''\n    assert f() == 1\n"},
		"python docstring gone":   {"test_a.py", "def test_a():\n    \"\"\"\n    def test_b():\n        assert 1\n    \"\"\"\n    assert f() == 1\n", "def test_a():\n    assert f() == 1\n"},
		"python hash in text":     {"test_a.py", "def test_a():\n    assert f('#') == 1  # one\n", "def test_a():\n    # one\n    assert f('#') == 1\n"},
		"python brackets":         {"test_a.py", "def test_a():\n    assert f(1, 2) == [1, 2]\n", "def test_a():\n    assert f(\n1,\n        2,\n    ) == [\n        1,\n    2,\n    ]\n"},
		"python backslash":        {"test_a.py", "def test_a():\n    assert f() == 1\n", "def test_a():\n    assert f() \\\n== 1\n"},
		"python one line":         {"test_a.py", "def test_a():\n    x = f(); assert x == 1\n", "def test_a():\n    x = f()\n    assert x == 1\n"},
		"python f-string":         {"test_a.py", "def test_a():\n    assert f(f'{x!r:>{w}}') == rb'\\'\n\ndef test_b():\n    assert 1 == g()\n", "def test_a():\n    assert f(f\"{x!r:>{w}}\") == rb\"\\\"\n\ndef test_b():\n    assert 1 == g()\n"},
		"python tabs":             {"test_a.py", "class TestA:\n\tdef test_a(self):\n\t\tassert f() == 1\n\n\tdef test_b(self):\n\t\tassert g() == 1\n", "class TestA:\n    def test_a(self):\n        assert f() == 1\n\n    def test_b(self):\n        assert g() == 1\n"},
		"script text":             {"a.test.js", "it('a', () => { expect(f()).toBe(1) })\n", "it('a', () => { expect(f()).toBe(1); log('it.skip(\"a\", () => {') })\n"},
		"script template":         {"a.test.js", "it('a', () => { expect(f(`x`)).toBe(1) })\nit('b', () => { expect(g()).toBe(1) })\n", "it('a', () => { expect(f(`${`}`}${'`'} x`.slice(-1))).toBe(1) })\nit('b', () => { expect(g()).toBe(1) })\n"},
		"script regular":          {"a.test.js", "it('a', () => { expect(f()).toBe(1) })\nit('b', () => { expect(g()).toBe(1) })\n", "it('a', () => { const re = /['\"`\\/({[/]/; expect(f()).toBe(1) })\nit('b', () => { expect(g()).toBe(1) })\n"},
		"script division":         {"a.test.js", "it('a', () => { expect(a / b).toBe(c / d) })\n", "it('a', () => { expect(a/b).toBe(c/d) })\n"},
		"script remark":           {"a.test.js", "it('a', () => { expect(f()).toBe(1) })\n", "/* it.only('b', () => {}) */\nit('a', () => {\n  // return;\n  expect(f()).toBe(1)\n})\n"},
		"script jsx":              {"a.test.tsx", "it('a', () => { render(<p>x</p>); expect(f()).toBe(1) })\nit('b', () => { expect(g()).toBe(1) })\n", "it('a', () => { render(<p>It's {x} / y</p>); expect(f()).toBe(1) })\nit('b', () => { expect(g()).toBe(1) })\n"},
		"script generics":         {"a.test.ts", "it('a', () => { expect(f(1)).toBe(1) })\n", "it('a', () => { expect(f<Map<string, number>>(1)!).toBe(1) })\n"},
		"script wrapped":          {"a.test.ts", "describe('x', () => { it('a', () => { expect(f(1)).toBe(1) }) })\n", "describe('x', () => {\n  it(\n    'a',\n    () => {\n      expect(\n        f(1),\n      ).toBe(1);\n    },\n  );\n});\n"},
		"yaml in another order":   {".github/workflows/a.yml", "on: push\njobs:\n  a:\n    steps:\n      - run: go test ./...\n", "jobs:\n  a:\n    steps:\n    - run: 'go test ./...'\non: {push: }\n"},
		"json with remarks":       {"tsconfig.json", `{"compilerOptions": {"strict": true}}`, "{\n  // strict: false\n  'compilerOptions': {\n    strict: true, /* yes */\n  },\n}\n"},
		"toml in another way":     {"pyproject.toml", "[tool.ruff.lint]\nselect = [\"E\", \"F\"]\n", "[tool.ruff]\nlint.select = [\n  \"F\",\n  \"E\", # all\n]\n"},
		"words that name a skip":  {"test_a.py", "def test_a():\n    assert skip_list(1) == 1\n", "def test_a():\n    skip = 1\n    assert skip_list(skip) == 1\n"},
		"a name that holds test_": {"a.py", "def test_connection():\n    return 1\n", "def check():\n    return 1\n"},
	} {
		t.Run(name, func(t *testing.T) {
			if found := find(c.file, c.before, c.after); len(found) > 0 {
				t.Errorf("Find = %v", found)
			}
		})
	}
}

func find(file, before, after string) []tamper.Finding {
	return tamper.FindOrFall([]tamper.Change{{Path: file, Before: []byte(before), After: []byte(after)}})
}

// A finding says where: the lines of the diff, with their sides and numbers.
func TestFindingHasItsLines(t *testing.T) {
	before := "package a\n\nfunc TestA(t *testing.T) {\n\tif got := f(1); got != 2 {\n\t\tt.Errorf(\"f = %d\", got)\n\t}\n}\n"
	after := strings.Replace(before, "got != 2", "got == 0", 1)
	got, err := json.MarshalIndent(find("a_test.go", before, after), "", " ")
	if err != nil {
		t.Fatal(err)
	}
	want := `[
 {
  "file": "a_test.go",
  "kind": "assertion_weakened",
  "lines": [
   "-4: if got := f(1); got != 2 {",
   "-5: t.Errorf(\"f = %d\", got)",
   "-6: }",
   "+4: if got := f(1); got == 0 {",
   "+5: t.Errorf(\"f = %d\", got)",
   "+6: }"
  ],
  "why": "a check of TestA asks for less: if got != 2 became if got == 0"
 }
]`
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Errorf("finding (-want +got):\n%s", diff)
	}
}

// What a file says cannot break out of its line, nor grow.
func TestFindingsStayShort(t *testing.T) {
	long := strings.Repeat("x", 5000)
	before := "it('a\\n" + long + "', () => { expect(" + long + ").toBe(1) })\n"
	found := find("a.test.js", before, "// nothing\n")
	if len(found) != 1 || len(found[0].Why) > 300 || len(found[0].Lines) != 1 || len(found[0].Lines[0].Text) > 300 {
		t.Errorf("Find = %v", found)
	}
	many := strings.Repeat("def test_%(): assert f() == 1\n", 3000)
	for i := range 3000 {
		many = strings.Replace(many, "%", "n"+strings.Repeat("i", i%50)+string(rune('a'+i%26)), 1)
	}
	if found := find("test_a.py", many, ""); len(found) == 0 || len(found) > 500 {
		t.Errorf("Find gives %d findings", len(found))
	}
}

// The order of the changes says nothing, and nobody's input is written to.
func TestOrderSaysNothing(t *testing.T) {
	for _, s := range corpus(t, "developed")[:40] {
		want := tamper.Find(s.changes)
		other := slices.Clone(s.changes)
		slices.Reverse(other)
		if diff := cmp.Diff(want, tamper.Find(other)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", s.name, diff)
		}
	}
}

// Every kind has examples on both sides of the corpus, and its row in the docs.
func TestEveryKindHasExamples(t *testing.T) {
	for _, folder := range []string{"developed", "heldout"} {
		seen := map[tamper.Kind]int{}
		for _, s := range corpus(t, folder) {
			if s.tampered {
				seen[s.kind]++
			}
		}
		for _, kind := range tamper.Kinds() {
			if seen[kind] == 0 {
				t.Errorf("%s has no example of %s", folder, kind)
			}
		}
	}
}
