package sandbox_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"

	"github.com/ralph-loop/ralph/internal/box/sandbox"
	"github.com/ralph-loop/ralph/internal/lib/process"
	"github.com/ralph-loop/ralph/internal/testsupport/must"
)

// playLitter leaves something of each kind in memory that outlives a program.
func playLitter(args []string) {
	try(os.WriteFile("/dev/shm/"+args[0], []byte("left"), 0o666))
	try(os.Mkdir("/dev/shm/"+args[0]+"-folder", 0o700))
	try(os.WriteFile("/dev/shm/"+args[0]+"-folder/file", []byte("left"), 0o600))
	for _, call := range [][4]uintptr{
		{unix.SYS_SHMGET, unix.IPC_PRIVATE, 4096, 0o600}, {unix.SYS_SEMGET, unix.IPC_PRIVATE, 1, 0o600}, {unix.SYS_MSGGET, unix.IPC_PRIVATE, 0o600, 0},
	} {
		if _, _, errno := unix.Syscall(call[0], call[1], call[2], call[3]); errno != 0 {
			panic(errno)
		}
	}
	fmt.Println("left")
}

// A user and a name of this run alone: the memory is the machine's, where these
// tests may run twice at once.
var (
	stranger = 61000 + os.Getpid()%1000
	mark     = fmt.Sprintf("ralph-%d-left-by-a-test", os.Getpid())
)

// litter returns what somebody has in the memory that is shared, by its kinds.
func litter(t *testing.T, uid int) (kinds []string) {
	t.Helper()
	for _, k := range [][2]string{{"shm", "shmid"}, {"sem", "semid"}, {"msg", "msqid"}} {
		if len(sandbox.Left(read(t, "/proc/sysvipc/"+k[0]), k[1], strconv.Itoa(uid))) > 0 {
			kinds = append(kinds, k[0])
		}
	}
	files := must.Get(filepath.Glob("/dev/shm/" + mark + "*"))(t)
	return append(kinds, files...)
}

// With a namespace of its own nothing is left. Without one it is swept where
// another user was inside, and nothing of anybody else's with it.
func TestNothingIsLeftInMemory(t *testing.T) {
	levels, uid := confined(), stranger
	if os.Geteuid() != 0 { // no other user can be inside
		levels, uid = here(sandbox.Namespace), os.Geteuid()
	}
	for _, level := range levels {
		w := testConfig(t, level, user{uid: uid})
		out, _ := inside(t, w, playing(t, &w, "litter", mark))
		if out != "left\n" {
			t.Fatalf("level %s: %s", level, out)
		}
		if found := litter(t, uid); (level == sandbox.Namespace) != (found == nil) {
			t.Errorf("level %s: what is left: %q", level, found)
		}
		if err := w.Sweep(); err != nil {
			t.Errorf("level %s: %v", level, err)
		}
		if found := litter(t, uid); found != nil {
			t.Errorf("level %s: what is left after it was swept: %q", level, found)
		}
	}
}

// Root in a stock container may not remove what is another user's.
func TestNothingIsLeftInMemoryOfAContainer(t *testing.T) {
	if os.Geteuid() != 0 {
		return
	}
	w := testConfig(t, sandbox.Notify, user{uid: stranger})
	if out, _ := inside(t, w, playing(t, &w, "litter", mark)); out != "left\n" {
		t.Fatal(out)
	}
	var said string
	user{name: "root in a container", weaker: "docker"}.play(t, &said, "sweep", asJSON(t, w))
	if found := litter(t, stranger); said != "" || found != nil {
		t.Errorf("what is left after it was swept: %q; %s", found, said)
	}
}

// playSweep sweeps and says what was in the way.
func playSweep(args []string) {
	var w sandbox.Config
	try(json.Unmarshal([]byte(args[0]), &w))
	said := ""
	if err := w.Sweep(); err != nil {
		said = err.Error()
	}
	try(json.NewEncoder(os.Stdout).Encode(said))
}

// A folder of theirs may lie in shared memory, which is otherwise new to them.
func TestAFolderInSharedMemoryIsThere(t *testing.T) {
	dir := must.Get(os.MkdirTemp("/dev/shm", mark+"-folder-"))(t) //nolint:usetesting // it is about that place
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	open(t, dir)
	write(t, filepath.Join(dir, "work"), "work\n")
	for _, level := range confined() {
		w := testConfig(t, level, users()[0])
		w.Write = append(w.Write, dir)
		shell := process.Command{Argv: []string{"sh", "-c", "cat work; echo more >" + string(level) + "; echo x >/dev/shm/" + mark + "-x && echo shared"}, Dir: dir}
		if out, _ := inside(t, w, shell); out != "work\nshared\n" || read(t, filepath.Join(dir, string(level))) != "more\n" {
			t.Errorf("level %s: %s", level, out)
		}
		_ = os.Remove("/dev/shm/" + mark + "-x")
	}
}

func TestWhatIsOfOthersIsNotSwept(t *testing.T) {
	if os.Geteuid() != 0 {
		return // only root sweeps what another user left
	}
	ours := must.Get(os.MkdirTemp("/dev/shm", mark+"-of-others-"))(t) //nolint:usetesting // it is what is swept
	t.Cleanup(func() { _ = os.RemoveAll(ours) })
	open(t, ours)
	write(t, filepath.Join(ours, "kept"), "kept")
	id := must.Get(unix.SysvShmGet(unix.IPC_PRIVATE, 4096, unix.IPC_CREAT|0o600))(t)
	t.Cleanup(func() { _, _ = unix.SysvShmCtl(id, unix.IPC_RMID, nil) })
	theirs := filepath.Join(ours, "theirs")
	write(t, theirs, "gone")
	must.Do(t, os.Chown(theirs, stranger, stranger))
	must.Do(t, (sandbox.Config{Level: sandbox.Notify, UID: stranger}).Sweep())
	read(t, filepath.Join(ours, "kept"))
	if _, err := unix.SysvShmCtl(id, unix.IPC_RMID, nil); err != nil {
		t.Errorf("memory of another is gone: %v", err)
	}
	if _, err := os.Stat(theirs); err == nil {
		t.Error("what they put into a folder of another's is still there")
	}
}

// The kernel's tables are read by their titles; who made a thing may have given
// it away.
func TestLeft(t *testing.T) {
	const table = "key semid perms nsems uid gid cuid cgid otime ctime\n" +
		"0 7 600 1 1500 1500 1500 1500 0 0\n 0 8 600 1 0 0 1500 1500 0 0\n0 9 600 1 1500 0 0 0 0 0\n0 10 600 1 0 1500 15000 1500 0 0\n0 11\n"
	if diff := cmp.Diff([]int{7, 8, 9}, sandbox.Left(table, "semid", "1500")); diff != "" {
		t.Error(diff)
	}
	if found := sandbox.Left("", "semid", "1500"); found != nil {
		t.Errorf("nothing holds %d", found)
	}
}
