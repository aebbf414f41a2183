package proof

import (
	"slices"

	"github.com/ralph-loop/ralph/internal/core/journal"
)

// Kind says what a file is for.
type Kind string

// The kinds of files. A test serves, or is read by, the checks; a check file defines what they do.
const (
	Product  Kind = "product"
	Test     Kind = "test"
	Support  Kind = "test support" // helpers and data of tests
	Check    Kind = "check file"
	Manifest Kind = "manifest"
	Document Kind = "document"
)

// File is a changed file.
type File struct {
	Path    string
	Kind    Kind
	AtBase  bool // the base has it
	AtHead  bool // the head has it
	Removes bool // lines of the base are gone
}

func (f File) isAtBase() bool { return f.AtBase }

func (f File) isAtHead() bool { return f.AtHead }

// Change is what differs between base and head.
type Change struct {
	Files    []File
	Lines    int // that are added or removed
	Hunks    []Hunk
	Look     []journal.Look // check files, settings, manifests and other places for a person
	Restored []string       // protected files: all runs have the base's version

	// The commits to check out. Check files are the base's in all but Own.
	Head     string
	Own      string // with the change's check files; empty: it changes none
	OldTests string // the head with the base's tests; empty: it modifies, moves or deletes none
	NewTests string // the base with the head's tests; empty: it adds or modifies none
	Setup    string // the base with the head's manifests, for the setup of NewTests
}

// only reports whether all files are of some kinds.
func (c Change) only(kinds ...Kind) bool {
	for _, file := range c.Files {
		if !slices.Contains(kinds, file.Kind) {
			return false
		}
	}
	return true
}

// concern returns why a person has to look at the manifests, or nothing.
func (c Change) concern() string {
	for _, place := range c.Look {
		if place.Kind == "manifest" {
			return place.String()
		}
	}
	return ""
}

// paths returns the changed files of a kind for which a function is true.
func (c Change) paths(kind Kind, wanted func(File) bool) []string {
	var names []string
	for _, file := range c.Files {
		if file.Kind == kind && wanted(file) {
			names = append(names, file.Path)
		}
	}
	return names
}
