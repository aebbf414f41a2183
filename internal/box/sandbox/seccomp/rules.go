package seccomp

import (
	"maps"
	"slices"
	"strings"

	"golang.org/x/net/bpf"
)

// refused are calls that reach other processes or the machine. Builds and tests need none.
var refused = []string{
	// other processes
	"ptrace", "process_vm_readv", "process_vm_writev", "process_madvise", "kcmp", "pidfd_getfd",
	// keys of others
	"keyctl", "add_key", "request_key",
	// the file system's shape
	"mount", "umount2", "move_mount", "open_tree", "open_tree_attr", "fsopen", "fsconfig", "fsmount", "fspick",
	"mount_setattr", "pivot_root", "chroot", "unshare", "setns", "swapon", "swapoff", "quotactl", "quotactl_fd",
	"open_by_handle_at", "fanotify_init", "acct", "nfsservctl",
	// the kernel
	"bpf", "perf_event_open", "userfaultfd", "kexec_load", "kexec_file_load", "init_module", "finit_module",
	"delete_module", "create_module", "reboot", "syslog", "iopl", "ioperm", "modify_ldt", "vhangup", "lookup_dcookie",
	"settimeofday", "clock_settime", "clock_adjtime", "adjtimex", "sethostname", "setdomainname",
}

// onOthers are the calls that change how a process is run, any of the same user: with 0 in each of these arguments it
// is the caller itself, or what the kernel takes for it. What they have of another's thread they do without.
var onOthers = map[string][]argument{
	"prlimit64":          {{0, 0}}, // a program without descriptors puts nothing back
	"sched_setaffinity":  {{0, 0}},
	"sched_setattr":      {{0, 0}},
	"sched_setparam":     {{0, 0}},
	"sched_setscheduler": {{0, 0}},
	"setpriority":        {{0, 0}, {1, 0}}, // PRIO_PROCESS: the rest is of a group or a user
	"ioprio_set":         {{0, 1}, {1, 0}}, // IOPRIO_WHO_PROCESS, likewise
	"move_pages":         {{0, 0}},
	"migrate_pages":      {{0, 0}},
}

type argument struct{ at, is uint32 }

// modeAt is where calls have the mode of a file: one that runs as its owner would do so outside, too, for anybody.
var modeAt = map[string]uint32{
	"chmod": 1, "fchmod": 1, "fchmodat": 2, "fchmodat2": 2,
	"creat": 1, "mknod": 1, "mknodat": 2, "open": 2, "openat": 3,
}

const (
	setUser = 0x800    // S_ISUID
	creates = 0x400040 // O_CREAT and O_TMPFILE

	namespaceFlags = 0x7e020000 // CLONE_NEW* but TIME, which only clone3 and unshare take
	msgFastOpen    = 0x20000000
	newListener    = 8 // SECCOMP_FILTER_FLAG_NEW_LISTENER

	familyUnix    = 1
	familyInet    = 2
	familyInet6   = 10
	familyNetlink = 16

	typeDatagram = 2
	notStream    = 0xe // bits of a socket's type that are not SOCK_STREAM's
	notDatagram  = 0xd

	protocolTCP = 6
	protocolUDP = 17
)

// intoTerminals are requests of ioctl that type into the terminal of another, TIOCSTI and TIOCLINUX, stop what ralph
// writes to it, TCXONC, keep others from opening it, TIOCEXCL, or end it: TIOCSETD, with the discipline N_NULL.
var intoTerminals = []uint32{0x5412, 0x541c, 0x540a, 0x540c, 0x5423}

// fileSystems are the kinds of requests that file systems have of their own: Btrfs (0x94), ext4 (f), XFS (X) and
// bcachefs (0xbc). With these a program deletes or copies folders although Landlock closes them, or makes files that
// ralph cannot move aside. Of these kinds, builds need plainRequests only.
var fileSystems = []uint32{0x94, 'f', 'X', 0xbc}

var plainRequests = []uint32{
	0x40049409, 0x4020940d, 0xc0189436, // FICLONE, FICLONERANGE, FIDEDUPERANGE
	0x80086601, 0xc020660b, 0x801c581f, // FS_IOC_GETFLAGS, FS_IOC_FIEMAP, FS_IOC_FSGETXATTR
}

// newest is the newest call that this filter knows. Later ones may do what it refuses.
const newest = 467

