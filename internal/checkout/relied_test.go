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
