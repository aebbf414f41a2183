package seccomp

import (
	"maps"
	"slices"

	"golang.org/x/net/bpf"
)

// coreSignals have a program leave its memory in a file: SIGQUIT, SIGILL, SIGTRAP, SIGABRT, SIGBUS, SIGFPE, SIGSEGV,
// SIGXCPU, SIGXFSZ and SIGSYS.
var coreSignals = []uint32{3, 4, 5, 6, 7, 8, 11, 24, 25, 31}

// signalAt is where calls have a signal.
var signalAt = map[string]uint32{
	"kill": 1, "tkill": 1, "tgkill": 2, "rt_sigqueueinfo": 1, "rt_tgsigqueueinfo": 2, "pidfd_send_signal": 1,
}

// ofOwners are requests of ioctl that name in memory who gets a signal: FIOSETOWN and SIOCSPGRP.
var ofOwners = []uint32{0x8901, 0x8902}

const (
	urgent = 23 // SIGURG: Go's runtime sends itself many, and others leave it alone

	// What fcntl has sent to an owner, and to whom: F_SETOWN, F_SETSIG in place of SIGIO, and F_SETOWN_EX, which names
	// the owner in memory.
	setOwner, setSignal, setAnyOwner = 8, 10, 15
)

// signals has the supervisor asked. Without one, it is unknown whom a call means: those inside cannot send them to
// themselves either.
func (f Filter) signals(a *assembly) {
	if f.AskSignals {
		// Another descriptor may have the number by then. Programs then take kill.
		a.on("pidfd_send_signal", refuse(enosys))
	}
	for _, name := range slices.Sorted(maps.Keys(signalAt)) {
		a.rule(name, func() {
			a.LdLo(signalAt[name])
			if f.AskSignals {
				a.when(bpf.JumpEqual, 0, allow)
				a.when(bpf.JumpEqual, urgent, allow)
				a.ret(notify)
				return
			}
			for _, signal := range coreSignals {
				a.when(bpf.JumpEqual, signal, refuse(eperm))
			}
			a.ret(allow)
		})
	}
	a.rule("fcntl", func() {
		a.LdLo(1)
		if f.AskSignals {
			a.when(bpf.JumpEqual, setOwner, notify)
			a.when(bpf.JumpEqual, setAnyOwner, refuse(eperm))
		} else {
			a.when(bpf.JumpEqual, setSignal, refuse(eperm))
		}
		a.ret(allow)
	})
}
