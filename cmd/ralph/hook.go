package main

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"github.com/ralph-loop/ralph/internal/agent"
	"github.com/ralph-loop/ralph/internal/config"
	"github.com/ralph-loop/ralph/internal/fault"
	"github.com/ralph-loop/ralph/internal/guard"
	"github.com/ralph-loop/ralph/internal/hook"
	"github.com/ralph-loop/ralph/internal/redact"
	"github.com/ralph-loop/ralph/internal/workspace"
)

type hookCommand struct {
	Event string   `arg:"" enum:"${hooks}" help:"The event: ${events}."`
	Words []string `arg:"" optional:"" passthrough:"" help:"For loop-start: what was typed behind /ralph-loop, if it is not on standard input."`
}

// The two words that are no hooks, but what slash commands call.
const (
	loopStart  = "loop-start"
	loopCancel = "loop-cancel"
)

// Help gives the example.
func (hookCommand) Help() string {
	return `What Claude Code and Codex call by themselves, as the plugin in plugin/ has them
do: each event is told as JSON on standard input and answered on standard
output. loop-start and loop-cancel are behind /ralph-loop and /cancel-ralph.

Example: ralph hook stop < event.json`
}

func (hookCommand) guarded() bool { return false }

// hooked reads the command line of a hook by itself: hooks run before and after
// each tool an agent uses, and whole command lines take time to be understood.
func hooked(args []string) (hookCommand, bool) {
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

// answered ends an answer to the plugin, which cannot know otherwise that it
// speaks with this program: most hooks are answered with nothing. A change that
// the plugin's script has to know of gets the next number, in both.
const answered = "ralph-hook/1"

func (c hookCommand) answer(ctx context.Context, w world) error {
	door := w.hooks()
	switch c.Event {
	case loopStart:
		return c.start(w, door)
	case loopCancel:
		return c.cancel(w, door)
	}
	door.Serve(ctx, c.Event, w.Stdin, w.Stdout)
	return nil
}

// hooks is what hooks need of this process.
func (w world) hooks() hook.Door {
	return hook.Door{
		Env: w.Getenv, Now: w.Now, Pause: time.Sleep, State: w.sessions(),
		Guard:    hook.Guard{Command: guard.Command, Write: guard.Write},
		Settings: guardSettings, Dirty: w.dirty,
		Hide: redact.New(agent.KeysFrom(w.Getenv, "claude", "").Secrets()...).Bytes,
	}
}

// sessions is the folder for what is known of sessions.
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

// guardSettings is what a project's settings protect, and their rules for
// commands.
func guardSettings(project string) (protect []string, rules []guard.Rule, err error) {
	if project == "" {
		return nil, nil, nil
	}
	files, err := config.Found(project, workspace.ReadSettings)
	if len(files) == 0 {
		return nil, nil, err
	}
	settings, err := config.ReadSettings(files...)
	return settings.Protect, settings.Guard.Table(), err
}

// dirty is what is not committed in a project.
func (w world) dirty(ctx context.Context, project string) ([]string, error) {
	tool, done, err := w.Git(project)
	if err != nil {
		return nil, err
	}
	defer done()
	place, err := tool.Inspect(ctx, project)
	if err != nil {
		return nil, fmt.Errorf("look at the repository: %w", err)
	}
	return place.Dirty, nil
}

// session is the agent's session that a slash command was given in.
func (w world) session(named string) string {
	return cmp.Or(w.Getenv("CLAUDE_CODE_SESSION_ID"), named)
}
