package process

import (
	"errors"
	"io/fs"
	"os/exec"
	"strings"

	"golang.org/x/sys/unix"
)

// refusal is why a program does not start, told apart from what the system calls
// by the same name.
type refusal struct {
	words string
	like  error
}

func (r refusal) Error() string { return r.words }

// Is has those who need not know better take it for what the system says.
func (r refusal) Is(target error) bool { return target == r.like }

// Why a program does not start that is there.
var (
	ErrFolder      error = refusal{"it is a folder", fs.ErrPermission}
	ErrInterpreter error = refusal{"its interpreter is missing", exec.ErrNotFound}
	ErrFormless          = unix.ENOEXEC
)

// Remedy is what to do about a program, as it was named, that err says cannot be
// started; empty: nobody knows.
func Remedy(program string, err error) string {
	switch {
	case errors.Is(err, ErrFolder):
		return "name a program in it"
	case errors.Is(err, ErrInterpreter):
		return "see to it that what its first line names is there"
	case errors.Is(err, ErrFormless):
		return "begin it with #!/bin/sh, or build it for this machine"
	case errors.Is(err, fs.ErrPermission):
		return "make it a program: chmod +x " + program
	case errors.Is(err, ErrNotFound) && strings.Contains(program, "/"):
		return "name a program that is there"
	case errors.Is(err, ErrNotFound):
		return "install it, or name it by its path"
	}
	return ""
}
