package sandbox

import (
	"errors"
	"fmt"
	"os"
	"syscall"
	"unsafe"

	"github.com/elastic/go-seccomp-bpf/arch"
	"golang.org/x/net/bpf"
	"golang.org/x/sys/unix"

	"github.com/ralph-loop/ralph/internal/box/sandbox/seccomp"
)

// restrictCalls puts the seccomp filter on this thread, which is the one that execs. With a supervisor its listener
// goes to it; nothing after this may be a call that the supervisor is asked about.
func (p *launch) restrictCalls() error {
	machine, err := arch.GetInfo("")
	if err != nil {
		return fmt.Errorf("install the seccomp filter: %w", err)
	}
	program, err := p.rules().Build(machine)
	if err != nil {
		return err
	}
	raw, err := bpf.Assemble(program)
	if err != nil {
		return fmt.Errorf("assemble the seccomp filter: %w", err)
	}
	listener, err := installFilter(raw, p.isSupervised())
	if err != nil || !p.isSupervised() {
		return err
	}
	defer func() { _ = unix.Close(listener) }()
	return p.wire.send(message{Filter: true}, listener)
}

// These are the first Landlocks that protect files from being emptied (Linux 6.2), and keep signals in (6.12).
const truncation, scoping = 3, 6

func (p *launch) isSupervised() bool { return p.Level == Notify && p.has(notified) }

// rules exclude local sockets where nothing tells whose they are, such as a docker daemon's.
func (p *launch) rules() seccomp.Filter {
	return seccomp.Filter{
		Own:    p.Level == Namespace && p.has(network),
		Notify: p.Level == Notify,
		Unix:   p.mounts() || p.Level == Notify,

		AskSignals: p.isSupervised() && landlockOf(p.ABI) < scoping,

		Without: func(part seccomp.Part) bool { return p.off(mechanism(part)) },
	}
}

func installFilter(raw []bpf.RawInstruction, listen bool) (int, error) {
	code := make([]unix.SockFilter, len(raw))
	for i, in := range raw {
		code[i] = unix.SockFilter{Code: in.Op, Jt: in.Jt, Jf: in.Jf, K: in.K}
	}
	program := unix.SockFprog{Len: uint16(len(code)), Filter: &code[0]} //nolint:gosec // a few hundred
	if !listen {
		_, err := seccompCall(0, &program)
		return -1, err
	}
	// Killable: else each signal, of which Go's runtime sends itself many,
	// would begin a connect anew. Kernels before 5.19 do not know it.
	fd, err := seccompCall(unix.SECCOMP_FILTER_FLAG_NEW_LISTENER|unix.SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV, &program)
	if errors.Is(err, unix.EINVAL) {
		fd, err = seccompCall(unix.SECCOMP_FILTER_FLAG_NEW_LISTENER, &program)
	}
	return fd, err
}

func seccompCall(flags uintptr, program *unix.SockFprog) (int, error) {
	fd, _, errno := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, flags,
		uintptr(unsafe.Pointer(program))) //nolint:gosec // the kernel reads it there
	if errno != 0 {
		return -1, os.NewSyscallError("install the seccomp filter", errno)
	}
	return int(fd), nil
}

func (p *launch) dropPrivileges() error {
	if err := p.dropBounding(); err != nil {
		return err
	}
	if err := p.changeUser(); err != nil {
		return err
	}
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("gain nothing by exec: %w", err)
	}
	if p.off(caps) {
		return nil
	}
	if err := unix.Prctl(unix.PR_CAP_AMBIENT, unix.PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0); err != nil {
		return fmt.Errorf("drop ambient capabilities: %w", err)
	}
	none := [2]unix.CapUserData{}
	if err := unix.Capset(&unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}, &none[0]); err != nil {
		return fmt.Errorf("drop capabilities: %w", err)
	}
	return nil
}

// dropBounding needs a capability, without which there is nothing to drop.
func (p *launch) dropBounding() error {
	if p.off(caps) {
		return nil
	}
	for c := uintptr(0); ; c++ {
		switch err := unix.Prctl(unix.PR_CAPBSET_DROP, c, 0, 0, 0); {
		case errors.Is(err, unix.EINVAL), errors.Is(err, unix.EPERM):
			return nil
		case err != nil:
			return fmt.Errorf("drop capabilities for good: %w", err)
		}
	}
}

func (p *launch) changeUser() error {
	if p.UID == 0 || p.off(user) || os.Getuid() == p.UID {
		return nil
	}
	if err := syscall.Setgroups(nil); err != nil {
		return fmt.Errorf("leave all groups: %w", err)
	}
	if err := syscall.Setresgid(p.GID, p.GID, p.GID); err != nil {
		return fmt.Errorf("become group %d: %w", p.GID, err)
	}
	if err := syscall.Setresuid(p.UID, p.UID, p.UID); err != nil {
		return fmt.Errorf("become user %d: %w", p.UID, err)
	}
	return nil
}

// denyTracing keeps those inside, who may be the same user, from reading us.
func (p *launch) denyTracing() error {
	if err := unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0); err != nil {
		return fmt.Errorf("hide from other processes: %w", err)
	}
	return nil
}
