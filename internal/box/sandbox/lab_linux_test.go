package sandbox_test

import (
	"bytes"
	"context"
	"encoding/json"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/ralph-loop/ralph/internal/box/sandbox"
	"github.com/ralph-loop/ralph/internal/lib/process"
	"github.com/ralph-loop/ralph/internal/testsupport/must"
)

// agent is who is inside where we are root; else it is us.
var agent = ordinary()

func ordinary() int {
	if uid := os.Geteuid(); uid != 0 {
		return uid
	}
	return 1000
}

// user is who inside is, and what machine they are on.
type user struct {
	name    string
	uid     int // of the sandbox
	outside int // of ralph
	weaker  string
	alone   bool // in a network of its own, with no way out
}

var (
	asOther    = user{name: "root, agent another", uid: agent}
	asRoot     = user{name: "root, agent too"}
	asDocker   = user{name: "root in a stock container", uid: agent, weaker: "docker"}
	asOrdinary = user{name: "ordinary user", outside: agent}
	asClosed   = user{name: "ordinary user without namespaces", outside: agent, weaker: "closed"}
	// Not of users: it has what asOrdinary has, but for a process namespace.
	asMasked = user{name: "ordinary user in a container that masks /proc", outside: agent, weaker: "masked"}
)

// users returns those that we can be.
func users() []user {
	all := []user{asOther, asRoot, asDocker, asOrdinary, asClosed}
	if os.Geteuid() != 0 {
		all = all[3:]
	}
	if !roomy() {
		all = all[:len(all)-1] // no user gets namespaces: asOrdinary is asClosed
	}
	return all
}

// roomy tells whether this machine lets us have a network and mounts of our own,
// as a stock container does not. The sandbox is not asked: it is what is tested.
var roomy = sync.OnceValue(func() bool {
	sys := &syscall.SysProcAttr{Cloneflags: unix.CLONE_NEWNET | unix.CLONE_NEWNS}
	if uid := os.Geteuid(); uid != 0 {
		sys.Cloneflags |= unix.CLONE_NEWUSER
		sys.UidMappings = []syscall.SysProcIDMap{{ContainerID: uid, HostID: uid, Size: 1}}
		sys.GidMappings = []syscall.SysProcIDMap{{ContainerID: os.Getegid(), HostID: os.Getegid(), Size: 1}}
	}
	_, err := new(process.Runner).Run(context.Background(), process.Command{Argv: []string{"/bin/true"}, Sys: sys})
	return err == nil
})

// six tells whether this machine has IPv6 on loopback; a stock container has not.
var six = sync.OnceValue(func() bool {
	l, err := net.Listen("tcp6", "[::1]:0")
	if err == nil {
		_ = l.Close()
	}
	return err == nil
})

// here returns those of the levels that this machine can have at all.
func here(levels ...sandbox.Level) []sandbox.Level {
	if roomy() {
		return levels
	}
	return slices.DeleteFunc(levels, func(l sandbox.Level) bool { return l == sandbox.Namespace })
}

// possible reports whether we can be u, behind a sandbox of that level.
func (u user) possible(level sandbox.Level) bool {
	return slices.Contains(users(), u) && slices.Contains(u.levels(), level)
}

// sandbox is one round a folder that belongs to those inside.
func testConfig(tb testing.TB, level sandbox.Level, who user) sandbox.Config {
	tb.Helper()
	return sandbox.Config{Level: level, UID: who.uid, GID: who.uid, Write: []string{folder(tb, max(who.uid, who.outside))}}
}

// folder is one that everybody can reach; t.TempDir lies below one of our own.
func folder(tb testing.TB, owner int) string {
	tb.Helper()
	dir := must.Get(os.MkdirTemp("/tmp", "sandbox-test-"))(tb) //nolint:usetesting // see above
	tb.Cleanup(func() { _ = os.RemoveAll(dir) })
	must.Do(tb, os.Chmod(dir, 0o755))
	if os.Geteuid() == 0 {
		must.Do(tb, os.Chown(dir, owner, owner))
	}
	return dir
}

