package scaffold

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/sys/unix"
	"golang.org/x/term"

	"github.com/ralph-loop/ralph/internal/fault"
)

// dialog asks a person at a terminal.
type dialog struct {
	out  io.Writer
	line func(prompt string) (string, error) // ends its line, whatever happens
}

// ask puts a question until the answer is right: check says what is wrong with
// one, or nothing.
func (d dialog) ask(prompt string, check func(answer string) string) (string, error) {
	for {
		answer, err := d.line(prompt)
		if err != nil {
			return "", err
		}
		answer = strings.TrimSpace(answer)
		wrong := check(answer)
		if !utf8.ValidString(answer) || strings.ContainsFunc(answer, unicode.IsControl) {
			wrong = "there are keys in it that are no text: type it once more"
		}
		if wrong == "" {
			return answer, nil
		}
		indent := prompt[:len(prompt)-len(strings.TrimLeft(prompt, " "))]
		fmt.Fprintln(d.out, indent+wrong)
	}
}

// yes asks what is No unless somebody says otherwise.
func (d dialog) yes(prompt string) (bool, error) {
	answer, err := d.ask(prompt, func(answer string) string {
		if slices.Contains([]string{"", "y", "yes", "n", "no"}, strings.ToLower(answer)) {
			return ""
		}
		return "answer y or n"
	})
	return err == nil && strings.HasPrefix(strings.ToLower(answer), "y"), err
}

// Terminal is where a person sits.
type Terminal struct {
	In, Out *os.File
	Kind    string // as TERM has it
}

// talk begins a dialog with whoever sits at the terminal; the func ends it. Where
// the terminal can, lines are edited with the cursor keys; a dumb one does what
// it has always done.
func (t Terminal) talk(ctx context.Context) (dialog, func(), error) {
	if !term.IsTerminal(int(t.In.Fd())) {
		return dialog{}, nil, fault.Usage("ralph init asks questions, and standard input is no terminal",
			"run it in a terminal, write .ralph/settings.json by hand, or see ralph init --help", nil)
	}
	typed, deafen, err := listen(ctx, t.In)
	if err != nil {
		return dialog{}, nil, err
	}
	if t.Kind == "" || t.Kind == "dumb" || !term.IsTerminal(int(t.Out.Fd())) {
		return plain(typed, t.Out), deafen, nil
	}
	before, err := term.MakeRaw(int(t.In.Fd()))
	if err != nil {
		return plain(typed, t.Out), deafen, nil //nolint:nilerr // then without editing
	}
	return edited(typed, t.Out), func() {
		_ = term.Restore(int(t.In.Fd()), before) // the shell mends what we cannot
		deafen()
	}, nil
}

// plain leaves editing to the terminal.
func plain(typed io.Reader, out io.Writer) dialog {
	lines := bufio.NewReader(typed)
	return dialog{out: out, line: func(prompt string) (string, error) {
		if _, err := io.WriteString(out, prompt); err != nil {
			return "", err
		}
		line, err := lines.ReadString('\n')
		if err != nil {
			fmt.Fprintln(out)
		}
		return line, err
	}}
}

// edited sees every key, Ctrl-C and Ctrl-D as the end.
func edited(typed io.Reader, out io.Writer) dialog {
	editor := term.NewTerminal(struct {
		io.Reader
		io.Writer
	}{typed, out}, "")
	return dialog{out: editor, line: func(prompt string) (string, error) {
		editor.SetPrompt(prompt)
		line, err := editor.ReadLine()
		if err != nil {
			fmt.Fprint(out, "\r\n") // not by the editor, who would show the question anew
		}
		return line, err
	}}
}

// listen reads what is typed until ctx ends: a read that the kernel holds
// could not be called back.
func listen(ctx context.Context, tty *os.File) (typed io.Reader, deafen func(), err error) {
	over, end, err := os.Pipe()
	if err != nil {
		return nil, nil, fmt.Errorf("listen to the terminal: %w", err)
	}
	forget := context.AfterFunc(ctx, func() { _ = end.Close() })
	return ear{tty, over}, func() {
		forget()
		_, _ = end.Close(), over.Close()
	}, nil
}

// ear is a terminal that is read until the other file ends.
type ear struct{ tty, over *os.File }

// Read is that of an io.Reader.
func (e ear) Read(p []byte) (int, error) {
	tty, over := int(e.tty.Fd()), int(e.over.Fd())
	for {
		var ready unix.FdSet
		ready.Set(tty)
		ready.Set(over)
		_, err := unix.Select(max(tty, over)+1, &ready, nil, nil, nil)
		switch {
		case errors.Is(err, unix.EINTR):
		case err != nil:
			return 0, fmt.Errorf("listen to the terminal: %w", err)
		case ready.IsSet(over):
			return 0, errInterrupted
		default:
			return e.tty.Read(p)
		}
	}
}
