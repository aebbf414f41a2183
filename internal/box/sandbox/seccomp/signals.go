package seccomp

import (
	"maps"
	"slices"

	"golang.org/x/net/bpf"
)

// signalAt is where calls have a signal.
var signalAt = map[string]uint32{
	"kill": 1, "tkill": 1, "tgkill": 2, "rt_sigqueueinfo": 1, "rt_tgsigqueueinfo": 2,
}

// ofOwners are requests of ioctl that name in memory who gets a signal: FIOSETOWN and SIOCSPGRP.
var ofOwners = []uint32{0x8901, 0x8902}

const (
	urgent = 23 // SIGURG: Go's runtime sends itself many, and others leave it alone

	// The ways of fcntl to name who gets a signal: F_SETOWN, and F_SETOWN_EX, which names the owner in memory.
	setOwner, setAnyOwner = 8, 15
)

// signals has the supervisor asked of each signal.
func (f Filter) signals(a *assembly) {
	// Another descriptor may have the number by then. Programs then take kill.
	a.on("pidfd_send_signal", refuse(enosys))
	for _, name := range slices.Sorted(maps.Keys(signalAt)) {
		a.rule(name, func() {
			a.LdLo(signalAt[name])
			a.when(bpf.JumpEqual, 0, allow)
			a.when(bpf.JumpEqual, urgent, allow)
			a.ret(notify)
		})
	}
	a.rule("fcntl", func() {
		a.LdLo(1)
		a.when(bpf.JumpEqual, setOwner, notify)
		a.when(bpf.JumpEqual, setAnyOwner, refuse(eperm))
		a.ret(allow)
	})
}
