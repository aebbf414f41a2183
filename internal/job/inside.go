package job

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/ralph-loop/ralph/internal/agent"
	"github.com/ralph-loop/ralph/internal/agent/driver"
	"github.com/ralph-loop/ralph/internal/confine"
	"github.com/ralph-loop/ralph/internal/egress"
	"github.com/ralph-loop/ralph/internal/environ"
	"github.com/ralph-loop/ralph/internal/git"
	"github.com/ralph-loop/ralph/internal/git/guarded"
	"github.com/ralph-loop/ralph/internal/journal"
	"github.com/ralph-loop/ralph/internal/sandbox"
	"github.com/ralph-loop/ralph/internal/untrusted"
	"github.com/ralph-loop/ralph/internal/workspace"
)

// inside is how the agent, and what it had a hand in, runs in a tree.
func (s *site) inside(dir string) sandbox.Next {
	if s.Sandbox == nil {
		return s.Exec
	}
	return s.Sandbox.Around(s.access(dir))
}

// access is what they can read and write there.
func (s *site) access(dir string) confine.Access {
	at := confine.Access{Write: []string{dir}}
	if s.trusted != nil {
		at.Read = s.trusted.Lent()
	}
	switch {
	case s.Own != nil && dir == s.Own.Dir:
		needs := s.Own.Needs()
		at.Write, at.Read = append(at.Write, needs.Write...), append(at.Read, needs.Read...)
		// The store is the user's own, which commits go to.
		at.Read = slices.DeleteFunc(at.Read, func(path string) bool {
			return slices.ContainsFunc(at.Write, func(dir string) bool { return confine.Under(dir, path) })
		})
		at.ReadOnly, at.Guarded = needs.ReadOnly, needs.Guarded
		ours(s.Folder, &at)
	case s.Own == nil && dir == s.Dir:
		needs := guarded.Folder(dir)
		at.ReadOnly, at.Guarded = needs.ReadOnly, needs.Guarded
		ours(s.Folder, &at)
	}
	return at
}

// ours is what lies in the user's own folder and is nobody's inside to write:
// what the program keeps there, and the settings that the next run begins with.
// Where no mounts hold the first, the journal mends itself.
func ours(folder workspace.Folder, at *confine.Access) {
	at.Ours = []string{folder.Path}
	at.ReadOnly = append(at.ReadOnly, agent.Local(filepath.Dir(folder.Path))...)
	for _, name := range []string{"settings.json", "settings.local.json"} {
		at.ReadOnly = append(at.ReadOnly, filepath.Join(folder.Path, name))
	}
}

// insideGit is how git runs in a tree that an agent works in: as who works
// there, and without a way out. nil: as it does everywhere else.
func (s *site) insideGit(dir string) git.Run {
	if s.Sandbox == nil {
		return nil
	}
	read := []string{s.Git.Home}
	if s.trusted != nil {
		read = append(read, s.trusted.Lent()...)
	}
	return git.Run(s.Sandbox.Around(confine.Access{Write: []string{dir}, Read: read, Alone: true}))
}

// clear makes an empty folder for those inside.
func (s *site) clear(ctx context.Context, dir string) error {
	if err := errors.Join(untrusted.RemoveAll(dir), os.MkdirAll(dir, 0o755)); err != nil {
		return fmt.Errorf("clear %s: %w", dir, err)
	}
	return s.Sandbox.Lend(ctx, dir, ".")
}

// hand is the agent, in the tree at dir, within what is left of the run's limits.
func (s *site) hand(run journal.Run, dir string) driver.Agent {
	return driver.Agent{
		Adapter: s.Agent, Run: s.inside(dir), Dir: projectIn(run, dir), Env: s.agentEnv(s.AgentEnv), Watch: s.Watch, Veil: s.Veil,
		Timeout: s.patience(run), Idle: run.Policy.Limits.Idle.Std(), Budget: budget(run), Now: s.Now, Grace: s.Grace,
		Lend: func(ctx context.Context, dir string) error { return s.Sandbox.Lend(ctx, dir, ".") },
	}
}

