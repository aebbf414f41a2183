// Package internal_test checks the structure of the code: docs/dev/architecture.md explains it.
package internal_test

import (
	"bytes"
	"os"
	"path"
	"slices"
	"strings"
	"testing"
)

// neighbourhoods are the folders of internal/, the lowest first. A package imports its own neighbourhood and those below it.
var neighbourhoods = []string{"lib", "core", "git", "agent", "box", "proof", "show", "hub", "run", "entry", "testsupport"}

const (
	module  = "github.com/ralph-loop/ralph"
	support = "internal/testsupport/" // what only tests and the demo use
)

func TestNeighbourhoods(t *testing.T) {
	files, err := goFiles(os.DirFS(".."))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		here := neighbourhoodOf(f.pkg)
		if here < 0 {
			continue // a program, or templates
		}
		for _, spec := range f.syntax.Imports {
			imported := strings.TrimPrefix(importPath(spec), module+"/")
			if neighbourhoodOf(imported) > here {
				t.Errorf("%s imports %s, which is above it", f.at(spec), imported)
			}
		}
	}
}

// neighbourhoodOf returns the place of a package in the list; -1: it is not in internal/.
func neighbourhoodOf(pkg string) int {
	rest, ok := strings.CutPrefix(pkg, "internal/")
	if !ok {
		return -1
	}
	folder, _, _ := strings.Cut(rest, "/")
	return slices.Index(neighbourhoods, folder)
}

// Decisions are made from values alone, so that a journal replays the same way.
func TestCoreIsPure(t *testing.T) {
	impure := []string{"crypto/rand", "log", "math/rand", "net", "net/http", "os", "syscall"}
	files, err := goFiles(os.DirFS("core"))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		for _, spec := range f.syntax.Imports {
			if slices.Contains(impure, importPath(spec)) {
				t.Errorf("core/%s imports %s", f.at(spec), importPath(spec))
			}
		}
	}
}

// Each neighbourhood has a README with all of its packages, and nothing else lies in internal/.
func TestNeighbourhoodsAreDescribed(t *testing.T) {
	entries, err := os.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range entries {
		if entry.IsDir() && !slices.Contains(neighbourhoods, entry.Name()) {
			t.Errorf("internal/%s is no neighbourhood", entry.Name())
		}
	}
	files, err := goFiles(os.DirFS("."))
	if err != nil {
		t.Fatal(err)
	}
	missing := map[string]bool{}
	for _, f := range files {
		folder, pkg, _ := strings.Cut(f.pkg, "/")
		readme, err := os.ReadFile(path.Join(folder, "README.md"))
		if err != nil || !bytes.Contains(readme, []byte("| `"+pkg+"` |")) {
			missing[f.pkg] = true
		}
	}
	for pkg := range missing {
		t.Errorf("the README of its neighbourhood does not describe %s", pkg)
	}
}
