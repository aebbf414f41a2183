package main

import (
	"cmp"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/alecthomas/kong"

	"github.com/ralph-loop/ralph/internal/fault"
	"github.com/ralph-loop/ralph/internal/hook"
	"github.com/ralph-loop/ralph/internal/laptop"
	"github.com/ralph-loop/ralph/internal/policy"
)

// loopWords is what people type behind /ralph-loop.
type loopWords struct {
	Task              []string `arg:"" optional:""`
	MaxIterations     *int     `name:"max-iterations"`
	CompletionPromise *string  `name:"completion-promise"`
	MinToolCalls      *int     `name:"min-tool-calls"`
	OnPromiseNoWork   *string  `name:"on-promise-no-work" enum:"reject,accept"`
	Resume            bool     `name:"resume"`
	Ultrawork         bool     `name:"ultrawork"`
	Session           string   `name:"session"`
}

// start begins a loop within the session that a slash command was given in.
func (c hookCommand) start(w world, door hook.Door) error {
	words, err := c.words(w)
	if err != nil {
		return err
	}
	dir, err := os.Getwd()
	if err != nil {
		return fault.Usage("the folder that the session stands in is gone", "begin the loop in another", err)
	}
	text, err := door.Start(hook.Asked{
		Session: w.session(words.Session), Dir: dir, Agents: w.claudes(),
		Task: strings.Join(words.Task, " "), Resume: words.Resume,
		Over: func(p policy.Policy) policy.Policy { return words.over(p, w.cap()) },
	})
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(w.Stdout, text)
	return err
}

func (c hookCommand) cancel(w world, door hook.Door) error {
	words, err := c.words(w)
	if err != nil {
		return err
	}
	text, err := door.Cancel(w.session(words.Session))
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(w.Stdout, text)
	return err
}

// words are those of the command line, and those on standard input behind
// them: a slash command hands on what was typed without having a shell read it.
func (c hookCommand) words(w world) (loopWords, error) {
	const usage = `write it as /ralph-loop "TASK" --max-iterations N --completion-promise P [--min-tool-calls M] [--on-promise-no-work reject|accept] [--resume]`
	var words loopWords
	text, err := piped(w.Stdin)
	if err != nil {
		return words, fault.Usage("cannot read what was typed", usage, err)
	}
	typed, err := hook.Words(text)
	if err != nil {
		return words, fault.Usage(err.Error(), usage, nil)
	}
	parser, err := kong.New(&words, kong.NoDefaultHelp(), kong.Exit(func(int) {}))
	if err != nil {
		return words, fmt.Errorf("build the words of a loop: %w", err)
	}
	if _, err := parser.Parse(append(c.Words, typed...)); err != nil {
		return words, fault.Usage(err.Error(), usage, nil)
	}
	return words, nil
}

// piped is what is on standard input, unless a person sits there.
func piped(stdin *os.File) (string, error) {
	info, err := stdin.Stat()
	if err != nil || info.Mode()&os.ModeCharDevice != 0 {
		return "", nil //nolint:nilerr // there is none
	}
	text, err := io.ReadAll(io.LimitReader(stdin, largest+1))
	if err == nil && len(text) > largest {
		err = fmt.Errorf("it is larger than %d MiB", largest>>20)
	}
	return string(text), err
}

// over lays what was typed over a policy.
func (l loopWords) over(p policy.Policy, most int) policy.Policy {
	p.Agent = "claude"
	p.Limits.Iterations = laptop.Given(l.MaxIterations, p.Limits.Iterations)
	p.Word = laptop.Given(l.CompletionPromise, p.Word)
	p.Session.MinTools = laptop.Given(l.MinToolCalls, p.Session.MinTools)
	p.Session.NoWork = policy.NoWork(laptop.Given(l.OnPromiseNoWork, string(p.Session.NoWork)))
	p.Session.Ultra = p.Session.Ultra || l.Ultrawork
	p.Session.Cap = most
	return p
}

// usualCap is how many ends in a row Claude Code lets be refused where its
// environment does not say otherwise: at the ninth it ends by itself.
const usualCap = 8

func (w world) cap() int {
	var most int
	if _, err := fmt.Sscanf(w.Getenv("CLAUDE_CODE_STOP_HOOK_BLOCK_CAP"), "%d", &most); err == nil && most > 0 {
		return most
	}
	return usualCap
}

// claudes is the folder in which Claude Code keeps its sessions.
func (w world) claudes() string {
	return cmp.Or(w.Getenv("CLAUDE_CONFIG_DIR"), filepath.Join(w.Getenv("HOME"), ".claude"))
}
