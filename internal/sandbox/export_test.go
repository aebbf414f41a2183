package sandbox

import (
	"github.com/elastic/go-seccomp-bpf/arch"
	"golang.org/x/net/bpf"
)

// Without is w with parts of the wall taken away.
func Without(w Wall, parts ...string) Wall {
	for _, p := range parts {
		w.off = append(w.off, mechanism(p))
	}
	return w
}

// Pretend is w on a kernel of an older Landlock; -1: of none.
func Pretend(w Wall, abi int) Wall {
	w.abi = abi
	return w
}

// Filter is what a level lets through.
type Filter struct{ Own, Notify, Unix bool }

// Build is its program for a machine.
func Build(f Filter, machine *arch.Info) ([]bpf.Instruction, error) {
	return filter{Own: f.Own, Notify: f.Notify, Unix: f.Unix, off: func(mechanism) bool { return false }}.build(machine)
}

// Refused are the names of the calls that no level lets through.
func Refused() []string { return refused }

// Beside is w with one more daemon beside it.
func Beside(w Wall, socket string) Wall {
	w.daemons = append(w.daemons, socket)
	return w
}

// Left are the numbers of what somebody has of the memory of System V.
func Left(table, title, uid string) []int { return left(table, title, uid) }
