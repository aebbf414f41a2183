package proof_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-loop/ralph/internal/core/journal"
	"github.com/ralph-loop/ralph/internal/core/policy"
	"github.com/ralph-loop/ralph/internal/proof/proof"
)

const patch = `diff --git a/a.go b/a.go
index 1..2 100644
--- a/a.go
+++ b/a.go
@@ -1,4 +1,5 @@
 package a
-var x = 1
+var x = 2
+var y = 3

 // end
@@ -20,2 +21,1 @@ func f() {
 	one
-	two
diff --git a/gone.txt b/gone.txt
deleted file mode 100644
--- a/gone.txt
+++ /dev/null
@@ -1 +0,0 @@
-text
diff --git a/old.go b/new.go
similarity index 90%
rename from old.go
rename to new.go
--- a/old.go
+++ b/new.go
@@ -2,0 +3 @@
++++ added
`

func TestHunks(t *testing.T) {
	want := []proof.Hunk{
		{File: "a.go", From: 2, Old: []string{"var x = 1"}, New: []string{"var x = 2", "var y = 3"}},
		{File: "a.go", From: 22, Old: []string{"\ttwo"}},
		{File: "gone.txt", From: 0, Old: []string{"text"}},
		{File: "new.go", From: 3, New: []string{"+++ added"}},
	}
	if diff := cmp.Diff(want, proof.Hunks(patch)); diff != "" {
		t.Errorf("hunks (-want +got):\n%s", diff)
	}
}

func FuzzHunks(f *testing.F) {
	f.Add(patch)
	f.Fuzz(func(t *testing.T, text string) {
		for _, hunk := range proof.Hunks(text) {
			if len(hunk.Old)+len(hunk.New) == 0 {
				t.Errorf("an empty hunk: %+v", hunk)
			}
		}
	})
}

// A function returns nothing, and what its build needs stays.
func TestStubs(t *testing.T) {
	for file, c := range map[string]struct{ text, want string }{
		"a.go": {
			"package a\n\nfunc F(x int) (int, error) {\n\treturn x, nil\n}\n\nfunc g() { F(1) }\n",
			"package a\n\nfunc F(x int) (int, error) { if true { return *new(int), *new(error) };\n\treturn x, nil\n}\n\n" +
				"func g() { if true { return }; F(1) }\n",
		},
		"b.go":  {"package a\n\nfunc F() (n int) {\n\treturn 1\n}\n", "package a\n\nfunc F() (n int) { if true { return };\n\treturn 1\n}\n"},
		"c.go":  {"package a\n\nfunc F() { x() }; func g() { y() }\n", ""},
		"a.py":  {"class A:\n    def f(self):\n        return 1\n", "class A:\n    def f(self):\n        return None\n        return 1\n"},
		"a.js":  {"export function f(a) {\n  return a + 1;\n}\n", "export function f(a) {\n  return undefined;\n  return a + 1;\n}\n"},
		"a.ts":  {"class A {\n  add(a: number) {\n    return a;\n  }\n}\n", "class A {\n  add(a: number) {\n    return undefined as any;\n    return a;\n  }\n}\n"},
		"a.rs":  {"pub fn f(a: i32) -> i32 {\n    a\n}\n", "pub fn f(a: i32) -> i32 {\n    if true { unimplemented!() }\n    a\n}\n"},
		"a.rb":  {"def f(a)\n  a\nend\n", "def f(a)\n  raise\n  a\nend\n"},
		"a.txt": {"def f():\n    pass\n", ""},
	} {
		if got := proof.Stubbed(file, c.text, 0, strings.Count(c.text, "\n")); got != c.want {
			t.Errorf("%s:\n%s\nwant:\n%s", file, got, c.want)
		}
	}
}

// Several functions are places of their own, and so are blocks in a large one.
func TestPlaces(t *testing.T) {
	text := "package a\n\nfunc a() {\n\tx()\n}\n\nfunc b() {\n\ty()\n}\n"
	added := proof.Hunk{File: "a.go", From: 3, New: strings.Split(strings.TrimPrefix(strings.TrimSuffix(text, "\n"), "package a\n\n"), "\n")}
	lines, without := proof.Places(added, text)
	if diff := cmp.Diff([]string{"a.go:3-5", "a.go:7-9"}, lines); diff != "" {
		t.Errorf("places (-want +got):\n%s", diff)
	}
	if want := "package a\n\n\nfunc b() {\n\ty()\n}\n"; without[0] != want {
		t.Errorf("without the first: %q, want %q", without[0], want)
	}
	changed := proof.Hunk{File: "a.go", From: 4, Old: []string{"\told()"}, New: []string{"\tx()"}}
	if _, without := proof.Places(changed, text); without[0] != strings.Replace(text, "x()", "old()", 1) {
		t.Errorf("reverted: %q", without[0])
	}
	long := "def f(a):\n    if a:\n        b()\n        c()\n" + strings.Repeat("    d()\n", 10)
	lines, _ = proof.Places(proof.Hunk{File: "a.py", From: 1, New: strings.Split(strings.TrimSuffix(long, "\n"), "\n")}, long)
	if diff := cmp.Diff([]string{"a.py:1-14", "a.py:2-4"}, lines); diff != "" {
		t.Errorf("places of a long function (-want +got):\n%s", diff)
	}
	if lines, _ := proof.Places(proof.Hunk{File: "a.go", From: 90, New: []string{"x"}}, text); lines != nil {
		t.Errorf("a place beyond the end: %q", lines)
	}
}

