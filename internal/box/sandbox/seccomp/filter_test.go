package seccomp_test

import (
	"encoding/binary"
	"slices"
	"testing"

	"github.com/elastic/go-seccomp-bpf/arch"
	"github.com/google/go-cmp/cmp"
	"golang.org/x/net/bpf"

	"github.com/ralph-loop/ralph/internal/box/sandbox/seccomp"
	"github.com/ralph-loop/ralph/internal/testsupport/must"
)

// What the filter answers.
const (
	allowed = 0x7fff0000
	killed  = 0x80000000
	asked   = 0x7fc00000
	errno   = 0x00050000

	eperm, eacces, enosys, eprotonosupport, eafnosupport = errno | 1, errno | 13, errno | 38, errno | 93, errno | 97
)

var machines = []*arch.Info{arch.X86_64, arch.AARCH64}

// answer returns what the kernel would be told: the program is run on the data of a
// call as the kernel lays it out, but that the emulator reads in network order.
func answer(tb testing.TB, program []bpf.Instruction, machine uint32, number int, args ...uint64) uint32 {
	tb.Helper()
	vm := must.Get(bpf.NewVM(program))(tb)
	data := make([]byte, 64)
	binary.BigEndian.PutUint32(data[0:], uint32(number))
	binary.BigEndian.PutUint32(data[4:], machine)
	for i, a := range args { // the low half first
		binary.BigEndian.PutUint32(data[16+8*i:], uint32(a))
		binary.BigEndian.PutUint32(data[20+8*i:], uint32(a>>32))
	}
	got := must.Get(vm.Run(data))(tb)
	return uint32(got)
}

const high = 1 << 40 // bits that the kernel does not read