func (f Filter) refuse(a *assembly) {
	a.when(bpf.JumpGreaterThan, newest, refuse(enosys))
	for _, name := range refused {
		a.on(name, refuse(eperm))
	}
	for _, name := range slices.Sorted(maps.Keys(onOthers)) {
		a.only(name, onOthers[name])
	}
	for _, name := range slices.Sorted(maps.Keys(modeAt)) {
		a.rule(name, func() { modes(a, name) })
	}
	a.on("openat2", refuse(enosys)) // its mode lies in memory; programs then take openat
	if !f.Own {                     // a queue is in no folder, and later programs would find it
		a.on("mq_open", refuse(enosys))
	}
	if !f.off(Rings) {
		for _, name := range []string{"io_uring_setup", "io_uring_enter", "io_uring_register"} {
			a.on(name, refuse(enosys)) // a ring does what the filter does not see
		}
	}
	if f.AskSignals {
		f.signals(a)
	}
	a.on("clone3", refuse(enosys)) // its flags lie in memory; libc then takes clone
	a.rule("clone", func() {
		a.LdLo(0)
		a.when(bpf.JumpBitsSet, namespaceFlags, refuse(eperm))
		a.ret(allow)
	})
	a.rule("ioctl", func() { f.requests(a) })
	a.rule("seccomp", func() { // no one supervises the supervisor
		a.LdLo(1)
		a.when(bpf.JumpBitsSet, newListener, refuse(eperm))
		a.ret(allow)
	})
}

func (f Filter) requests(a *assembly) {
	a.LdLo(1)
	for _, request := range ofOwners {
		if f.AskSignals {
			a.when(bpf.JumpEqual, request, refuse(eperm))
		}
	}
	for _, request := range intoTerminals {
		a.when(bpf.JumpEqual, request, refuse(eperm))
	}
	for _, request := range plainRequests {
		a.when(bpf.JumpEqual, request, allow)
	}
	for _, kind := range fileSystems {
		a.whenSecondByte(kind, refuse(eperm))
	}
	a.ret(allow)
}

func modes(a *assembly, name string) {
	if strings.HasPrefix(name, "open") { // without these flags it has no mode
		mode := a.NewLabel()
		a.LdLo(modeAt[name] - 1)
		a.JmpIfTrue(bpf.JumpBitsSet, creates, mode)
		a.ret(allow)
		a.SetLabel(mode)
	}
	a.LdLo(modeAt[name])
	a.when(bpf.JumpBitsSet, setUser, refuse(eperm))
	a.ret(allow)
}

// sends refuses data that is sent before a connection, around connect.
func (f Filter) sends(a *assembly) {
	send := func(name string, flags uint32) {
		a.rule(name, func() {
			a.LdLo(flags)
			a.when(bpf.JumpBitsSet, msgFastOpen, refuse(eperm))
			a.ret(allow)
		})
	}
	send("sendto", 3)
	send("sendmsg", 2)
	send("sendmmsg", 3)
}

// sockets lets in what the level can hold: local sockets, the kernel's own news of the network, TCP, and UDP where the
// network is one of its own. The kernel reads 32 bits of each argument, and so does the filter.
func (f Filter) sockets(a *assembly) {
	a.rule("socketpair", func() {
		local := a.NewLabel()
		a.LdLo(0)
		a.JmpIfTrue(bpf.JumpEqual, familyUnix, local)
		a.ret(refuse(eafnosupport))
		a.SetLabel(local)
		f.connected(a)
	})
	a.rule("socket", func() {
		local, news, inet := a.NewLabel(), a.NewLabel(), a.NewLabel()
		a.LdLo(0)
		a.JmpIfTrue(bpf.JumpEqual, familyUnix, local)
		a.JmpIfTrue(bpf.JumpEqual, familyNetlink, news)
		a.JmpIfTrue(bpf.JumpEqual, familyInet, inet)
		a.JmpIfTrue(bpf.JumpEqual, familyInet6, inet)
		a.ret(refuse(eafnosupport))

		a.SetLabel(local)
		f.local(a)

		a.SetLabel(news)
		a.LdLo(2)
		a.when(bpf.JumpEqual, 0, allow) // NETLINK_ROUTE: which addresses there are
		a.ret(refuse(eafnosupport))

		a.SetLabel(inet)
		f.inet(a)
	})
}

func (f Filter) local(a *assembly) {
	if !f.Unix && !f.off(Locals) {
		a.ret(refuse(eacces))
		return
	}
	f.connected(a)
}

// connected refuses local datagrams, which need no connect.
func (f Filter) connected(a *assembly) {
	if (f.Notify || !f.Unix) && !f.off(Locals) {
		a.LdLo(1)
		a.when(bpf.JumpBitsSet, typeDatagram, refuse(eacces)) // of SOCK_DGRAM and of its twin SOCK_RAW
	}
	a.ret(allow)
}

func (f Filter) inet(a *assembly) {
	other := a.NewLabel()
	a.LdLo(1)
	a.JmpIfTrue(bpf.JumpBitsSet, notStream, other)
	a.LdLo(2)
	a.when(bpf.JumpEqual, 0, allow)
	a.when(bpf.JumpEqual, protocolTCP, allow)
	a.ret(refuse(eprotonosupport)) // MPTCP: Go falls back to TCP

	a.SetLabel(other)
	if !f.Own && !f.off(Datagrams) {
		a.ret(refuse(eacces))
		return
	}
	a.when(bpf.JumpBitsSet, notDatagram, refuse(eacces))
	a.LdLo(2)
	a.when(bpf.JumpEqual, 0, allow)
	a.when(bpf.JumpEqual, protocolUDP, allow)
	a.ret(refuse(eprotonosupport))
}
