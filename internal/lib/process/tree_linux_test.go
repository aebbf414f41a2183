package process_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"

	"github.com/ralph-loop/ralph/internal/lib/process"
)

func TestWhatAProgramLeavesIsEnded(t *testing.T) {
	for _, how := range []string{"plain", "setsid", "daemon", "hold"} {
		for _, kind := range []string{"easy", "stubborn"} {
			t.Run(how+" "+kind, func(t *testing.T) {
				g := run(t.Context(), new(process.Runner), playing("leave", how, "end", kind))
				s := g.left(t)
				got, err := g.wait()
				want := process.Result{Swept: 1}
				if diff := cmp.Diff(want, got); diff != "" || err != nil {
					t.Errorf("Run: %v, result (-want +got):\n%s", err, diff)
				}
				s.wantGone(t)
			})
		}
	}
}

func TestEndingAProgram(t *testing.T) {
	tests := []struct {
		name, how, kind string
		want            process.Result
	}{
		{"by asking", "plain", "easy", process.Result{Exit: 143, Signal: "SIGTERM"}},
		{"by asking one that left", "daemon", "easy", process.Result{Exit: 143, Signal: "SIGTERM"}},
		{"by force", "plain", "stubborn", process.Result{Exit: 137, Signal: "SIGKILL", Swept: 1}},
		{"by force when it left", "daemon", "stubborn", process.Result{Exit: 137, Signal: "SIGKILL", Swept: 1}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			why := errors.New("enough")
			ctx, cancel := context.WithCancelCause(t.Context())
			c := playing("leave", tt.how, "stay", tt.kind)
			c.Grace = 30 * time.Second
			if tt.kind == "stubborn" {
				c.Grace = 50 * time.Millisecond
			}
			g := run(ctx, new(process.Runner), c)
			s := g.left(t)
			s.wantAlive(t)
			cancel(why)
			got, err := g.wait()
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("result (-want +got):\n%s", diff)
			}
			if !errors.Is(err, context.Canceled) || !errors.Is(err, why) {
				t.Errorf("Run = %v, want canceled and its cause", err)
			}
			s.wantGone(t)
		})
	}
}

// It may come at any moment: a program that starts another would fail by the
// other's end.
func TestTimeout(t *testing.T) {
	c := playing("stay")
	c.Timeout = 50 * time.Millisecond
	got, err := new(process.Runner).Run(t.Context(), c)
	if !got.TimedOut || got.Signal != "SIGTERM" || err != nil {
		t.Errorf("Run = %+v, %v, want timed out and terminated", got, err)
	}
}

// A stop at once cuts the grace, and is told as that where nothing else ended the program.
func TestHardStop(t *testing.T) {
	for name, cancelled := range map[string]bool{"alone": false, "within the grace": true} {
		t.Run(name, func(t *testing.T) {
			hard := make(chan struct{})
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			c := playing("leave", "daemon", "stay", "stubborn")
			c.Grace = time.Hour
			g := run(ctx, &process.Runner{Hard: hard}, c)
			s := g.left(t)
			if cancelled {
				cancel()
			}
			close(hard)
			got, err := g.wait()
			isTold := errors.Is(err, process.ErrStopped) || (cancelled && errors.Is(err, context.Canceled))
			if got.Signal != "SIGKILL" || !isTold {
				t.Errorf("Run = %+v, %v, want killed", got, err)
			}
			s.wantGone(t)
		})
	}
}

// Where nothing tells whose a process is, it goes with the last.
func TestTwoAtOnceKeepToTheirOwn(t *testing.T) {
	for how, isKnown := range map[string]bool{"plain": true, "setsid": false, "daemon": false} {
		t.Run(how, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			long := run(ctx, new(process.Runner), playing("leave", how, "stay"))
			theirs := long.left(t)
			short := run(t.Context(), new(process.Runner), playing("leave", how, "end"))
			own := short.left(t)
			if got, err := short.wait(); (got.Swept == 1) != isKnown || err != nil {
				t.Errorf("Run = %+v, %v, want it swept: %t", got, err, isKnown)
			}
			theirs.wantAlive(t)
			cancel()
			_, _ = long.wait()
			own.wantGone(t)
			theirs.wantGone(t)
		})
	}
}

// beside starts a program in our own session, without a Run, that leaves a sleeper.
func beside(t *testing.T, role string, args ...string) (*exec.Cmd, sleeper) {
	t.Helper()
	c := exec.CommandContext(t.Context(), os.Args[0], args...)
	c.Env = []string{roleKey + "=" + role, quickExit}
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	line := make([]byte, 64)
	n, err := out.Read(line)
	if err != nil {
		t.Fatal(err)
	}
	return c, sleeperOf(t, "left "+strings.TrimPrefix(string(line[:n]), "left "))
}

