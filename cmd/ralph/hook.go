//go:build !windows

package main

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/alecthomas/kong"

	"github.com/ralph-loop/ralph/internal/agent/agent"
	"github.com/ralph-loop/ralph/internal/box/sandbox"
	"github.com/ralph-loop/ralph/internal/core/policy"
	"github.com/ralph-loop/ralph/internal/entry/config"
	"github.com/ralph-loop/ralph/internal/entry/hook"
	"github.com/ralph-loop/ralph/internal/entry/laptop"
	"github.com/ralph-loop/ralph/internal/git/workspace"
	"github.com/ralph-loop/ralph/internal/lib/fault"
	"github.com/ralph-loop/ralph/internal/lib/process"
	"github.com/ralph-loop/ralph/internal/lib/redact"
)

type hookCommand struct {
	Event string   `arg:"" enum:"${hooks}" help:"Event: ${events}."`
	Words []string `arg:"" optional:"" passthrough:"" help:"For loop-start: the arguments of /ralph-loop (default: standard input)."`
}

// Slash commands call these two; they are no hooks.
const (
	loopStart  = "loop-start"
	loopCancel = "loop-cancel"
)

// readHook reads a hook's command line without the slow grammar: hooks run around each tool call.
func readHook(args []string) (hookCommand, bool) {
	if len(args) != 2 || args[0] != "hook" || !slices.Contains(hook.Names(), args[1]) {
		return hookCommand{}, false
	}
	return hookCommand{Event: args[1]}, true
}

func (c hookCommand) run(ctx context.Context, w world) (int, error) {
	err := c.answer(ctx, w)
	if w.Getenv("RALPH_HOOKS") == "plugin" {
		fmt.Fprintln(w.Stdout, answered)
	}
	return fault.ExitDone, err
}

// answered ends an answer to the plugin, which otherwise cannot know that this program answered.
// A change that the plugin's script must know of gets the next number in both.
const answered = "ralph-hook/1"

func (c hookCommand) answer(ctx context.Context, w world) error {
	hooks := w.hooks()
	if c.Event != loopStart && c.Event != loopCancel {
		hooks.Serve(ctx, c.Event, w.Stdin, w.Stdout)
		return nil
	}
	words, err := c.words(w)
	if err != nil {
		return err
	}
	session := cmp.Or(w.Getenv("CLAUDE_CODE_SESSION_ID"), words.Session)
	var text string
	if c.Event == loopCancel {
		text, err = hooks.Cancel(session)
	} else {
		text, err = words.start(w, hooks, session)
	}
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(w.Stdout, text)
	return err
}

func (w world) hooks() hook.Environment {
	secrets := redact.New(agent.KeysFrom(w.Getenv, "claude", "").Secrets()...)
	return hook.Environment{
		Env:      w.Getenv,
		Now:      w.Now,
		Pause:    time.Sleep,
		State:    w.sessions(),
		Settings: guardSettings,
		Dirty:    w.dirty,
		Hide:     secrets.Bytes,
		Veil:     secrets.Writer,
		Checks: func(project string) ([]policy.Check, error) {
			settings, err := projectSettings(project)
			return settings.Checks(), err
		},
		RunCheck: func(ctx context.Context, command process.Command) (process.Result, error) {
			return sandboxCommand{Fence: laptop.Fence{Sandbox: sandbox.Auto}, Silent: true}.confine(ctx, w, command)
		},
	}
}

func (w world) sessions() string {
	cache := w.Getenv("XDG_CACHE_HOME")
	if !filepath.IsAbs(cache) {
		home := w.Getenv("HOME")
		if !filepath.IsAbs(home) {
			return ""
		}
		cache = filepath.Join(home, ".cache")
	}
	return filepath.Join(cache, "ralph", "sessions")
}

func guardSettings(project string) (protect []string, err error) {
	settings, err := projectSettings(project)
	return settings.Protect, err
}

func projectSettings(project string) (config.Settings, error) {
	if project == "" {
		return config.Settings{}, nil
	}
	files, err := config.ProjectFiles(project, workspace.ReadSettings)
	if len(files) == 0 {
		return config.Settings{}, err
	}
	return config.ReadSettings(files...)
}

func (w world) dirty(ctx context.Context, project string) ([]string, error) {
	tool, err := w.Git(project)
	if err != nil {
		return nil, err
	}
	place, err := tool.Inspect(ctx, project)
	if err != nil {
		return nil, fmt.Errorf("look at the repository: %w", err)
	}
	return place.Dirty, nil
}

type loopWords struct {
	Task              []string `arg:"" optional:""`
	MaxIterations     *int     `name:"max-iterations"`
	CompletionPromise *string  `name:"completion-promise"`
	MinToolCalls      *int     `name:"min-tool-calls"`
	OnPromiseNoWork   string   `name:"on-promise-no-work" enum:"reject,accept" default:"reject"`
	Check             []string `name:"check" sep:"none"`
	Resume            bool     `name:"resume"`
	Ultrawork         bool     `name:"ultrawork"`
	Session           string   `name:"session"`
}

func (l loopWords) start(w world, hooks hook.Environment, session string) (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", fault.Usage("the session's folder no longer exists", "start the loop in another folder", err)
	}
	return hooks.Start(hook.LoopRequest{
		Session:   session,
		Dir:       dir,
		AgentHome: cmp.Or(w.Getenv("CLAUDE_CONFIG_DIR"), filepath.Join(w.Getenv("HOME"), ".claude")),
		Task:      strings.Join(l.Task, " "),
		Resume:    l.Resume,
		ApplyTo:   func(p policy.Policy) policy.Policy { return l.over(p, w.cap()) },
	})
}

// words reads standard input, too: a slash command hands on its text without a shell.
func (c hookCommand) words(w world) (loopWords, error) {
	const usage = `write it as /ralph-loop "TASK" --max-iterations N --completion-promise P ` +
		`[--min-tool-calls M] [--on-promise-no-work reject|accept] [--check COMMAND] [--resume]`
	var words loopWords
	text, err := readPiped(w.Stdin)
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

func readPiped(stdin *os.File) (string, error) {
	info, err := stdin.Stat()
	if err != nil || info.Mode()&os.ModeCharDevice != 0 {
		return "", nil //nolint:nilerr // there is none
	}
	text, err := readAll(stdin)
	return string(text), err
}

func (l loopWords) over(p policy.Policy, most int) policy.Policy {
	p.Agent = "claude"
	p.Limits.Iterations = policy.Given(l.MaxIterations, p.Limits.Iterations)
	p.Word = policy.Given(l.CompletionPromise, p.Word)
	p.Session.MinTools = policy.Given(l.MinToolCalls, p.Session.MinTools)
	if l.OnPromiseNoWork == "accept" {
		p.Session.MinTools = 0
	}
	p.Session.Ultra = p.Session.Ultra || l.Ultrawork
	p.Checks = policy.AddChecks(p.Checks, l.Check, policy.DefaultCheckTimeout)
	p.Session.Cap = most
	return p
}

// usualCap is how many ends in a row Claude Code lets a hook refuse by default.
const usualCap = 8

func (w world) cap() int {
	var most int
	if _, err := fmt.Sscanf(w.Getenv("CLAUDE_CODE_STOP_HOOK_BLOCK_CAP"), "%d", &most); err == nil && most > 0 {
		return most
	}
	return usualCap
}