// agentEnv is what an agent's environment is there, by which it reaches its model.
func (s *site) agentEnv(env []string) []string {
	if s.Held != nil {
		return environ.Direct(env)
	}
	return s.Sandbox.Env(env, false)
}

// have has the agent do something, and puts on record what the sandbox heard
// meanwhile. Where the model server has used the budget, no agent is started.
func (s *site) have(ctx context.Context, hand driver.Agent, order agent.Order, emit emit) (journal.AgentEnded, error) {
	models := cmp.Or(s.Sandbox, s.Held)
	if seen := models.Used(); seen.Stopped != "" {
		return metered(journal.AgentEnded{Failed: true}, seen), nil
	}
	defer s.strangers(ctx, emit)()
	ended, err := hand.Do(ctx, order)
	if err == nil {
		ended = metered(ended, models.Used())
		if models.Refusing() { // the key is good
			ended.Fix = ""
		}
	}
	models.Tell(emit)
	return ended, err
}

// metered lays what the model server saw over what an agent said of itself: it
// used what the agent says, or what was seen where that is more. If the server
// has stopped, that is why the agent failed, whatever its program made of it.
func metered(ended journal.AgentEnded, seen egress.Spent) journal.AgentEnded {
	if seen.Usage.Tokens() > ended.Usage.Tokens() {
		ended.Usage = seen.Usage
	}
	if seen.Usage.Tokens() > 0 && seen.Cost.Known && (!ended.Cost.Known || seen.Cost.USD > ended.Cost.USD) {
		ended.Cost = seen.Cost
	}
	if seen.Stopped == "" {
		return ended
	}
	ended.Overspent = true
	if ended.Failed {
		ended.Why = "the model server has ended the budget: " + seen.Stopped
		ended.CannotRun, ended.Fix, ended.Busy, ended.Until = false, "", false, time.Time{}
	}
	return ended
}

// permit allows the hosts from which the project gets its packages, by its files
// at the base.
func (s *site) permit(ctx context.Context) error {
	if s.trusted == nil {
		return nil
	}
	notes, err := s.Sandbox.AllowPackages(ctx, s.CheckEnv, func() ([]string, error) { return s.trusted.Files(ctx, s.Run().Base) })
	for _, note := range notes {
		err = errors.Join(err, s.Append(journal.Noted{What: note}))
	}
	return err
}

// strangers looks for other repositories in the user's own folder, where it has a
// sandbox, and disarms and tells of those that came or changed until what it returns
// is called: the user's own git may ask them.
func (s *site) strangers(ctx context.Context, emit emit) func() {
	if s.Sandbox == nil || s.trusted != nil && s.Own == nil {
		return func() {}
	}
	top := s.Dir
	if s.Own != nil {
		top = s.Own.Dir
	}
	before := guarded.LookNested(ctx, top)
	if ctx.Err() != nil {
		return func() {} // nothing runs any more, and not all was looked at
	}
	return func() {
		ctx := ctx
		if ctx.Err() != nil { // they worked until now
			var cancel context.CancelFunc
			ctx, cancel = context.WithTimeout(context.WithoutCancel(ctx), parting)
			defer cancel()
		}
		for _, news := range Strangers(ctx, s.Git, top, before) {
			emit(news)
		}
	}
}

// Strangers are the news of such repositories. What git would run of them is moved
// aside.
func Strangers(ctx context.Context, tool git.Git, top string, before guarded.Nested) (news []journal.Noted) {
	names := guarded.LookNested(ctx, top).Since(before)
	if len(names) == 0 {
		return nil
	}
	moved, err := tool.Disarm(ctx, top, names)
	if len(moved) > 0 {
		news = append(news, journal.Noted{
			What: "moved aside what git would run of a repository that was made or changed inside: " + journal.Few(moved),
			Hint: "look at it; to have it back, take " + guarded.Aside + " off its name",
		})
	}
	if err != nil {
		news = append(news, journal.Noted{What: "not all that git would run of a repository within yours could be moved aside: " + err.Error()})
	}
	return append(news, journal.Noted{
		What: "made or changed inside, a repository within yours: " + journal.Few(names), Hint: "look at its configuration and hooks before you run git there",
	})
}
