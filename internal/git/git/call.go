package git

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/ralph-loop/ralph/internal/lib/process"
)

const (
	localTimeout   = 2 * time.Minute
	networkTimeout = 10 * time.Minute
	grace          = time.Second
	maxOutput      = 16 << 20
	maxErrors      = 8 << 10
)

// MaxMemory limits a git that reads an agent's objects or files.
const MaxMemory = 2 << 30

// Call is one run of git. Unset fields get safe defaults.
type Call struct {
	Args    []string
	Dir     string
	Env     []string  // added to the environment of every call
	Set     []Setting // added to the settings of every call
	Stdin   io.Reader
	Stdout  io.Writer // nil: the output is returned
	Limit   int64     // of the output
	Timeout time.Duration
	Memory  uint64 // 0: no limit
	Run     Run

	asUser bool // with the user's own settings
}

// Runner runs git in one repository, with its environment and settings.
type Runner func(context.Context, Call) ([]byte, error)

// Error is the error of a git command.
type Error struct {
	Command  string // "fetch"
	Exit     int
	Said     string // the most important line of Stderr
	TimedOut bool
	TooLong  bool  // it printed too much output
	Err      error // why git could not be run

	Stderr string // the end of git's standard error
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

// Unwrap returns why git could not be run.
func (e *Error) Unwrap() error { return e.Err }

// Answered reports whether git ran and failed, and returns its error.
func Answered(err error) (*Error, bool) {
	var failed *Error
	return failed, errors.As(err, &failed) && failed.Err == nil
}

// SaidNo reports exit code 1, by which many git commands answer no.
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
	stderr := &process.Tail{N: maxErrors}
	command := g.command(c)
	command.Stdout = out
	command.Stderr = stderr
	run := c.Run
	if run == nil {
		run = g.Run
	}
	res, err := run(ctx, command)
	failed := &Error{
		Command:  c.Args[0],
		Exit:     res.Exit,
		Said:     Reason(stderr.String()),
		TimedOut: res.TimedOut,
		TooLong:  out.over,
		Stderr:   stderr.String(),
	}
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
		timeout = localTimeout
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

// bounded writes the first bytes, and fails for more.
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

// Reason returns the last line with "fatal:" or "error:", or else the last line that is no hint.
func Reason(text string) string {
	last := ""
	hasComplaint := false
	for line := range strings.Lines(text) {
		line = OneLine(line, 300)
		if line == "" || strings.HasPrefix(line, "hint:") {
			continue
		}
		isComplaint := strings.HasPrefix(line, "fatal: ") || strings.HasPrefix(line, "error: ")
		if hasComplaint && !isComplaint {
			continue
		}
		last = line
		hasComplaint = isComplaint
	}
	return last
}

// OneLine makes untrusted text one short line without control characters.
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
