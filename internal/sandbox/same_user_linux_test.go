package sandbox_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/ralph-loop/ralph/internal/process"
	"github.com/ralph-loop/ralph/internal/sandbox"
)

// Where those inside are the same user, as on a laptop, how the user's other
// programs run is still none of theirs.
func TestHowOthersRunIsNotTheirs(t *testing.T) {
	program := exec.CommandContext(t.Context(), "sleep", "600")
	if err := program.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _, _ = program.Process.Kill(), program.Wait() })
	pid := program.Process.Pid
	how := func() string {
		var cpus unix.CPUSet
		nice, err := unix.Getpriority(unix.PRIO_PROCESS, pid)
		if err != nil {
			t.Fatal(err)
		}
		if err := unix.SchedGetaffinity(pid, &cpus); err != nil {
			t.Fatal(err)
		}
		return read(t, "/proc/"+strconv.Itoa(pid)+"/limits") + strconv.Itoa(nice) + " " + strconv.Itoa(cpus.Count())
	}
	before := how()
	for _, level := range confined() {
		w := testConfig(t, level, asRoot)
		out, _ := inside(t, w, playing(t, &w, "meddle", strconv.Itoa(pid)))
		if now := how(); now != before || out != "tried\n" {
			t.Errorf("level %s: %s\nbefore %s\nnow %s", level, out, before, now)
		}
	}
}

// playMeddle changes how another program runs, in all ways that it can.
func playMeddle(args []string) {
	pid := number(args[0])
	none := unix.Rlimit{}
	_ = unix.Prlimit(pid, unix.RLIMIT_NOFILE, &none, nil)
	_ = unix.Setpriority(unix.PRIO_PROCESS, pid, 19)
	_ = unix.Setpriority(unix.PRIO_USER, 0, 19)
	var first unix.CPUSet
	first.Set(0)
	_ = unix.SchedSetaffinity(pid, &first)
	_, _ = os.Stdout.WriteString("tried\n")
}

// With mounts and memory of its own nothing of the user's can be named that is
// not there: modes of files, shared memory, what is typed elsewhere.
func TestWhatCannotBeNamedStaysAsItIs(t *testing.T) {
	for _, level := range here(sandbox.Namespace) {
		file := filepath.Join(t.TempDir(), "key")
		if err := os.WriteFile(file, []byte("x"), 0o600); err != nil {
			t.Fatal(err)
		}
		segment, err := unix.SysvShmGet(unix.IPC_PRIVATE, 4096, unix.IPC_CREAT|0o600)
		if err != nil {
			t.Fatal(err)
		}
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
	ours, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = ours.Close() })
	if err := unix.IoctlSetPointerInt(int(ours.Fd()), unix.TIOCSPTLCK, 0); err != nil {
		t.Fatal(err)
	}
	n, err := unix.IoctlGetInt(int(ours.Fd()), unix.TIOCGPTN)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := ours.WriteString("a password\n"); err != nil {
		t.Fatal(err)
	}
	return "/dev/pts/" + strconv.Itoa(n)
}
