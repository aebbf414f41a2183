package main_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"
)

// terminal is a person's at a terminal, where ralph init was called.
type terminal struct {
	*exec.Cmd
	t      *testing.T
	hand   *os.File // the person's end of the terminal
	stay   *os.File // closed once the person has seen enough
	before *unix.Termios
	seen   string
}

// shellOfATerminal leads the session, as at a desk, and stays until the test has
// read enough: when the leader ends, the kernel drops unread output.
const shellOfATerminal = `trap : INT; "$@"; code=$?; read -r _ <&3; exit $code`

func openTerminal(t *testing.T, kind string) *terminal {
	t.Helper()
	hand, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { hand.Close() })
	s := &terminal{t: t, hand: hand, Cmd: exec.CommandContext(t.Context(), "sh", "-c", shellOfATerminal, "sh", "ralph", "init")}
	tty := s.tty()
	defer tty.Close()
	seen, stay, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer seen.Close()
	t.Cleanup(func() { stay.Close() })
	s.stay, s.ExtraFiles = stay, []*os.File{seen}
	s.Stdin, s.Stdout, s.Stderr = tty, tty, tty
	s.Dir, s.Env = t.TempDir(), []string{"PATH=" + os.Getenv("PATH"), "TERM=" + kind}
	s.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	s.before = s.modes()
	if err := s.Start(); err != nil {
		t.Fatal(err)
	}
	return s
}

// tty returns the program's end.
func (s *terminal) tty() *os.File {
	s.t.Helper()
	number := 0
	err := s.control(func(fd int) error {
		var err error
		if number, err = unix.IoctlGetInt(fd, unix.TIOCGPTN); err != nil {
			return err
		}
		return unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0)
	})
	if err != nil {
		s.t.Fatal(err)
	}
	tty, err := os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		s.t.Fatal(err)
	}
	return tty
}

// control lets f at the descriptor without taking it from the poller, so that
// reading can be given a deadline.
func (s *terminal) control(f func(fd int) error) error {
	raw, err := s.hand.SyscallConn()
	if err != nil {
		return err
	}
	inner := raw.Control(func(fd uintptr) { err = f(int(fd)) })
	if inner != nil {
		return inner
	}
	return err
}

func (s *terminal) modes() *unix.Termios {
	s.t.Helper()
	var modes *unix.Termios
	err := s.control(func(fd int) (err error) {
		modes, err = unix.IoctlGetTermios(fd, unix.TCGETS)
		return err
	})
	if err != nil {
		s.t.Fatal(err)
	}
	return modes
}

// see waits until text is on the screen, after what was seen before.
func (s *terminal) see(text string) {
	s.t.Helper()
	if err := s.hand.SetReadDeadline(time.Now().Add(patience)); err != nil {
		s.t.Fatal(err)
	}
	buffer := make([]byte, 4096)
	for !strings.Contains(s.seen, text) {
		n, err := s.hand.Read(buffer)
		if err != nil {
			s.t.Fatalf("waiting for %q: %v, after %q", text, err, s.seen)
		}
		s.seen += string(buffer[:n])
	}
	_, s.seen, _ = strings.Cut(s.seen, text)
}

func (s *terminal) press(keys string) {
	s.t.Helper()
	if _, err := s.hand.WriteString(keys); err != nil {
		s.t.Fatal(err)
	}
}

// leaves waits for the program's end, which must leave the terminal as it was.
func (s *terminal) leaves(code int) {
	s.t.Helper()
	_ = s.stay.Close()
	_ = s.Wait()
	if got := s.ProcessState.ExitCode(); got != code {
		s.t.Errorf("exit %d, want %d", got, code)
	}
	if diff := cmp.Diff(s.before, s.modes()); diff != "" {
		s.t.Errorf("the terminal's modes (-before +after):\n%s", diff)
	}
}

func (s *terminal) settings() string {
	data, _ := os.ReadFile(filepath.Join(s.Dir, ".ralph/settings.json"))
	return string(data)
}

// questions are the prompts in their order, and an answer each.
var questions = []struct{ prompt, answer string }{
	{"Agent command (e.g., claude, codex, amp, or other LLM CLI): ", "claude"},
	{"Agent flags (comma-separated, optional): ", "--model,opus"},
	{"Maximum iterations [10]: ", ""},
	{"Completion response [DONE]: ", ""},
	{"Add guardrail command (leave blank to finish): ", "make lint"},
	{"  Fail action (APPEND|PREPEND|REPLACE): ", "APPEND"},
	{"  Hint (optional, guidance for agent on failure): ", "Fix lint errors only."},
	{"Add guardrail command (leave blank to finish): ", ""},
	{"Configure SCM? (y/N): ", "y"},
	{"  SCM command (e.g., git): ", "git"},
	{"  SCM tasks (comma-separated, e.g., commit,push): ", "commit"},
}

// The same questions on every terminal, no matter what its Enter key sends.
func TestInitAtATerminal(t *testing.T) {
	var files []string
	for kind, enter := range map[string]string{"xterm-256color": "\r", "dumb": "\n"} {
		t.Run("TERM="+kind, func(t *testing.T) {
			s := openTerminal(t, kind)
			for _, q := range questions {
				s.see(q.prompt)
				s.press(q.answer + enter)
			}
			s.see("Settings written to .ralph/settings.json")
			s.leaves(0)
			files = append(files, s.settings())
		})
	}
	for _, file := range files {
		if file != files[0] || !strings.Contains(file, `"hint": "Fix lint errors only."`) {
			t.Errorf("settings:\n%s", file)
		}
	}
}

// Keys that would move a cursor are no answer.
func TestInitRefusesKeysThatAreNoText(t *testing.T) {
	s := openTerminal(t, "dumb")
	s.see(questions[0].prompt)
	s.press("claude\x1b[D\n")
	s.see("it contains control characters")
	s.see(questions[0].prompt)
	s.press("\x04")
	s.see("interrupted")
	s.leaves(130)
}
