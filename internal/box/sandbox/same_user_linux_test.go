package sandbox_test

import (
	"encoding/binary"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/ralph-loop/ralph/internal/box/sandbox"
	"github.com/ralph-loop/ralph/internal/lib/process"
	"github.com/ralph-loop/ralph/internal/testsupport/must"
)

// Before Linux 6.12, Landlock lets signals reach the user's other programs. The supervisor does not.
func TestOthersGetNoSignals(t *testing.T) {
	program := exec.CommandContext(t.Context(), "sleep", "600")
	must.Do(t, program.Start())
	w := sandbox.Pretend(testConfig(t, sandbox.Notify, asRoot), 5)
	const signals = "1 2 9 10 15 19 3 4 5 6 7 8 11 24 25 31"
	out, _ := inside(t, w, playing(t, &w, "strike", strconv.Itoa(program.Process.Pid), signals))
	_, _ = program.Process.Signal(unix.SIGTERM), program.Wait()
	if how := program.ProcessState.String(); how != "signal: terminated" || out != "tried\n" {
		t.Errorf("%s; %q", how, out)
	}
}

// Nor does the supervisor, the parent of the program: stopped, it could not end those inside once ralph is dead.
func TestTheSupervisorGetsNoSignals(t *testing.T) {
	const script = `exec 2>&-; ! kill -STOP $PPID && ! kill -STOP -$PPID &&
		cut -d " " -f 6 /proc/$$/stat | grep -qx $$ && echo out of reach`
	for _, who := range []user{asOther, asRoot} {
		for _, abi := range []int{0, 5} {
			w := sandbox.Pretend(testConfig(t, sandbox.Notify, who), abi)
			c := process.Command{Argv: []string{"sh", "-c", script}, Timeout: time.Minute}
			if out, _ := inside(t, w, c); out != "out of reach\n" {
				t.Errorf("%s, %d: %q", who.name, abi, out)
			}
		}
	}
}

// playStrike sends another program signals, in all ways that it can.
func playStrike(args []string) {
	pid := number(args[0])
	handle, _ := unix.PidfdOpen(pid, 0)
	ends, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM, 0)
	try(err)
	if _, err := unix.FcntlInt(uintptr(ends[0]), unix.F_SETOWN, pid); err != nil {
		owner := [2]int32{1, int32(pid)} // F_OWNER_PID
		_, _, _ = unix.Syscall(unix.SYS_FCNTL, uintptr(ends[0]), unix.F_SETOWN_EX, uintptr(unsafe.Pointer(&owner)))
		for _, request := range []uint{0x8901, 0x8902} { // FIOSETOWN, SIOCSPGRP
			_ = unix.IoctlSetPointerInt(ends[0], request, pid)
		}
	}
	for word := range strings.FieldsSeq(args[1]) {
		signal := unix.Signal(number(word))
		info := make([]byte, 128) // of SI_QUEUE
		binary.NativeEndian.PutUint32(info[8:], 0xffffffff)
		at, number := uintptr(unsafe.Pointer(&info[0])), uintptr(signal)
		_ = unix.Kill(pid, signal)
		_ = unix.Tgkill(pid, pid, signal)
		_, _, _ = unix.Syscall(unix.SYS_TKILL, uintptr(pid), number, 0)
		_, _, _ = unix.Syscall(unix.SYS_RT_SIGQUEUEINFO, uintptr(pid), number, at)
		_, _, _ = unix.Syscall6(unix.SYS_RT_TGSIGQUEUEINFO, uintptr(pid), uintptr(pid), number, at, 0, 0)
		_ = unix.PidfdSendSignal(handle, signal, nil, 0)
		if _, err := unix.FcntlInt(uintptr(ends[0]), unix.F_SETSIG, int(signal)); err == nil {
			_, _ = unix.FcntlInt(uintptr(ends[0]), unix.F_SETFL, unix.O_ASYNC)
			_, _ = unix.Write(ends[1], []byte("x"))
		}
	}
	_, _ = os.Stdout.WriteString("tried\n")
}

// Those inside send each other signals as anywhere.
func TestSignalsInside(t *testing.T) {
	const script = `exec 2>/dev/null; sh -c 'kill -ABRT $$'; echo $?
setsid sh -c 'sleep 600 & echo $$; wait' | { read led; kill -TERM -$led; echo $?; }
led=$(setsid sh -c 'sleep 60 >/dev/null 2>&1 & echo $$'); kill -KILL -$led; echo $?
trap 'echo got it' USR1; kill -USR1 0
`
	w := sandbox.Pretend(testConfig(t, sandbox.Notify, asRoot), 5)
	out, _ := inside(t, w, process.Command{Argv: []string{"sh", "-c", script}})
	if want := "134\n0\n0\ngot it\n"; out != want {
		t.Errorf("they say %q, want %q", out, want)
	}
}

// With mounts and memory of its own nothing of the user's can be named that is
// not there: modes of files, shared memory, what is typed elsewhere.
func TestWhatCannotBeNamedStaysAsItIs(t *testing.T) {
	for _, level := range here(sandbox.Namespace) {
		file := filepath.Join(t.TempDir(), "key")
		must.Do(t, os.WriteFile(file, []byte("x"), 0o600))
		segment := must.Get(unix.SysvShmGet(unix.IPC_PRIVATE, 4096, unix.IPC_CREAT|0o600))(t)
		out, _ := inside(t, testConfig(t, level, asRoot), process.Command{Argv: []string{
			"sh", "-c",
			"chmod 666 " + file + "; cat /proc/sysvipc/shm; timeout 5 head -n1 <" + typed(t) + "; true",
		}})
		if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("a file that is not named: %v, %v", info, err)
		}
		if strings.Contains(out, strconv.Itoa(segment)+" ") {
			t.Errorf("memory of others is seen: %s", out)
		}
		if _, err := unix.SysvShmCtl(segment, unix.IPC_RMID, nil); err != nil {
			t.Errorf("memory of others is gone: %v", err)
		}
		if strings.Contains(out, "a password") {
			t.Errorf("what was typed beside it was read inside: %s", out)
		}
	}
}

// typed returns a terminal of ours where something was typed.
func typed(t *testing.T) string {
	t.Helper()
	ours := must.Get(os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0))(t)
	t.Cleanup(func() { _ = ours.Close() })
	must.Do(t, unix.IoctlSetPointerInt(int(ours.Fd()), unix.TIOCSPTLCK, 0))
	n := must.Get(unix.IoctlGetInt(int(ours.Fd()), unix.TIOCGPTN))(t)
	must.Get(ours.WriteString("a password\n"))(t)
	return "/dev/pts/" + strconv.Itoa(n)
}
