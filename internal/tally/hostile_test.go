package tally_test

import (
	"fmt"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"unicode/utf8"

	"golang.org/x/tools/txtar"

	"github.com/ralph-loop/ralph/internal/tally"
)

// Any output leads to short, printable names, and to counts of at least the named tests.
func FuzzAnyOutput(f *testing.F) {
	names, err := filepath.Glob("testdata/*.txtar")
	if err != nil {
		f.Fatal(err)
	}
	for _, name := range names {
		archive, err := txtar.ParseFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(archive.Files[0].Data))
	}
	f.Add("1..99999999999999999999\nok 1\n")
	f.Add("ℹ pass 99999999999999999999\n")
	f.Add("{\n" + strings.Repeat("[", 1000))
	f.Fuzz(func(t *testing.T, output string) {
		got := read(t, output)
		for _, test := range got.Tests {
			if test.Name == "" || len(test.Name) > 400 || strings.ContainsAny(test.Name, "\n\r") || !utf8.ValidString(test.Name) {
				t.Fatalf("test named %q", test.Name)
			}
		}
		if n := len(got.Names(tally.Failed)); got.Failed < n || got.Passed < len(got.Names(tally.Passed)) || got.Skipped < 0 {
			t.Fatalf("counts %d, %d, %d; %d failed by name", got.Passed, got.Failed, got.Skipped, n)
		}
		if len(got.Tests) > 0 && len(got.Runners) == 0 {
			t.Fatalf("tests without a runner: %v", got.Tests)
		}
		if again := tally.Parse(got.String()); len(again.Tests) != len(got.Tests) {
			t.Fatalf("%d tests, and %d when read again", len(got.Tests), len(again.Tests))
		}
	})
}

// flood writes a line over and over.
func flood(t *testing.T, r *tally.Reader, times int, line func(i int) string) {
	t.Helper()
	for i := range times {
		if _, err := fmt.Fprintln(r, line(i)); err != nil {
			t.Fatal(err)
		}
	}
}

// Many passed tests do not hide a failed one.
func TestFloodOfPassed(t *testing.T) {
	r := &tally.Reader{}
	flood(t, r, 60_000, func(i int) string { return fmt.Sprintf("--- PASS: Test%d (0.00s)", i) })
	flood(t, r, 1, func(int) string { return "--- FAIL: TestLast (0.00s)\nFAIL\tp\t0.1s" })
	if got := r.Tally(); got.Of("p.TestLast") != tally.Failed || got.Cut {
		t.Errorf("TestLast %q, cut %v", got.Of("p.TestLast"), got.Cut)
	}
}

// Too many failed tests set Cut.
func TestFloodOfFailed(t *testing.T) {
	r := &tally.Reader{}
	flood(t, r, 1, func(int) string { return "TAP version 13" })
	flood(t, r, 60_000, func(i int) string { return fmt.Sprintf("not ok %d - t%d", i, i) })
	if got := r.Tally(); !got.Cut || len(got.Tests) != 50_000 {
		t.Errorf("%d tests, cut %v", len(got.Tests), got.Cut)
	}
}

// An endless output needs bounded memory.
func TestFloodOfEverything(t *testing.T) {
	long := strings.Repeat("x", 1<<20)
	r := &tally.Reader{}
	for i := range 300 {
		if _, err := fmt.Fprintf(r, "{\"num%s", long); err != nil {
			t.Fatal(i, err)
		}
	}
	var used runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&used)
	if got := r.Tally(); used.HeapAlloc > 200<<20 || !got.Cut {
		t.Errorf("%d MiB in use, cut %v", used.HeapAlloc>>20, got.Cut)
	}
}

// Long names stay different if they differ only at the end.
func TestLongNames(t *testing.T) {
	name := strings.Repeat("ä", 400)
	got := read(t, "1..2\nnot ok 1 - "+name+"1\nnot ok 2 - "+name+"2\n").Names(tally.Failed)
	if len(got) != 2 || strings.HasSuffix(got[1], "(2)") || !utf8.ValidString(got[0]) {
		t.Errorf("names %q", got)
	}
}

// Each name of the largest output is found at once: without the index this takes hours.
func TestOfManyNames(t *testing.T) {
	const names = 50_000
	var read tally.Reader
	fmt.Fprintf(&read, "TAP version 13\n1..%d\n", names)
	for i := range names {
		fmt.Fprintf(&read, "ok %d - t%d\n", i+1, i)
	}
	printed := read.Tally()
	for what, told := range map[string]tally.Tally{"printed": printed, "recorded": tally.Parse(printed.String())} {
		if len(told.Tests) != names {
			t.Fatalf("%s: %d tests, want %d", what, len(told.Tests), names)
		}
		for range 100 {
			for _, test := range told.Tests {
				if told.Of(test.Name) != tally.Passed {
					t.Fatalf("%s: Of(%q) = %q", what, test.Name, told.Of(test.Name))
				}
			}
		}
	}
}