func TestTheFilterAnswers(t *testing.T) {
	type filters = []seccomp.Filter
	own := seccomp.Filter{Own: true, Unix: true}
	watched := seccomp.Filter{Notify: true, Unix: true}
	bare := seccomp.Filter{}
	all := []seccomp.Filter{own, watched, bare}
	asking := filters{{Notify: true, AskSignals: true}}
	tests := []struct {
		in   filters
		call string
		args []uint64
		want uint32
	}{
		{all, "read", nil, allowed},
		{all, "execve", nil, allowed},
		{all, "ptrace", nil, eperm},
		{all, "mount", nil, eperm},
		{all, "bpf", nil, eperm},
		{all, "open_tree_attr", nil, eperm},
		{all, "io_uring_setup", nil, enosys},
		{all, "clone3", nil, enosys},
		{all, "clone", []uint64{0x01200011}, allowed},      // fork
		{all, "clone", []uint64{0x3d0f00}, allowed},        // a thread
		{all, "clone", []uint64{0x10000000 | 17}, eperm},   // a user namespace
		{all, "clone", []uint64{0x00020000}, eperm},        // a mount namespace
		{all, "clone", []uint64{high | 0x40000000}, eperm}, // a network namespace
		{all, "ioctl", []uint64{0, 0x5401}, allowed},       // TCGETS
		{all, "ioctl", []uint64{0, 0x5412}, eperm},         // TIOCSTI
		{all, "ioctl", []uint64{0, high | 0x5412}, eperm},  // the same to the kernel
		{all, "ioctl", []uint64{0, 0x541c}, eperm},         // TIOCLINUX
		{all, "ioctl", []uint64{0, 0x540a}, eperm},         // TCXONC
		{all, "ioctl", []uint64{0, 0x540c}, eperm},         // TIOCEXCL
		{all, "ioctl", []uint64{0, 0x5423}, eperm},         // TIOCSETD
		{all, "ioctl", []uint64{3, 0x40049409}, allowed},   // FICLONE: cp uses it
		{all, "ioctl", []uint64{3, 0x4020940d}, allowed},   // FICLONERANGE
		{all, "ioctl", []uint64{3, 0xc0189436}, allowed},   // FIDEDUPERANGE
		{all, "ioctl", []uint64{3, 0x80086601}, allowed},   // FS_IOC_GETFLAGS
		{all, "ioctl", []uint64{3, 0xc020660b}, allowed},   // FS_IOC_FIEMAP
		{all, "ioctl", []uint64{3, 0x801c581f}, allowed},   // FS_IOC_FSGETXATTR
		{all, "seccomp", []uint64{1, 0}, allowed},          // a browser's own
		{all, "seccomp", []uint64{1, 8}, eperm},            // a listener of theirs
		{all, "kill", []uint64{7, 11}, allowed},
		{asking, "kill", []uint64{7, 15}, asked},
		{asking, "kill", []uint64{7, 0}, allowed},
		{asking, "tgkill", []uint64{7, 7, 23}, allowed}, // Go's runtime
		{asking, "tgkill", []uint64{7, 7, high | 9}, asked},
		{asking, "pidfd_send_signal", []uint64{3, 0}, enosys},
		{asking, "fcntl", []uint64{3, 2, 1}, allowed},
		{asking, "fcntl", []uint64{3, 8, 7}, asked},
		{asking, "fcntl", []uint64{3, 15, 7}, eperm},
		{asking, "ioctl", []uint64{3, 0x8901}, eperm},
		{asking, "ioctl", []uint64{3, 0x8902}, eperm},
		{all, "ioctl", []uint64{3, 0x8902}, allowed},
		{all, "prlimit64", []uint64{0, 7, 1}, allowed}, // bounds of one's own
		{all, "prlimit64", []uint64{1, 7, 1}, eperm},
		{all, "prlimit64", []uint64{high, 7, 1}, allowed}, // 0 to the kernel
		{all, "prlimit64", []uint64{high | 1, 7, 1}, eperm},
		{all, "prlimit64", []uint64{0xffffffff, 7, 1}, eperm},
		{all, "setpriority", []uint64{0, 0, 19}, allowed}, // nice
		{all, "setpriority", []uint64{0, 1, 19}, eperm},
		{all, "setpriority", []uint64{1, 0, 19}, eperm}, // a group
		{all, "setpriority", []uint64{2, 0, 19}, eperm}, // all of the user
		{all, "ioprio_set", []uint64{1, 0, 0}, allowed},
		{all, "ioprio_set", []uint64{1, 1, 0}, eperm},
		{all, "ioprio_set", []uint64{2, 0, 0}, eperm},
		{all, "ioprio_set", []uint64{3, 0, 0}, eperm},
		{all, "sched_setaffinity", []uint64{0, 8}, allowed},
		{all, "sched_setaffinity", []uint64{1, 8}, eperm},
		{all, "sched_setscheduler", []uint64{0, 3}, allowed},
		{all, "sched_setscheduler", []uint64{1, 3}, eperm},
		{all, "sched_setparam", []uint64{0}, allowed},
		{all, "sched_setparam", []uint64{1}, eperm},
		{all, "sched_setattr", []uint64{0}, allowed},
		{all, "sched_setattr", []uint64{1}, eperm},
		{all, "move_pages", []uint64{0, 1}, allowed},
		{all, "move_pages", []uint64{1, 1}, eperm},
		{all, "migrate_pages", []uint64{0, 1}, allowed},
		{all, "migrate_pages", []uint64{1, 1}, eperm},
		{all, "chmod", []uint64{0, 0o2755}, allowed},
		{all, "chmod", []uint64{0, 0o4755}, eperm},
		{all, "fchmod", []uint64{3, high | 0o4755}, eperm},
		{all, "fchmodat", []uint64{3, 0, 0o755}, allowed},
		{all, "fchmodat", []uint64{3, 0, 0o4000}, eperm},
		{all, "fchmodat2", []uint64{3, 0, 0o4755, 0}, eperm},
		{all, "creat", []uint64{0, 0o4755}, eperm},
		{all, "mknod", []uint64{0, 0o104755}, eperm},
		{all, "mknodat", []uint64{3, 0, 0o104755}, eperm},
		{all, "mknodat", []uint64{3, 0, 0o010644}, allowed}, // a pipe
		{all, "open", []uint64{0, 0x80000, 0o4755}, allowed},
		{all, "open", []uint64{0, 0x80041, 0o4755}, eperm},
		{all, "openat", []uint64{3, 0, 0x80041, 0o644}, allowed},
		{all, "openat", []uint64{3, 0, 0x80041, 0o4755}, eperm},
		{all, "openat", []uint64{3, 0, 0x410002, 0o4755}, eperm}, // without a name
		{all, "openat", []uint64{3, 0, 0x80000, 0o4755}, allowed},
		{all, "openat2", nil, enosys},
		{filters{own}, "mq_open", nil, allowed},
		{filters{watched, bare}, "mq_open", nil, enosys},
		{all, "sendto", []uint64{3, 0, 5, 0x4000}, allowed},   // MSG_NOSIGNAL
		{all, "sendto", []uint64{3, 0, 5, 0x20000000}, eperm}, // MSG_FASTOPEN
		{all, "sendmsg", []uint64{3, 0, high | 0x20000000}, eperm},
		{all, "sendmmsg", []uint64{3, 0, 1, 0x20004000}, eperm},

		{all, "socket", []uint64{2, 1, 0}, allowed},
		{all, "socket", []uint64{10, 0x80801, 6}, allowed}, // with SOCK_CLOEXEC and SOCK_NONBLOCK
		{all, "socket", []uint64{2, 1, 262}, eprotonosupport},
		{all, "socket", []uint64{2, 1, 132}, eprotonosupport},
		{all, "socket", []uint64{2, 3, 255}, eacces}, // raw
		{all, "socket", []uint64{2, 3, 0}, eacces},
		{all, "socket", []uint64{high | 2, high | 3, 0}, eacces},
		{all, "socket", []uint64{17, 3, 0}, eafnosupport}, // packet
		{all, "socket", []uint64{40, 1, 0}, eafnosupport}, // vsock
		{all, "socket", []uint64{high | 40, 1, 0}, eafnosupport},
		{all, "socket", []uint64{38, 5, 0}, eafnosupport}, // the kernel's ciphers
		{all, "socket", []uint64{16, 3, 0}, allowed},      // netlink: addresses
		{all, "socket", []uint64{16, 3, 4}, eafnosupport}, // netlink: sockets
		{filters{own}, "socket", []uint64{2, 2, 0}, allowed},
		{filters{own}, "socket", []uint64{10, 0x80002, 17}, allowed},
		{filters{own}, "socket", []uint64{2, 2, 1}, eprotonosupport}, // ping
		{filters{watched, bare}, "socket", []uint64{2, 2, 0}, eacces},
		{filters{watched, bare}, "socket", []uint64{10, 0x80002, 17}, eacces},
		{filters{own, watched}, "socket", []uint64{1, 1, 0}, allowed},
		{filters{own, watched}, "socket", []uint64{1, 0x80805, 0}, allowed},
		{filters{own}, "socket", []uint64{1, 2, 0}, allowed},
		{filters{watched, bare}, "socket", []uint64{1, 2, 0}, eacces},
		{filters{watched, bare}, "socket", []uint64{1, 3, 0}, eacces}, // what the kernel makes a datagram's
		{filters{bare}, "socket", []uint64{1, 1, 0}, eacces},
		{all, "socketpair", []uint64{1, 1, 0}, allowed},
		{all, "socketpair", []uint64{30, 1, 0}, eafnosupport},
		{filters{own}, "socketpair", []uint64{1, 2, 0}, allowed},
		{filters{watched, bare}, "socketpair", []uint64{1, 2, 0}, eacces},
		{filters{watched, bare}, "socketpair", []uint64{1, 3, 0}, eacces},

		{filters{watched}, "connect", nil, asked},
		{filters{watched}, "listen", nil, asked},
		{filters{own, bare}, "connect", nil, allowed},
		{filters{own, bare}, "listen", nil, allowed},
	}
	for _, machine := range machines {
		for _, tt := range tests {
			number, ok := machine.SyscallNames[tt.call]
			if !ok && !slices.Contains([]string{"chmod", "creat", "mknod", "open"}, tt.call) {
				t.Fatalf("%s has no %s", machine.Name, tt.call)
			}
			if !ok {
				continue // it has the newer calls alone
			}
			for _, f := range tt.in {
				if got := answer(t, program(t, f, machine), uint32(machine.ID), number, tt.args...); got != tt.want {
					t.Errorf("%s, %s(%#x) under %+v: %#x, want %#x", machine.Name, tt.call, tt.args, f, got, tt.want)
				}
			}
		}
	}
}

