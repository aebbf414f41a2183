package sandbox_test

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"

	"github.com/ralph-loop/ralph/internal/box/sandbox"
	"github.com/ralph-loop/ralph/internal/lib/process"
	"github.com/ralph-loop/ralph/internal/testsupport/must"
)

// sandboxes returns those that stand between us and a program, and none.
func sandboxes() []sandbox.Level { return append(confined(), sandbox.None) }

func confined() []sandbox.Level {
	return here(sandbox.Namespace, sandbox.Notify, sandbox.External)
}

// A caller need not know whether there is a sandbox.
func TestEndingsAreThoseOfTheProgram(t *testing.T) {
	for _, level := range sandboxes() {
		w := testConfig(t, level, users()[0])
		for _, tt := range []struct {
			argv []string
			want process.Result
		}{
			{[]string{"sh", "-c", "exit 7"}, process.Result{Exit: 7}},
			{[]string{"sh", "-c", "kill -9 $$"}, process.Result{Exit: 137, Signal: "SIGKILL"}},
			{[]string{"sh", "-c", "kill -15 $$"}, process.Result{Exit: 143, Signal: "SIGTERM"}},
			{[]string{"sh", "-c", "kill -6 $$"}, process.Result{Exit: 134, Signal: "SIGABRT"}},
			{[]string{"sh", "-c", "exit 143"}, process.Result{Exit: 143}},
		} {
			if _, got := inside(t, w, process.Command{Argv: tt.argv}); got != tt.want {
				t.Errorf("level %s, %q: %+v, want %+v", level, tt.argv, got, tt.want)
			}
		}
	}
}

func TestWhatCannotStartIsToldAsWithoutASandbox(t *testing.T) {
	for _, level := range sandboxes() {
		w := testConfig(t, level, users()[0])
		dir := w.Write[0]
		write(t, filepath.Join(dir, "plain"), "no program\n")
		write(t, filepath.Join(dir, "formless"), "no program\n")
		write(t, filepath.Join(dir, "orphaned"), "#!/nonexistent/interpreter\n")
		open(t, filepath.Join(dir, "formless"), filepath.Join(dir, "orphaned"))
		path := []string{"PATH=" + dir + ":/usr/bin:/bin"}
		for _, tt := range []struct {
			name string
			c    process.Command
			want error
			says string
		}{
			{"not on PATH", process.Command{Argv: []string{"nothing"}, Env: path, Dir: dir}, exec.ErrNotFound, `"nothing"`},
			{"no PATH", process.Command{Argv: []string{"sh"}, Dir: dir}, exec.ErrNotFound, `"sh"`},
			{"not executable", process.Command{Argv: []string{"./plain"}, Dir: dir}, fs.ErrPermission, "plain"},
			{"a folder", process.Command{Argv: []string{dir}, Dir: dir}, process.ErrFolder, "it is a folder"},
			{"no format", process.Command{Argv: []string{"./formless"}, Dir: dir}, syscall.ENOEXEC, "formless"},
			{"no interpreter", process.Command{Argv: []string{"./orphaned"}, Dir: dir}, process.ErrInterpreter, "interpreter"},
			{"no folder", process.Command{Argv: []string{"/bin/sh"}, Dir: dir + "/gone"}, fs.ErrNotExist, "working directory"},
		} {
			_, err := w.Run(new(process.Runner).Run)(t.Context(), tt.c)
			if err == nil || !strings.Contains(err.Error(), tt.says) {
				t.Errorf("level %s, %s: %v, want an error that says %q", level, tt.name, err, tt.says)
			}
			if tt.want != fs.ErrNotExist && (!errors.Is(err, tt.want) || !process.CannotStart(err)) { //nolint:errorlint // which row
				t.Errorf("level %s, %s: %v, want one that is %v", level, tt.name, err, tt.want)
			}
		}
	}
}

// What is not there to be confined is said before anything runs.
func TestSandboxesThatCannotStart(t *testing.T) {
	good := testConfig(t, connected()[0], users()[0])
	for _, tt := range []struct {
		name string
		mend func(*sandbox.Config)
		says string
	}{
		{"no level", func(w *sandbox.Config) { w.Level = "" }, "no sandbox level"},
		{"a level to be chosen", func(w *sandbox.Config) { w.Level = sandbox.Auto }, "no sandbox level"},
		{"a folder that is gone", func(w *sandbox.Config) { w.Write = []string{"/nonexistent/folder"} }, "/nonexistent/folder"},
		{"a relative folder", func(w *sandbox.Config) { w.Write = []string{"relative"} }, "not absolute"},
	} {
		w := good
		tt.mend(&w)
		_, err := w.Run(new(process.Runner).Run)(t.Context(), process.Command{Argv: []string{"/bin/true"}})
		if err == nil || !strings.Contains(err.Error(), tt.says) {
			t.Errorf("%s: %v, want an error that says %q", tt.name, err, tt.says)
		}
	}
}

