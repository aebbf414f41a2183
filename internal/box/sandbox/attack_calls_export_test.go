//go:build linux

package sandbox

import (
	"os"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

// callsToTry are some of the dangerous calls: TestRefusedCalls has all.
var callsToTry = map[string]uintptr{
	"ptrace": unix.SYS_PTRACE, "process_vm_readv": unix.SYS_PROCESS_VM_READV, "pidfd_getfd": unix.SYS_PIDFD_GETFD,
	"prlimit64": unix.SYS_PRLIMIT64, "keyctl": unix.SYS_KEYCTL, "mount": unix.SYS_MOUNT, "chroot": unix.SYS_CHROOT,
	"unshare": unix.SYS_UNSHARE, "setns": unix.SYS_SETNS, "bpf": unix.SYS_BPF, "userfaultfd": unix.SYS_USERFAULTFD,
}

// kernelCalls returns those that reached the kernel. Their arguments are invalid, so that none does harm.
// Most would fail without a capability as well.
func kernelCalls() string {
	const invalid = ^uintptr(0)
	var got []string
	for name, number := range callsToTry {
		_, _, errno := unix.Syscall(number, invalid, invalid, invalid)
		if errno != unix.EPERM && errno != unix.ENOSYS {
			got = append(got, name)
		}
	}
	slices.Sort(got)
	// The same by the other way in: a new process in new namespaces.
	if pid, _, errno := unix.RawSyscall6(unix.SYS_CLONE, uintptr(unix.CLONE_NEWUSER|unix.SIGCHLD), 0, 0, 0, 0, 0); errno == 0 {
		if pid == 0 {
			_, _, _ = unix.RawSyscall(unix.SYS_EXIT, 0, 0, 0)
		}
		_, _ = unix.Wait4(int(pid), nil, 0, nil)
		got = append(got, "clone")
	}
	return strings.Join(got, " ")
}

// readCanaries is read where it was laid, and settings where they lie.
func (t targets) readCanaries(saw findings) {
	for _, path := range t.Apart {
		if _, err := os.ReadFile(path); err == nil {
			saw.note(atApart, path)
		}
	}
	if text, err := os.ReadFile(t.Link + "/secret"); err == nil {
		saw.note(atLink, string(text))
	}
}
