// Package putback keeps what stands in folders that a sandboxed program may write
// to, and puts back afterwards what the program may not change: whole files and
// folders, all of a folder but some names, and all of a JSON file but some fields.
package putback

import (
	"errors"
	"syscall"
)

// ErrNotPutBack reports a protected file that stays changed: nothing may trust it.
var ErrNotPutBack = errors.New("it stays as the sandboxed programs left it")

// IsFull reports whether a full disk, or a quota, is why something was not put back.
func IsFull(err error) bool { return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) }

// Files are what a program may not change in the folders that it writes to.
type Files struct {
	Write    []string // the folders
	ReadOnly []string // in one of them; need not exist
	Guards   []Guard
	// Fields are what may change of JSON files, by the way down to it with dots, where
	// each name may be a pattern. All else of the file may not.
	Fields map[string][]string

	// Mounted says that mounts close what stands there, except what may change.
	Mounted bool

	Mark Mark // may be nil

	places []string // of Write, without links
}

// Mark returns the texts of other commands, which run or were killed, and keeps one for Recover and for others until
// done: where it stays, this process was killed. No other command begins until keep was called, with no text for no mark.
// Without a mark no program may run.
type Mark func() (others [][]byte, keep func(text []byte) (done func(all bool) error, err error), err error)

// Guard makes all of a folder read-only except what is named. A missing name
// can be created while a program runs, by any program that may write beside it,
// and is removed afterwards. Of the named ones only files and folders stay: a
// link would be followed outside.
type Guard struct {
	Dir string   // in a folder of Write; need not exist
	But []string // ways in Dir, as path.Match has them: all that lies there may change, and links, too, if one is "."
}