// as returns the command that has this test binary play a role outside, as a user.
func (u user) as(tb testing.TB, args ...string) process.Command {
	tb.Helper()
	args = append([]string{"/proc/self/exe", sandbox.Hidden}, args...)
	sys := &syscall.SysProcAttr{}
	apart := u.weaker == "closed" || u.weaker == "masked"
	if apart || u.alone && os.Geteuid() != 0 {
		sys.Cloneflags = unix.CLONE_NEWUSER | unix.CLONE_NEWNS
		sys.UidMappings = []syscall.SysProcIDMap{{ContainerID: u.outside, HostID: u.outside, Size: 1}}
		sys.GidMappings = sys.UidMappings
		sys.AmbientCaps = []uintptr{unix.CAP_SYS_RESOURCE, unix.CAP_NET_ADMIN, unix.CAP_SYS_ADMIN}
	}
	if u.alone {
		sys.Cloneflags |= unix.CLONE_NEWNET
		args = append([]string{args[0], args[1], "lonely"}, args[2:]...)
	}
	if u.outside != os.Geteuid() {
		sys.Credential = &syscall.Credential{Uid: uint32(u.outside), Gid: uint32(u.outside), NoSetGroups: apart}
	}
	if u.weaker != "" {
		args = append([]string{args[0], args[1], "weaker", u.weaker}, args[2:]...)
	}
	return process.Command{Argv: args, Sys: sys, Env: []string{"PATH=/usr/bin:/bin", "GORACE=atexit_sleep_ms=0"}}
}

// play has a role played outside and reads the JSON that it prints.
func (u user) play(tb testing.TB, into any, args ...string) {
	tb.Helper()
	var out, said bytes.Buffer
	c := u.as(tb, args...)
	c.Stdout, c.Stderr = &out, &said
	res, err := new(process.Runner).Run(tb.Context(), c)
	if err != nil || res.Exit != 0 {
		tb.Fatalf("%s as %s: exit %d, %v\n%s", args[0], u.name, res.Exit, err, said.String())
	}
	if err := json.Unmarshal(out.Bytes(), into); err != nil {
		tb.Fatalf("%s as %s: %v: %s", args[0], u.name, err, out.String())
	}
}

func asJSON(tb testing.TB, what any) string {
	tb.Helper()
	text := must.Get(json.Marshal(what))(tb)
	return string(text)
}

// inside runs a command in a sandbox and returns what it printed.
func inside(tb testing.TB, w sandbox.Config, c process.Command) (string, process.Result) {
	tb.Helper()
	var out bytes.Buffer
	c.Stdout, c.Stderr = &out, &out
	if c.Env == nil {
		c.Env = []string{"PATH=/usr/local/bin:/usr/bin:/bin", "HOME=" + w.Write[0], "TMPDIR=" + w.Write[0], "LANG=C.UTF-8"}
	}
	if c.Dir == "" {
		c.Dir = w.Write[0]
	}
	res, err := w.Run(new(process.Runner).Run)(tb.Context(), c)
	if err != nil {
		tb.Fatalf("Run %q: %v\n%s", c.Argv, err, out.String())
	}
	return out.String(), res
}

// playing returns a role inside a sandbox: this test binary goes in as a descriptor.
func playing(tb testing.TB, w *sandbox.Config, args ...string) process.Command {
	tb.Helper()
	self := must.Get(os.Open("/proc/self/exe"))(tb)
	tb.Cleanup(func() { _ = self.Close() })
	lent := "/proc/self/fd/3"
	if w.Level == sandbox.None {
		lent = "/proc/self/exe"
	}
	w.Read = append(w.Read, lent)
	return process.Command{Argv: append([]string{lent, sandbox.Hidden}, args...), Files: []*os.File{self}}
}

// badge returns an argument by which a program is known, regardless of its number.
func badge(tb testing.TB) string {
	tb.Helper()
	return "badge-" + filepath.Base(folder(tb, 0))
}

// living returns the programs with that argument.
func living(badge string) (pids []int) {
	list, _ := filepath.Glob("/proc/[0-9]*/cmdline") // of the dead it is empty
	for _, path := range list {
		if line, err := os.ReadFile(path); err == nil && strings.HasSuffix(string(line), "\x00stubborn\x00"+badge+"\x00") {
			pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(path)))
			pids = append(pids, pid)
		}
	}
	return pids
}

func alive(badge string) bool { return len(living(badge)) > 0 }
