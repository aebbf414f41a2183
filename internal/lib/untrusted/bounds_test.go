package untrusted_test

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/ralph-loop/ralph/internal/lib/untrusted"
)

// wide makes folders in each other, and so many long names in each.
func wide(t *testing.T, dir string, depth, names int) {
	t.Helper()
	for range depth {
		must(t, os.Mkdir(dir, 0o700))
		for n := range names {
			must(t, os.WriteFile(filepath.Join(dir, strings.Repeat("n", 100)+strconv.Itoa(n)), nil, 0o600))
		}
		dir = filepath.Join(dir, "!") // before its neighbours
	}
}

// The names that a walk keeps have one bound in all folders, which is told. What it has passed does not count.
func TestWalkKeepsFewNames(t *testing.T) {
	t.Cleanup(untrusted.SetBounds(10_000, 0)) // 45 names and more
	root := open(t, t.TempDir())
	for n := range 5 {
		wide(t, filepath.Join(root.Name(), strconv.Itoa(n)), 2, 20)
	}
	for depth, want := range map[int]int{0: 0, 5: 1} {
		wide(t, filepath.Join(root.Name(), "deep"), depth, 20)
		seen, crowded := 0, 0
		must(t, root.Walk(t.Context(), ".", func(_ untrusted.Entry, err error) error {
			if seen++; errors.Is(err, untrusted.ErrCrowded) {
				crowded++
			}
			return nil
		}))
		if crowded < want || want == 0 && (crowded > 0 || seen != 1+5*2*21) {
			t.Errorf("%d folders in each other: %d seen, %d crowded, want at least %d", depth, seen, crowded, want)
		}
		must(t, root.RemoveAll("deep"))
	}
}

// A removal reads a wide folder in parts, and removes all of it.
func TestRemoveAllReadsParts(t *testing.T) {
	t.Cleanup(untrusted.SetBounds(10_000, 0))
	root := open(t, t.TempDir())
	wide(t, filepath.Join(root.Name(), "gone"), 3, 600)
	must(t, root.RemoveAll("gone"))
	if _, err := root.Lstat("gone"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("it is still there: %v", err)
	}
}