// A file system's own requests are refused by their kind, which is the second byte; no other kind is.
func TestRequestsOfFileSystems(t *testing.T) {
	for _, machine := range machines {
		p := program(t, seccomp.Filter{}, machine)
		for kind := range uint64(256) {
			want := uint32(allowed)
			if slices.Contains([]uint64{0x58, 0x66, 0x94, 0xbc}, kind) {
				want = eperm
			}
			for _, around := range []uint64{0xff, 0xffff00ff, high | 0x50000000} {
				if got := answer(t, p, uint32(machine.ID), machine.SyscallNames["ioctl"], 3, around|kind<<8); got != want {
					t.Errorf("%s, request %#x: %#x, want %#x", machine.Name, around|kind<<8, got, want)
				}
			}
		}
	}
}

// file_setattr does what FS_IOC_FSSETXATTR does, and is newer than the table of names.
func TestCallsThatNobodyKnowsAreMissing(t *testing.T) {
	for _, machine := range machines {
		p := program(t, seccomp.Filter{}, machine)
		for number, want := range map[int]uint32{machine.SyscallNames["read"]: allowed, machine.SyscallNames["removexattrat"]: allowed, 469: enosys, 1000: enosys} {
			if got := answer(t, p, uint32(machine.ID), number); got != want {
				t.Errorf("%s, call %d: %#x, want %#x", machine.Name, number, got, want)
			}
		}
	}
}

func program(tb testing.TB, f seccomp.Filter, machine *arch.Info) []bpf.Instruction {
	tb.Helper()
	p := must.Get(f.Build(machine))(tb)
	if len(p) > 4096 {
		tb.Fatalf("%d instructions, the kernel takes 4096", len(p))
	}
	return p
}