// Each place is needed by a test, by the build alone, or by nothing.
func TestUntested(t *testing.T) {
	const text = "one\ntwo\nthree\nfour\n"
	hunk := func(line int, words string) proof.Hunk {
		return proof.Hunk{File: "a.go", From: line, New: []string{words}}
	}
	change := proof.Change{
		Files: []proof.File{product, newTest}, Head: "head", NewTests: "new",
		Hunks: []proof.Hunk{
			hunk(1, "one"), hunk(2, "two"), hunk(3, "three"),
			{File: "a.go", From: 4, New: []string{"// a comment"}},
			{File: "a_test.go", From: 1, New: []string{"a test"}},
		},
	}
	runs := map[string]string{
		"base": "+a", "head": "+a +b", "new": "+a -b",
		"head a.go:two\nthree\nfour\n": "+a -b", "head a.go:one\nthree\nfour\n": "!p", "head a.go:one\ntwo\nfour\n": "+a +b",
	}
	run := runOf("go test ./...")
	run.Policy.Untested.Do = policy.UntestedReport
	r := repository{runs: runs, change: change, texts: map[string][]byte{"a.go": []byte(text)}}
	got := r.prove(t, run)
	want := []journal.Lines{{File: "a.go", From: 3, To: 3}}
	if diff := cmp.Diff(want, got.Untested); diff != "" {
		t.Errorf("untested (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(journal.Tried{ByTest: 1, ByBuild: 1}, got.Tried); diff != "" {
		t.Errorf("tried (-want +got):\n%s", diff)
	}
	run.Policy.Untested.Max = 1
	if got := r.prove(t, run); got.Tried.Left != 2 {
		t.Errorf("with a limit of 1: %+v", got.Tried)
	}
	r.took = 3000
	run.Policy.Untested.Max = 0
	if got := r.prove(t, run); got.Tried.Left != 2 {
		t.Errorf("in the time of one suite: %+v", got.Tried)
	}
}

// A place that a test needs which failed at the base is needed, and the tests in a file of Rust are no place.
func TestPlacesOfFixesAndOfRust(t *testing.T) {
	change := proof.Change{
		Files: []proof.File{product, newTest, {Path: "a.rs", Kind: proof.Product, AtHead: true}}, Head: "head", NewTests: "new",
		Hunks: []proof.Hunk{
			{File: "a.go", From: 1, Old: []string{"old"}, New: []string{"one"}},
			{File: "a.rs", From: 1, New: []string{"one", "#[cfg(test)]", "mod tests {", "}"}},
		},
	}
	runs := map[string]string{"base": "-a", "head": "+a", "new": "-a", "head a.go:old\n": "-a", "head a.rs:#[cfg(test)]\nmod tests {\n}\n": "+a"}
	run := runOf("go test ./...")
	run.Policy.Untested.Do = policy.UntestedReport
	r := repository{runs: runs, change: change, texts: map[string][]byte{"a.go": []byte("one\n"), "a.rs": []byte("one\n#[cfg(test)]\nmod tests {\n}\n")}}
	got := r.prove(t, run)
	if diff := cmp.Diff([]journal.Lines{{File: "a.rs", From: 1, To: 1}}, got.Untested); diff != "" || got.Tried.ByTest != 1 {
		t.Errorf("%+v, untested (-want +got):\n%s", got.Tried, diff)
	}
}

// Places that survive the tests concerned are confirmed by all tests: together, or else one by one.
func TestConfirmedByAllTests(t *testing.T) {
	change := proof.Change{
		Files: []proof.File{product, newTest}, Head: "head", NewTests: "new",
		Hunks: []proof.Hunk{{File: "a.go", From: 1, New: []string{"one"}}, {File: "a.go", From: 3, New: []string{"three"}}},
	}
	runs := map[string]string{
		"base": "+a", "head": "+a +b", "new": "+a -b", "head a.go:two\nthree\n": "+a +b", "head a.go:one\ntwo\n": "+a +b", "head a.go:two\n": "-a",
	}
	run := runOf("go test ./...")
	run.Policy.Untested.Do = ""
	r := repository{runs: runs, change: change, texts: map[string][]byte{"a.go": []byte("one\ntwo\nthree\n")}}
	if got := r.prove(t, run); len(got.Untested) != 2 {
		t.Errorf("untested: %v, want both, as each alone is needed by nothing", got.Untested)
	}
}

// A block can begin with the line that ends another one: what is left without both is tried.
func TestBlocksThatOverlap(t *testing.T) {
	const rest = "d\ne\nf\ng\nh\ni\nj\n"
	text := "top\n  a(\n    b\n  )\n    c\n" + rest
	change := proof.Change{
		Files: []proof.File{product, newTest}, Head: "head", NewTests: "new",
		Hunks: []proof.Hunk{{File: "a.go", From: 1, New: strings.Split(strings.TrimSuffix(text, "\n"), "\n")}},
	}
	runs := map[string]string{"base": "+a", "head": "+a +b", "new": "+a -b", "head a.go:": "-a"}
	run := runOf("go test ./...")
	run.Policy.Untested.Do = ""
	r := repository{runs: runs, change: change, texts: map[string][]byte{"a.go": []byte(text)}}
	if got := r.prove(t, run); len(got.Untested) != 2 {
		t.Errorf("untested: %v, want both blocks", got.Untested)
	}
}
