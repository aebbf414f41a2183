package git

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/ralph-loop/ralph/internal/process"
)

const (
	patience  = 2 * time.Minute  // for what stays on this machine
	farther   = 10 * time.Minute // for what goes over the network
	grace     = time.Second
	maxOutput = 16 << 20
	maxErrors = 8 << 10
)

// MaxMemory limits a git that reads what an agent wrote.
const MaxMemory = 2 << 30

// Call is one run of git. What is not set gets a safe default.
type Call struct {
	Args    []string
	Dir     string
	Env     []string  // besides the environment of every call
	Set     []Setting // besides the settings of every call
	Stdin   io.Reader
	Stdout  io.Writer // nil: kept and returned
	Limit   int64     // of the output
	Timeout time.Duration
	Memory  uint64 // 0: no bound
	Run     Run
}

// Runner runs git in one place, with all that is to be set there.
type Runner func(context.Context, Call) ([]byte, error)

// Error is a git command that did not succeed.
type Error struct {
	Command  string // "fetch"
	Exit     int
	Said     string // the line of its errors that says why
	TimedOut bool
	TooLong  bool  // it printed too much output
	Err      error // why it could not be run or read

	Stderr string // all that was kept of its errors
}

// Error names the command and why it failed.
func (e *Error) Error() string {
	text := "git " + e.Command + ": "
	switch {
	case e.Err != nil:
		return text + e.Err.Error()
	case e.TimedOut:
		return text + "took too long"
	case e.TooLong:
		return text + "printed too much"
	case e.Said == "":
		return fmt.Sprintf("%sexit %d", text, e.Exit)
	default:
		return fmt.Sprintf("%sexit %d: %s", text, e.Exit, e.Said)
	}
}

// Unwrap gives why it could not be run.
func (e *Error) Unwrap() error { return e.Err }

// Answered reports whether err is git's own answer.
func Answered(err error) (*Error, bool) {
	var failed *Error
	return failed, errors.As(err, &failed) && failed.Err == nil
}

// SaidNo reports exit code 1: for many commands that is the answer no.
func SaidNo(err error) bool {
	failed, ok := Answered(err)
	return ok && failed.Exit == 1 && !failed.TimedOut && !failed.TooLong
}

// Do runs git once and returns what it printed.
func (g Git) Do(ctx context.Context, c Call) ([]byte, error) {
	var kept bytes.Buffer
	out := &bounded{to: c.Stdout, left: c.Limit}
	if c.Stdout == nil {
		out.to = &kept
	}
	if c.Limit == 0 {
		out.left = maxOutput
	}
	said := &process.Tail{N: maxErrors}
	command := g.command(c)
	command.Stdout, command.Stderr = out, said
	run := c.Run
	if run == nil {
		run = g.Run
	}
	res, err := run(ctx, command)
	failed := &Error{Command: c.Args[0], Exit: res.Exit, TimedOut: res.TimedOut, TooLong: out.over, Stderr: said.String()}
	failed.Said = reason(failed.Stderr)
	switch {
	case out.over || res.TimedOut:
		return kept.Bytes(), failed
	case err != nil:
		failed.Err = err
		return kept.Bytes(), failed
	case res.Exit != 0:
		return kept.Bytes(), failed
	default:
		return kept.Bytes(), nil
	}
}

func (g Git) command(c Call) process.Command {
	timeout := c.Timeout
	if timeout == 0 {
		timeout = patience
	}
	return process.Command{
		Argv:    append([]string{"git"}, c.Args...),
		Dir:     c.Dir,
		Env:     g.environment(c),
		Stdin:   c.Stdin,
		Timeout: timeout,
		Grace:   grace,
		Memory:  c.Memory,
	}
}

var errTooLong = errors.New("too much output")

// bounded passes on the first bytes, and ends a writer that writes more.
type bounded struct {
	to   io.Writer
	left int64
	over bool
}

func (b *bounded) Write(p []byte) (int, error) {
	fits := min(int64(len(p)), b.left)
	n, err := b.to.Write(p[:fits])
	b.left -= int64(n)
	if err == nil && fits < int64(len(p)) {
		b.over = true
		err = errTooLong
	}
	return n, err
}

// reason is the last line of git's errors that complains, or that is no advice.
func reason(text string) string {
	last := ""
	complains := false
	for line := range strings.Lines(text) {
		line = OneLine(line, 300)
		complaint := strings.HasPrefix(line, "fatal: ") || strings.HasPrefix(line, "error: ")
		if line == "" || strings.HasPrefix(line, "hint:") || complains && !complaint {
			continue
		}
		last, complains = line, complaint
	}
	return last
}

// OneLine makes foreign text one short line without control characters.
func OneLine(text string, limit int) string {
	text = strings.Map(func(r rune) rune {
		if Unprintable(r) {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(text, "\uFFFD"))
	text = strings.Join(strings.Fields(text), " ")
	for i := range text {
		if i > limit {
			return text[:i] + "…"
		}
	}
	return text
}
