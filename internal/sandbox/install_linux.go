package sandbox

import (
	"fmt"
	"os"
	"unsafe"

	"github.com/elastic/go-seccomp-bpf/arch"
	"golang.org/x/net/bpf"
	"golang.org/x/sys/unix"
)

const setModeFilter = 1

// filter puts the seccomp filter on this thread, which is the one that execs.
// With a supervisor its listener goes to it; nothing after this may be a call
// that the supervisor is asked about.
func (p *launch) filter() error {
	machine, err := arch.GetInfo("")
	if err != nil {
		return fmt.Errorf("install the seccomp filter: %w", err)
	}
	program, err := p.rules().build(machine)
	if err != nil {
		return err
	}
	raw, err := bpf.Assemble(program)
	if err != nil {
		return fmt.Errorf("assemble the seccomp filter: %w", err)
	}
	listener, err := install(raw, p.watched())
	if err != nil || !p.watched() {
		return err
	}
	defer func() { _ = unix.Close(listener) }()
	return p.wire.send(word{Filter: true}, listener)
}

func (p *launch) watched() bool { return p.Level == Notify && p.has(notified) }

// rules leave local sockets out where nothing tells whose they are: the user's
// session bus or a docker daemon would do what it is asked.
func (p *launch) rules() filter {
	return filter{
		Own:    p.Level == Namespace && p.has(network),
		Notify: p.Level == Notify,
		Unix:   p.Level == Namespace && !p.Flat || p.Level == Notify,
		off:    p.off,
	}
}

func install(raw []bpf.RawInstruction, listen bool) (int, error) {
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
	fd, err := seccompCall(newListener|unix.SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV, &program)
	if err == unix.EINVAL { //nolint:errorlint // a bare errno
		fd, err = seccompCall(newListener, &program)
	}
	return fd, err
}

func seccompCall(flags uintptr, program *unix.SockFprog) (int, error) {
	fd, _, errno := unix.Syscall(unix.SYS_SECCOMP, setModeFilter, flags, uintptr(unsafe.Pointer(program))) //nolint:gosec // the kernel reads it there
	if errno != 0 {
		return -1, os.NewSyscallError("install the seccomp filter", errno)
	}
	return int(fd), nil
}
