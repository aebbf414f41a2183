package main_test

import (
	"fmt"
	"io/fs"
	"strings"
	"syscall"
	"testing"

	main "github.com/ralph-loop/ralph/cmd/ralph"
	"github.com/ralph-loop/ralph/internal/git/git"
	"github.com/ralph-loop/ralph/internal/lib/fault"
)

// Every refusal of the system has a remedy; a more specific one comes first.
func TestRefusalsHaveRemedies(t *testing.T) {
	for name, c := range map[string]struct {
		err  error
		want string // "" for none
	}{
		"a full disk":          {&fs.PathError{Op: "write", Path: "a", Err: syscall.ENOSPC}, "make room on the disk"},
		"a quota":              {syscall.EDQUOT, "make room on the disk"},
		"git's full disk":      {&git.Error{Command: "read-tree", Exit: 128, Said: "fatal: a write error. Out of diskspace"}, "make room on the disk"},
		"git's read-only one":  {&git.Error{Command: "init", Exit: 128, Said: "fatal: a: Read-only file system"}, "work on a copy elsewhere"},
		"no room for git":      {&git.Error{Command: "init", Exit: 1, Said: "error: unable to write symref for HEAD: No space left on device"}, "make room on the disk"},
		"git's quota":          {&git.Error{Command: "add", Exit: 128, Said: "fatal: write error: Disk quota exceeded"}, "make room on the disk"},
		"git's rights":         {&git.Error{Command: "add", Exit: 128, Said: "fatal: Unable to create 'a.lock': Permission denied"}, "make it readable and writable"},
		"no key of a server's": {&git.Error{Command: "fetch", Exit: 128, Said: "git@github.com: Permission denied (publickey)."}, ""},
		"rights":               {&fs.PathError{Op: "open", Path: "a", Err: syscall.EACCES}, "make it readable and writable"},
		"a file too large":     {&git.Error{Command: "add", TimedOut: true}, "add it to .gitignore"},
		"a fetch too slow":     {&git.Error{Command: "fetch", TimedOut: true}, ""},
		"a better remedy":      {fault.Usage("a", "do b", syscall.ENOSPC), "do b"},
	} {
		got := main.Hint(fmt.Errorf("begin: %w", c.err))
		if !strings.Contains(got, c.want) || (c.want == "") != (got == "") {
			t.Errorf("%s: Hint = %q, want %q", name, got, c.want)
		}
	}
}