func TestOtherNumbersAreKilled(t *testing.T) {
	for _, machine := range machines {
		p := program(t, seccomp.Filter{}, machine)
		for _, foreign := range []*arch.Info{arch.I386, arch.ARM, arch.X86_64, arch.AARCH64} {
			if foreign.ID == machine.ID {
				continue
			}
			if got := answer(t, p, uint32(foreign.ID), foreign.SyscallNames["read"]); got != killed {
				t.Errorf("%s on %s: %#x, want it killed", foreign.Name, machine.Name, got)
			}
		}
	}
	x32 := program(t, seccomp.Filter{}, arch.X86_64)
	if got := answer(t, x32, uint32(arch.X86_64.ID), 0x40000000|101); got != killed {
		t.Errorf("ptrace of x32: %#x, want it killed", got)
	}
}

// outright are the calls that are refused regardless of their arguments: one that
// leaves the sandbox's list is missed here.
var outright = []string{
	"acct", "add_key", "adjtimex", "bpf", "chroot", "clock_adjtime", "clock_settime", "create_module", "delete_module",
	"fanotify_init", "finit_module", "fsconfig", "fsmount", "fsopen", "fspick", "init_module", "ioperm", "iopl", "kcmp",
	"kexec_file_load", "kexec_load", "keyctl", "lookup_dcookie", "modify_ldt", "mount", "mount_setattr", "move_mount", "nfsservctl",
	"open_by_handle_at", "open_tree", "open_tree_attr", "perf_event_open", "pidfd_getfd", "pivot_root", "process_madvise",
	"process_vm_readv", "process_vm_writev", "ptrace", "quotactl", "quotactl_fd", "reboot", "request_key", "setdomainname",
	"sethostname", "setns", "settimeofday", "swapoff", "swapon", "syslog", "umount2", "unshare", "userfaultfd", "vhangup",
}

// A typing error would refuse nothing: each is a name that a machine knows.
func TestRefusedCalls(t *testing.T) {
	if diff := cmp.Diff(outright, slices.Sorted(slices.Values(seccomp.Refused()))); diff != "" {
		t.Errorf("the list of the sandbox (-want +got):\n%s", diff)
	}
	for _, name := range outright {
		found := false
		for _, machine := range machines {
			number, ok := machine.SyscallNames[name]
			found = found || ok
			if !ok {
				continue
			}
			if got := answer(t, program(t, seccomp.Filter{}, machine), uint32(machine.ID), number); got != eperm {
				t.Errorf("%s on %s: %#x, want EPERM", name, machine.Name, got)
			}
		}
		if !found {
			t.Errorf("no machine has a call %q", name)
		}
	}
}

// Regardless of the arguments, a call gets one of the answers that we give.
func FuzzFilter(f *testing.F) {
	f.Add(uint32(41), uint64(2), uint64(1), uint64(0))
	f.Add(uint32(56), uint64(0x10000000), uint64(0), uint64(0))
	f.Add(uint32(302), uint64(1), uint64(7), uint64(0))
	programs := map[*arch.Info][]bpf.Instruction{}
	for _, m := range machines {
		programs[m] = program(f, seccomp.Filter{Notify: true, Unix: true}, m)
	}
	f.Fuzz(func(t *testing.T, number uint32, a, b, c uint64) {
		for m, p := range programs {
			got := answer(t, p, uint32(m.ID), int(number), a, b, c)
			if narrow := answer(t, p, uint32(m.ID), int(number), a&0xffffffff, b&0xffffffff, c&0xffffffff); got != narrow {
				t.Errorf("%s, call %d: %#x with high bits and %#x without", m.Name, number, got, narrow)
			}
			if int(number) == m.SyscallNames["socket"] && got == allowed && !harmless(uint32(a), uint32(b), uint32(c)) {
				t.Errorf("%s lets socket(%#x, %#x, %#x) through", m.Name, a, b, c)
			}
			for _, name := range []string{"prlimit64", "sched_setaffinity", "sched_setattr", "sched_setparam", "sched_setscheduler"} {
				if int(number) == m.SyscallNames[name] && (got == allowed) != (uint32(a) == 0) {
					t.Errorf("%s answers %s of process %d with %#x", m.Name, name, uint32(a), got)
				}
			}
		}
	})
}

// harmless are the sockets that level notify lets be made.
func harmless(family, kind, protocol uint32) bool {
	switch family {
	case 1: // no datagrams
		return kind&2 == 0
	case 2, 10: // streams, by TCP
		return kind&0xe == 0 && (protocol == 0 || protocol == 6)
	case 16: // news of addresses
		return protocol == 0
	}
	return false
}
