package job

import (
	"context"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/ralph-loop/ralph/internal/box/sandbox"
	"github.com/ralph-loop/ralph/internal/core/journal"
	"github.com/ralph-loop/ralph/internal/core/policy"
	"github.com/ralph-loop/ralph/internal/git/git"
	"github.com/ralph-loop/ralph/internal/git/workspace"
	"github.com/ralph-loop/ralph/internal/lib/fault"
	"github.com/ralph-loop/ralph/internal/lib/untrusted"
	"github.com/ralph-loop/ralph/internal/proof/check"
	"github.com/ralph-loop/ralph/internal/proof/checkout"
	"github.com/ralph-loop/ralph/internal/proof/proof"
)

// checks runs setup and checks in the agent's tree, and makes the clean checkouts of a proof.
type checks struct {
	machine *Machine
	record  *record
	repo    *repository
	tree    *agentTree
}

func (c *checks) runChecks(ctx context.Context, run journal.Run, emit emit) error {
	dir, err := c.tree.folder(ctx)
	if err != nil {
		return err
	}
	c.tree.takeSnapshot(ctx, run)
	hand := c.inTree(dir, false)
	hand.Patience = func(limit time.Duration) time.Duration { return timeLeft(run, c.machine.Now(), limit) }
	defer c.machine.Sandbox.Flush(emit)
	job := checkJob(run, dir, latestNumber(run))
	job.Checks = run.Policy.Checks
	changed, known, err := c.tree.changedFiles(ctx, run)
	if err != nil {
		return err
	}
	job.Skip = func(check policy.Check) bool { return known && proof.Skips(check, changed) }
	return hand.Do(ctx, job, emit)
}

// runSetup prepares the tree before an agent works in it, because agents run the checks, too. If
// setup fails, it runs again before the next iteration.
func (c *checks) runSetup(ctx context.Context, run journal.Run, number int, emit emit) error {
	if _, done := c.tree.readSetupMarker(); done || len(run.Policy.Setup) == 0 {
		return nil
	}
	isUsers := c.tree.code.Box != nil || c.tree.code.UserTree != nil
	if isUsers && !run.Policy.Worktree && !run.IsBoxElsewhere() { // people set up their own tree
		return nil
	}
	tree, err := c.tree.open(ctx)
	if err != nil || tree == nil {
		return err
	}
	seen, err := tree.Inspect(ctx)
	isFresh := err == nil && seen.Head == run.Head && !seen.Dirty
	defer c.machine.Sandbox.Flush(emit)
	work := checkJob(run, tree.Dir, strconv.Itoa(number))
	ready, err := c.inTree(tree.Dir, true).Setup(ctx, work, run.Policy.Setup, emit)
	if err != nil {
		return err
	}
	var untracked []string
	if isFresh {
		untracked, err = c.ignoreSetupFiles(ctx, run, tree)
		if err != nil {
			return err
		}
	}
	if !ready {
		return setupFailed(run)
	}
	if err := c.checkPrograms(ctx, run, tree.Dir); err != nil {
		return err
	}
	return c.tree.writeSetupMarker(untracked)
}

// setupFailed stops a run whose setup was not tried at the base before. No agent is paid for a tree that is not ready.
func setupFailed(run journal.Run) error {
	if run.Policy.Baseline != "" {
		return nil
	}
	fix := "make the commands of `setup` work on a fresh clone, which has committed files only"
	return fault.Usage("setup failed", fix, nil)
}

// checkPrograms stops a run without a baseline if the program of a check is still missing after setup.
func (c *checks) checkPrograms(ctx context.Context, run journal.Run, dir string) error {
	if run.Policy.Baseline != "" {
		return nil
	}
	hand := c.inTree(dir, false)
	job := checkJob(run, dir, "")
	for _, rule := range run.Policy.Checks {
		program, err := hand.FirstMissing(ctx, job, rule.Command)
		if err != nil {
			return fmt.Errorf("look for the program of %s: %w", rule.Name, err)
		}
		if program != "" {
			why := fmt.Sprintf("the check %s cannot start: %s is not installed", rule.Name, program)
			return fault.Usage(why, "have `setup` install "+program+", or correct the command of the check", nil)
		}
	}
	return nil
}

