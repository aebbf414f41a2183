// Package seccomp writes the filter of system calls of a sandbox: which calls a
// program inside may make. It is data in, a program out; it installs nothing.
package seccomp

import (
	"fmt"

	bpfasm "github.com/elastic/go-seccomp-bpf"
	"github.com/elastic/go-seccomp-bpf/arch"
	"golang.org/x/net/bpf"
)

// What the filter answers. The errnos are Linux's, which other systems number differently.
const (
	allow  = uint32(bpfasm.ActionAllow)
	kill   = uint32(bpfasm.ActionKillProcess)
	notify = uint32(0x7fc00000) // SECCOMP_RET_USER_NOTIF, unknown to the library

	eperm           = 1
	eacces          = 13
	enosys          = 38
	eprotonosupport = 93
	eafnosupport    = 97
)

func refuse(errno uint32) uint32 { return uint32(bpfasm.ActionErrno) | errno }

// Part is a part of the filter, which tests take away to see what it holds.
type Part string

// The parts.
const (
	Calls     Part = "seccomp"
	Datagrams Part = "seccomp datagrams"
	Protocols Part = "seccomp protocols"
	FastOpen  Part = "seccomp fast open"
	Rings     Part = "seccomp io_uring"
	Locals    Part = "seccomp unix sockets"
	Notified  Part = "supervisor"
)

// Filter is a program to be: what a level lets through.
type Filter struct {
	Own    bool // network and queues are of its own: datagrams reach no one
	Notify bool // each connect is asked of the supervisor
	Unix   bool // sockets of the file system may be used

	AskSignals bool // each signal is asked of the supervisor

	Without func(Part) bool // parts that are left out; nil: none is
}

func (f Filter) off(p Part) bool { return f.Without != nil && f.Without(p) }

// Build writes the program for one machine. A call that no rule names goes through: the list is of what breaks out,
// since what programs need is more than anybody can list.
//
// The library's own Policy is of no use here: it lets calls of a foreign
// architecture through, and compares 64 bits where the kernel reads 32.
func (f Filter) Build(machine *arch.Info) ([]bpf.Instruction, error) {
	a := &assembly{machine: machine, Program: bpfasm.NewProgram()}
	if !f.off(Calls) {
		f.refuse(a)
	}
	if !f.off(Protocols) {
		f.sockets(a)
	}
	if !f.off(FastOpen) {
		f.sends(a)
	}
	if f.Notify && !f.off(Notified) {
		a.on("connect", notify)
		a.on("listen", notify)
	}
	a.ret(allow)
	body, err := a.Assemble()
	if err != nil {
		return nil, fmt.Errorf("assemble the seccomp filter: %w", err)
	}
	return append(entrance(machine), body...), nil
}

// entrance kills calls by another architecture's numbers, x32's included.
func entrance(machine *arch.Info) []bpf.Instruction {
	in := []bpf.Instruction{
		bpf.LoadAbsolute{Off: 4, Size: 4},
		bpf.JumpIf{Cond: bpf.JumpEqual, Val: uint32(machine.ID), SkipTrue: 1},
		bpf.RetConstant{Val: kill},
		bpf.LoadAbsolute{Off: 0, Size: 4},
	}
	if machine.ID != arch.X86_64.ID {
		return in
	}
	x32 := uint32(arch.X32.SeccompMask) //nolint:gosec // a bit
	return append(in,
		bpf.JumpIf{Cond: bpf.JumpGreaterOrEqual, Val: x32, SkipFalse: 1},
		bpf.RetConstant{Val: kill})
}

type assembly struct {
	bpfasm.Program

	machine *arch.Info
}

func (a *assembly) ret(what uint32) { a.Ret(bpfasm.Action(what)) }

func (a *assembly) on(name string, what uint32) { a.rule(name, func() { a.ret(what) }) }

// rule begins the answer to a call; then must return on every way.
func (a *assembly) rule(name string, then func()) {
	nr, ok := a.machine.SyscallNames[name]
	if !ok {
		return
	}
	hit, miss := a.NewLabel(), a.NewLabel()
	a.JmpIf(bpf.JumpEqual, uint32(nr), hit, miss) //nolint:gosec // a number of a call
	a.SetLabel(hit)
	then()
	a.SetLabel(miss)
}

// only lets a call through whose arguments are these.
func (a *assembly) only(name string, all []argument) {
	a.rule(name, func() {
		for _, want := range all {
			a.LdLo(want.at)
			a.when(bpf.JumpNotEqual, want.is, refuse(eperm))
		}
		a.ret(allow)
	})
}

// when runs yes if the loaded word matches, and goes on if not.
func (a *assembly) when(cond bpf.JumpTest, val, yes uint32) {
	hit, miss := a.NewLabel(), a.NewLabel()
	a.JmpIf(cond, val, hit, miss)
	a.SetLabel(hit)
	a.ret(yes)
	a.SetLabel(miss)
}

// whenSecondByte is when for one byte of the word. It looks at each bit, because the library cannot mask a word.
func (a *assembly) whenSecondByte(val, yes uint32) {
	miss := a.NewLabel()
	a.JmpIfTrue(bpf.JumpBitsSet, ^val<<8&0xff00, miss)
	for bit := uint32(1); bit <= val; bit <<= 1 {
		if val&bit != 0 {
			a.JmpIfTrue(bpf.JumpBitsNotSet, bit<<8, miss)
		}
	}
	a.ret(yes)
	a.SetLabel(miss)
}
