package main_test

import (
	"errors"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/ralph-loop/ralph/internal/testsupport/short"
)

// TestConsole runs a loop at a terminal, and in a pipe. Colours and signs are
// for people at a terminal that can show them; elsewhere there is not one byte
// that is not text. TestLookFor of package view has the variables that decide it.
func TestConsole(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		env           []string
		pipe          bool
		colour, signs bool
	}{
		"a terminal":      {[]string{"TERM=xterm-256color", "LANG=C.UTF-8"}, false, true, true},
		"an old terminal": {[]string{"TERM=xterm", "LANG=C"}, false, true, false},
		"a pipe":          {[]string{"TERM=xterm-256color", "LANG=C.UTF-8"}, true, false, false},
	} {
		if !short.Has(name) {
			continue
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := stop{}.settle(t)
			for _, args := range [][]string{words("run --check true --agent-command", "sh story.sh"), words("status"), words("status --follow")} {
				shown := watched(t, dir, c.pipe, append(c.env, "HOME="+t.TempDir()), args)
				if !strings.Contains(shown, "US-001") {
					t.Fatalf("%q shows %q", args, shown)
				}
				if args[0] == "status" && len(args) == 1 {
					continue // a few words, without any dress
				}
				if got := strings.Contains(shown, "\x1b"); got != c.colour {
					t.Errorf("%q: escapes %t, want %t: %q", args, got, c.colour, shown)
				}
				if got := strings.Contains(shown, "✅"); got != c.signs {
					t.Errorf("%q: signs %t, want %t: %q", args, got, c.signs, shown)
				}
			}
		})
	}
}

// watched returns what ralph shows on a terminal of its own, or in a pipe.
func watched(t *testing.T, dir string, pipe bool, env, args []string) string {
	t.Helper()
	ralph := exec.CommandContext(t.Context(), "ralph", args...)
	ralph.Dir, ralph.Env = dir, append(env, "PATH="+os.Getenv("PATH"), quickExit, unconfined)
	if pipe {
		out, err := ralph.CombinedOutput()
		if err != nil {
			t.Fatalf("%q: %v\n%s", args, err, out)
		}
		return string(out)
	}
	hand, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer hand.Close()
	at := &terminal{t: t, hand: hand}
	tty, modes := at.tty(), at.modes()
	modes.Lflag |= unix.TOSTOP // which users and programs inside may set
	if err := unix.IoctlSetTermios(int(tty.Fd()), unix.TCSETS, modes); err != nil {
		t.Fatal(err)
	}
	ralph.Stdin, ralph.Stdout, ralph.Stderr = tty, tty, tty
	ralph.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	err = ralph.Start()
	_ = tty.Close()
	if err != nil {
		t.Fatal(err)
	}
	if err := hand.SetReadDeadline(time.Now().Add(patience)); err != nil {
		t.Fatal(err)
	}
	shown, err := io.ReadAll(hand)
	if err != nil && !errors.Is(err, syscall.EIO) { // EIO: no process has the terminal open any more
		t.Fatalf("%q: %v\n%s", args, err, shown)
	}
	if err := ralph.Wait(); err != nil {
		t.Errorf("%q: %v\n%s", args, err, shown)
	}
	return string(shown)
}