// ignoreSetupFiles keeps files that setup wrote in a fresh tree out of the work: the agent's clone
// ignores them, and in the user's repository, which gets no new ignore rules, they do not count.
func (c *checks) ignoreSetupFiles(ctx context.Context, run journal.Run, tree *git.Tree) ([]string, error) {
	if err := tree.Restore(ctx, run.Head); err != nil {
		return nil, err
	}
	if c.tree.code.UserTree != nil {
		now, err := tree.Look(ctx)
		if err != nil {
			return nil, err
		}
		c.tree.snapshot.checkFiles, err = newFiles(ctx, tree, git.Span{From: now.Tree, To: now.Work})
		return nil, err
	}
	untracked, err := tree.Untracked(ctx)
	if err != nil {
		return nil, err
	}
	return untracked, ignore(tree.Dir, untracked)
}

// ignore makes git ignore more patterns in a clone, for all users.
func ignore(clone string, patterns []string) error {
	const name = "info/exclude"
	inside := untrusted.Folder{Path: filepath.Join(clone, ".git")} // no link leads out of it
	text, err := inside.ReadFile(name, 1<<20)
	if err != nil {
		return fmt.Errorf("have files ignored: %w", err)
	}
	if len(patterns) == 0 {
		return nil
	}
	text = append(text, strings.Join(patterns, "\n")+"\n"...)
	if err := inside.WriteFile(name, text, 0o644); err != nil {
		return fmt.Errorf("have files ignored: %w", err)
	}
	return nil
}

func projectDir(run journal.Run, tree string) string {
	return filepath.Join(tree, filepath.FromSlash(run.Policy.Subfolder))
}

// inTree returns what runs commands in the agent's tree, with the network access of setup or of checks.
func (c *checks) inTree(dir string, setup bool) check.Hand {
	hand := c.hand(c.tree.runnerWith(dir, setup), c.machine.Sandbox.Env(c.machine.CheckEnv, false))
	if c.tree.code.UserTree != nil {
		hand.Folder = c.logFolder(c.tree.code.UserTree.Dir)
	}
	return hand
}

// logFolder is where logs lie, seen from the project in the user's tree: a worktree has no .ralph of its own.
func (c *checks) logFolder(tree string) string {
	folder, err := filepath.Rel(projectDir(c.record.Run(), tree), c.machine.Folder.Path)
	if err != nil {
		return c.machine.Folder.Path
	}
	return filepath.ToSlash(folder)
}

func (c *checks) hand(exec sandbox.Exec, env []string) check.Hand {
	return check.Hand{
		Run:    exec,
		Env:    env,
		Grace:  c.machine.Grace,
		Log:    c.record.home.CreateLinked,
		Veil:   c.machine.Secrets.Writer,
		Folder: ".ralph",
		Began:  c.record.audience.OnCheck,
	}
}

func checkJob(run journal.Run, dir, label string) check.Job {
	return check.Job{Where: journal.AtWork, Dir: projectDir(run, dir), Label: label, Excerpt: run.Policy.Excerpt}
}

func (c *checks) cleanCheckouts(run journal.Run) *checkout.Clean {
	return &checkout.Clean{
		Home:    c.machine.Git.Home,
		Dir:     filepath.Join(c.repo.work, "clean"),
		Trusted: c.repo.trusted,
		Sandbox: c.machine.Sandbox,
		Logs:    workspace.Folder{Path: c.record.home.Path},
		Log:     c.record.log,
		Hand:    c.hand(c.machine.Exec, c.machine.CheckEnv),
		Secrets: c.machine.CheckSecrets,
		Kept:    c.machine.Kept,
		InJob:   run.Policy.SaveRun,
	}
}

func (c *checks) allowPackageHosts(ctx context.Context) error {
	if c.repo.trusted == nil {
		return nil
	}
	files := func() ([]string, error) { return c.repo.trusted.Files(ctx, c.record.Run().Base) }
	return c.machine.Sandbox.AllowPackages(c.machine.StepEnv, files)
}

func latestNumber(run journal.Run) string {
	if n := len(run.Iterations); n > 0 {
		return strconv.Itoa(run.Iterations[n-1].Number)
	}
	return "0"
}