// net/http/cgi starts programs beside us, in our own session.
func TestChildrenOfOthersAreNotTouched(t *testing.T) {
	c, s := beside(t, "leave", "setsid", "stay")
	if got, err := new(process.Runner).Run(t.Context(), playing("leave", "daemon", "end")); got.Swept != 1 || err != nil {
		t.Errorf("Run = %+v, %v, want one swept", got, err)
	}
	s.wantAlive(t)
	if err := c.Process.Kill(); err != nil {
		t.Errorf("the other's child is gone: %v", err)
	}
	if err := c.Wait(); err == nil || c.ProcessState.Sys().(syscall.WaitStatus).Signal() != syscall.SIGKILL {
		t.Errorf("its status was taken: %v", err)
	}
	// Now that sleeper is an orphan in a session of its own.
	if got, err := new(process.Runner).Run(t.Context(), playing("exit", "0")); got.Swept != 1 || err != nil {
		t.Errorf("Run = %+v, %v, want the orphan swept", got, err)
	}
	s.wantGone(t)
}

// A process that does not descend from us is never ended.
func TestStrangersAreNotTouched(t *testing.T) {
	var out bytes.Buffer
	c := playing("neighbour")
	c.Stdout, c.Stderr = &out, &out
	if _, err := new(process.Runner).Run(t.Context(), c); err != nil {
		t.Error(err)
	}
	if got, want := out.String(), "swept 1 <nil>\nthe sleeper is there: true\n"; got != want {
		t.Errorf("it says %q, want %q", got, want)
	}
}

// The kernel ends a program when we are killed.
func TestKillOfUsEndsTheProgram(t *testing.T) {
	c, s := beside(t, "holder")
	defer s.wantGone(t)
	s.wantAlive(t)
	if err := c.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = c.Wait()
	eventually(t, "the program ends", func() bool { return !s.alive() })
}

// Processes that fork and end faster than the process table is read are gone, too,
// when Run returns.
func TestWhatForksAndEndsIsEnded(t *testing.T) {
	for range 3 {
		alive, c := relaying(t, 20)
		res, err := new(process.Runner).Run(t.Context(), c)
		if err != nil || res.Exit != 0 || alive(0) {
			t.Errorf("Run = %+v, %v; alive: %t", res, err, alive(0))
		}
	}
}

// Where they run as a user of their own, one call ends them all.
func TestKillUser(t *testing.T) {
	if os.Geteuid() != 0 {
		process.KillUser(61_528) // changes nothing: we cannot become that user
		return
	}
	alive, c := relaying(t, 20)
	c.Sys = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 61_528, Gid: 61_528}}
	cmd := exec.CommandContext(t.Context(), c.Argv[0], c.Argv[1:]...)
	cmd.Env, cmd.ExtraFiles, cmd.SysProcAttr = c.Env, c.Files, c.Sys
	if err := cmd.Run(); err != nil || !alive(0) {
		t.Fatalf("%v; alive: %t", err, alive(0))
	}
	process.KillUser(61_528)
	if alive(5000) {
		t.Error("they are alive")
	}
}

// relaying returns a Command that leaves n of them. They are alive as long as one of them
// holds a pipe open; alive waits so many milliseconds for their end.
func relaying(t *testing.T, n int) (alive func(ms int) bool, c process.Command) {
	t.Helper()
	var ends [2]int
	if err := unix.Pipe2(ends[:], unix.O_CLOEXEC); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = unix.Close(ends[0]) })                                        // who is left ends of it
	if _, err := unix.FcntlInt(uintptr(ends[1]), unix.F_SETPIPE_SZ, 1<<12); err != nil { // they fork so often
		t.Fatal(err)
	}
	w := os.NewFile(uintptr(ends[1]), "baton")
	c = playing("relay", strconv.Itoa(n))
	c.Argv[0] = "/proc/self/exe" // another user may not get to its path
	c.Files = []*os.File{w}
	return func(ms int) bool {
		_ = w.Close()
		at := []unix.PollFd{{Fd: int32(ends[0])}}
		for {
			if _, err := unix.Poll(at, ms); !errors.Is(err, unix.EINTR) {
				return at[0].Revents&unix.POLLHUP == 0
			}
		}
	}, c
}

// A program that could not be ended is ended with the next.
func TestWhatIsLeftEndsWithTheNextRun(t *testing.T) {
	g := run(t.Context(), new(process.Runner), playing("leave", "plain", "stay", "stubborn"))
	s := g.left(t)
	parent, _ := statOf(s.pid)
	process.GiveUp(parent.Parent)
	if res, err := new(process.Runner).Run(t.Context(), playing("exit", "0")); err != nil {
		t.Errorf("Run = %+v, %v", res, err)
	}
	_, _ = g.wait()
	s.wantGone(t)
}