func TestStreamsAndEnvironmentGoThrough(t *testing.T) {
	leaked := must.Get(unix.Dup(1))(t) // as from a shell that left it open: exec does not close it
	defer func() { _ = unix.Close(leaked) }()
	const odd = "a\xff\xfe\n\"b\\" // names of files are bytes; not all are UTF-8
	for _, level := range confined() {
		w := testConfig(t, level, users()[0])
		f := must.Get(os.Create(filepath.Join(t.TempDir(), "third")))(t)
		var out, said bytes.Buffer
		res, err := w.Run(new(process.Runner).Run)(t.Context(), process.Command{
			Argv: []string{"/bin/sh", "-c", `cat; printf %s "$1" >&2; echo "$A" >&2; echo three >&3; env | sort; ls /proc/self/fd`, "sh", odd},
			Env:  []string{"PATH=/usr/bin:/bin", "A=1", "A=2"}, Dir: w.Write[0],
			Stdin: strings.NewReader("text\n"), Stdout: &out, Stderr: &said, Files: []*os.File{f},
		})
		_ = f.Close()
		want := "text\nA=2\nPATH=/usr/bin:/bin\nPWD=" + w.Write[0] + "\n0\n1\n2\n3\n4\n" // 4 is the folder that ls reads
		if diff := cmp.Diff(want, out.String()); diff != "" || said.String() != odd+"2\n" || read(t, f.Name()) != "three\n" || err != nil {
			t.Errorf("level %s: %v, %+v, %q, file %q (-want +got):\n%s", level, err, res, said.String(), read(t, f.Name()), diff)
		}
	}
}

// The end of the context ends those inside politely first, the supervisor last.
func TestThePoliteSignalReachesTheProgram(t *testing.T) {
	for _, level := range sandboxes() {
		w := testConfig(t, level, users()[0])
		ctx, cancel := context.WithCancel(t.Context())
		var out bytes.Buffer
		c := process.Command{
			Argv: []string{"/bin/sh", "-c", `trap 'echo asked; exit 3' TERM; echo ready > up; while :; do sleep 0.01; done`},
			Env:  []string{"PATH=/usr/bin:/bin"}, Dir: w.Write[0], Stdout: &out, Grace: time.Minute,
		}
		done := make(chan process.Result)
		go func() {
			res, _ := w.Run(new(process.Runner).Run)(ctx, c)
			done <- res
		}()
		eventually(t, func() bool { _, err := os.Stat(filepath.Join(w.Write[0], "up")); return err == nil })
		cancel()
		if res := <-done; res.Exit != 3 || out.String() != "asked\n" {
			t.Errorf("level %s: %+v, %q; want exit 3, asked", level, res, out.String())
		}
	}
}

// Who may linger keeps the network for as long, and is counted as without a sandbox.
func TestLingeringProcessesKeepTheNetwork(t *testing.T) {
	proxy := answering(t, "tcp4", "127.0.0.1:0", "proxy")
	for _, level := range connected() {
		w := testConfig(t, level, users()[0])
		w.Ports = portsOf(proxy)
		c := playing(t, &w, "talk")
		script := `import socket, os, sys, time
if os.fork():
    sys.exit(5)
os.setsid()
while os.path.exists("wait"):
    time.sleep(0.01)
s = socket.create_connection(("127.0.0.1", int(sys.argv[1])))
s.shutdown(socket.SHUT_WR)
open("heard", "w").write(s.recv(100).decode())`
		write(t, filepath.Join(w.Write[0], "wait"), "")
		asked := make(chan struct{})
		c.Argv = []string{"/usr/bin/python3", "-c", script, portOf(proxy)}
		c.Linger = func() (time.Duration, time.Duration) {
			close(asked)
			_ = os.Remove(filepath.Join(w.Write[0], "wait"))
			return time.Hour, time.Millisecond
		}
		_, res := inside(t, w, c)
		<-asked
		if got := read(t, filepath.Join(w.Write[0], "heard")); got != "proxy\n" || res.Exit != 5 || res.Swept != 0 {
			t.Errorf("level %s: heard %q, %+v", level, got, res)
		}
	}
}

func TestLingeringTooLongIsEnded(t *testing.T) {
	for _, level := range sandboxes() {
		w, left := testConfig(t, level, users()[0]), badge(t)
		c := playing(t, &w, "leave", "outer", left)
		c.Grace = time.Millisecond
		c.Linger = func() (time.Duration, time.Duration) { return 0, time.Millisecond }
		if _, res := inside(t, w, c); alive(left) || res.Swept != 1 || res.Exit != 0 {
			t.Errorf("level %s: alive %t, %+v", level, alive(left), res)
		}
	}
}

// What we are told to keep is not in anybody's argv or environment.
func TestOrdersAreNotReadFromOutside(t *testing.T) {
	for _, level := range connected() {
		w := testConfig(t, level, users()[0])
		c := process.Command{
			Argv: []string{"/bin/sh", "-c", `for p in $PPID $$; do tr '\0' '\n' < /proc/$p/cmdline; done`},
			Env:  []string{"PATH=/usr/bin:/bin", "TOKEN=dummy-key"},
		}
		out, _ := inside(t, w, c)
		if strings.Contains(out, "dummy-key") || strings.Contains(out, w.Write[0]) {
			t.Errorf("level %s: the command lines say %q", level, out)
		}
	}
}

func TestTheMachinesTempIsNotTheirs(t *testing.T) {
	for _, level := range here(sandbox.Namespace, sandbox.Namespace) { // twice: nothing is left for the next
		w := testConfig(t, level, users()[0])
		want := filepath.Base(w.Write[0]) + "\nx\n"
		if out, _ := inside(t, w, process.Command{Argv: []string{"sh", "-c", "ls /tmp; echo x > /tmp/left && cat /tmp/left"}}); out != want {
			t.Errorf("%q, want %q", out, want)
		}
	}
}

func TestWhatTheMachineHasIsNotChanged(t *testing.T) {
	before := mountsOf(t)
	inside(t, testConfig(t, connected()[0], users()[0]), process.Command{Argv: []string{"true"}})
	if diff := cmp.Diff(before, mountsOf(t)); diff != "" {
		t.Errorf("our mounts changed (-before +after):\n%s", diff)
	}
}

func mountsOf(t *testing.T) []string {
	t.Helper()
	lines := strings.Split(read(t, "/proc/self/mountinfo"), "\n")
	slices.Sort(lines)
	return lines
}
