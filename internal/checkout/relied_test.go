package checkout_test

import (
	"context"
	"os"
	"runtime"
	"slices"
	"testing"

	"github.com/ralph-loop/ralph/internal/checkout"
	"github.com/ralph-loop/ralph/internal/git"
	"github.com/ralph-loop/ralph/internal/journal"
	"github.com/ralph-loop/ralph/internal/process"
)

// A part of a line that names data is found by the data's name, without a search for each name.
func TestNamesIn(t *testing.T) {
	for _, c := range []struct {
		part, name string
		want       bool
	}{
		{"prices.json", "prices.json", true},
		{"my-prices.json", "prices.json", false},
		{"data/*", "data/", true},
		{"/data/*", "data/", true},
		{`"data"`, "data/", true},
		{`"data/"`, "data/", true},
		{"data'", "data/", true},
		{`é"data"`, "data/", false},
		{` @data"`, "@data/", true},
		{`@data"`, "@data/", true},
		{`.data"`, ".data/", true},
		{`.data"`, "data/", false},
		{`old-data"`, "data/", false},
		{"\xa9data/%", "data/", true},
		{"a b`", "a b/", true},
		{"x*", "x*", true},
	} {
		if got := checkout.NamesIn(c.part); slices.Contains(got, c.name) != c.want {
			t.Errorf("NamesIn(%q) = %q, with %q: want %v", c.part, got, c.name, c.want)
		}
	}
}

// A change can touch a file whose name is in every line of a large repository: what git finds is not kept.
func TestNamesThatAreEverywhere(t *testing.T) {
	trusted, commits := repository(t, "mkdir words && text=$(seq 2000 | sed 's/.*/e/') && for i in $(seq 1200); do echo \"$text\" >words/$i; done; echo 1 >e && commit && echo 2 >e && commit")
	var most uint64
	run := func(ctx context.Context, c process.Command) (process.Result, error) {
		if slices.Contains(c.Argv, "grep") {
			var heap runtime.MemStats
			runtime.GC()
			runtime.ReadMemStats(&heap)
			most = max(most, heap.HeapAlloc)
		}
		return new(process.Runner).Run(ctx, c)
	}
	measured, err := git.Git{Run: run, Path: os.Getenv("PATH"), Home: t.TempDir()}.Open(trusted.Dir)
	if err != nil {
		t.Fatal(err)
	}
	clean := checkout.Clean{Trusted: measured}
	all, err := clean.Prover(nil).Changes.Differing(t.Context(), journal.Run{Base: commits[0]}, commits[0], commits[1])
	if err != nil || len(all) != 1 {
		t.Fatal(all, err)
	}
	if most > 64<<20 {
		t.Errorf("the search keeps %d MB", most>>20)
	}
}

// A test file may serve other tests: a folder of tests contains helpers, too.
func TestImportedTests(t *testing.T) {
	trusted, commits := repository(t, `mkdir __tests__ tests
		for f in __tests__/same.js __tests__/index.js __tests__/alone.js a.test.js b.test.js tests/same_as.rs tests/alone.rs; do echo >$f; done
		echo 'import "./same"; import "../b.test.js"' >__tests__/c.test.js
		echo 'mod same_as;' >tests/c.rs
		echo 'import "./a.test.js"' >product.js
		commit
		for f in __tests__/*.js *.test.js tests/*.rs; do echo '// new' >>$f; done; commit`)
	clean := checkout.Clean{Trusted: trusted}
	all, err := clean.Prover(nil).Changes.Differing(t.Context(), journal.Run{Base: commits[0]}, commits[0], commits[1])
	var imported []string
	for _, d := range all {
		if d.Imported {
			imported = append(imported, d.Path)
		}
	}
	want := []string{"__tests__/index.js", "__tests__/same.js", "b.test.js", "tests/same_as.rs"}
	if slices.Sort(imported); err != nil || !slices.Equal(imported, want) {
		t.Errorf("%v imports %q, want %q", err, imported, want)
	}
}

// jest and vite load price.js where compilers load price.ts, so a new one is tried without.
func TestScriptsThatHideTypes(t *testing.T) {
	trusted, commits := repository(t, `mkdir -p b e
		touch a.ts b/index.ts c.tsx d.ts f.js
		commit
		git rm -q d.ts
		for f in a.js b.mjs c.jsx d.js e.js f.ts e/a.js; do echo >$f; done; commit`)
	clean := checkout.Clean{Trusted: trusted}
	all, err := clean.Prover(nil).Changes.Differing(t.Context(), journal.Run{Base: commits[0]}, commits[0], commits[1])
	var tried []string
	for _, d := range all {
		if d.Settings {
			tried = append(tried, d.Path)
		}
	}
	if want := []string{"a.js", "b.mjs", "c.jsx"}; err != nil || !slices.Equal(tried, want) {
		t.Errorf("%v tries %q without, want %q", err, tried, want)
	}
}
