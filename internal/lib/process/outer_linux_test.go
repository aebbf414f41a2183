package process_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"
)

// outside is an outer that a test started, in a group of its own so that a
// signal to the group is what Ctrl-C is.
type outside struct {
	cmd   *exec.Cmd
	lines *bufio.Scanner
	inner int
	agent sleeper
}

func startOuter(t *testing.T) *outside {
	t.Helper()
	o := &outside{cmd: outerCommand(t, "agent")}
	out, err := o.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := o.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	o.lines = bufio.NewScanner(out)
	if _, err := fmt.Sscanf(o.next(), "inner %d", &o.inner); err != nil {
		t.Fatal(err)
	}
	o.agent = sleeperOf(t, o.next())
	o.agent.wantAlive(t)
	return o
}

// A signal that comes while the inner is not up yet waits until it is.
func TestOuterKeepsAnEarlySignal(t *testing.T) {
	o := &outside{cmd: outerCommand(t, "late")}
	in, err := o.cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := o.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	o.cmd.Stderr = o.cmd.Stdout
	if err := o.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	o.lines = bufio.NewScanner(out)
	if got := o.next(); got != "coming up" {
		t.Fatalf("the inner says %q", got)
	}
	if err := o.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if got := o.next(); got != "taken" {
		t.Fatalf("the outer says %q", got)
	}
	if _, err := io.WriteString(in, "up\n"); err != nil {
		t.Fatal(err)
	}
	if got, want := o.next(), "heard user defined signal 1"; got != want {
		t.Errorf("the inner says %q, want %q", got, want)
	}
	if code, _ := o.wait(t); code != 0 {
		t.Errorf("exit code %d, want 0", code)
	}
}

func outerCommand(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	c := exec.CommandContext(t.Context(), os.Args[0], args...)
	c.Env = []string{roleKey + "=outer", quickExit}
	c.Stderr = os.Stderr
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	return c
}

func (o *outside) next() string {
	o.lines.Scan()
	return o.lines.Text()
}

// wait waits for the outer and returns its exit code and last words.
func (o *outside) wait(t *testing.T) (code int, rest []string) {
	t.Helper()
	for o.lines.Scan() {
		rest = append(rest, o.lines.Text())
	}
	_ = o.cmd.Wait()
	return o.cmd.ProcessState.ExitCode(), rest
}

func TestOuterPassesTheExitCodeOn(t *testing.T) {
	tests := []struct {
		args []string
		want int
	}{
		{[]string{"exit", "0"}, 0},
		{[]string{"exit", "2"}, 2},
		{[]string{"kill", "9"}, 137},
		{[]string{"kill", "15"}, 143}, // and not 1, which nohup makes us ignore
	}
	for _, tt := range tests {
		c := outerCommand(t, tt.args...)
		_ = c.Run()
		if got := c.ProcessState.ExitCode(); got != tt.want {
			t.Errorf("%v: exit %d, want %d", tt.args, got, tt.want)
		}
	}
}

func TestKillOfTheInnerLeavesNothing(t *testing.T) {
	o := startOuter(t)
	if err := syscall.Kill(o.inner, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	if code, _ := o.wait(t); code != 137 {
		t.Errorf("exit %d, want 137", code)
	}
	o.agent.wantGone(t)
}

func TestKillOfTheOuterLeavesNothing(t *testing.T) {
	o := startOuter(t)
	inner := sleeper{pid: o.inner}
	if st, ok := statOf(o.inner); ok {
		inner.born = st.Born
	}
	if err := o.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_, rest := o.wait(t)
	if !strings.Contains(strings.Join(rest, "\n"), "hard=true") {
		t.Errorf("the inner said %q, want a hard stop", rest)
	}
	o.agent.wantGone(t)
	eventually(t, "the inner ends", func() bool { return !inner.alive() })
}

// A shell that kills a job kills its whole group.
func TestKillOfTheOuterAndItsGroupLeavesNothing(t *testing.T) {
	o := startOuter(t)
	inner := sleeper{pid: o.inner}
	if st, ok := statOf(o.inner); ok {
		inner.born = st.Born
	}
	if err := syscall.Kill(-o.cmd.Process.Pid, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	_, rest := o.wait(t)
	if !strings.Contains(strings.Join(rest, "\n"), "hard=true") {
		t.Errorf("the inner said %q, want a hard stop", rest)
	}
	o.agent.wantGone(t)
	eventually(t, "the inner ends", func() bool { return !inner.alive() })
}

func TestCtrlCCountsOnce(t *testing.T) {
	o := startOuter(t)
	if err := syscall.Kill(-o.cmd.Process.Pid, syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	if got := o.next(); got != "seen first=true hard=false" {
		t.Errorf("the inner said %q, want one request", got)
	}
	if err := o.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if got := o.next(); got != "seen first=false hard=true" {
		t.Errorf("the inner said %q, want a second request", got)
	}
	if code, rest := o.wait(t); code != 3 {
		t.Errorf("exit %d, want 3: %q", code, rest)
	}
	o.agent.wantGone(t)
}

func TestKillOfTheOuterAloneIsPassedOn(t *testing.T) {
	o := startOuter(t)
	for _, want := range []string{"seen first=true hard=false", "seen first=false hard=true"} {
		if err := o.cmd.Process.Signal(syscall.SIGTERM); err != nil {
			t.Fatal(err)
		}
		if got := o.next(); got != want {
			t.Errorf("the inner said %q, want %q", got, want)
		}
	}
	o.wait(t)
	o.agent.wantGone(t)
}

func TestOuterKeepsItsEnvironmentToItself(t *testing.T) {
	o := startOuter(t)
	info, err := os.Stat(fmt.Sprintf("/proc/%d/environ", o.cmd.Process.Pid))
	if err != nil {
		t.Fatal(err)
	}
	if owner := info.Sys().(*syscall.Stat_t).Uid; owner != 0 {
		t.Errorf("owner %d may read it, want root only", owner)
	}
	_ = o.cmd.Process.Kill()
	o.wait(t)
}

func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for !ok() {
		select {
		case <-tick.C:
		case <-ctx.Done():
			t.Fatalf("waited in vain: %s", what)
		}
	}
}
