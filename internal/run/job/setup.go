package job

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/ralph-loop/ralph/internal/core/journal"
	"github.com/ralph-loop/ralph/internal/git/git"
	"github.com/ralph-loop/ralph/internal/lib/fault"
	"github.com/ralph-loop/ralph/internal/lib/untrusted"
	"github.com/ralph-loop/ralph/internal/proof/check"
)

// runSetupCommands runs the setup commands with the network access of setup.
func (s *trees) runSetupCommands(
	ctx context.Context,
	run journal.Run,
	dir, label string,
	emit emit,
) (ready bool, err error) {
	defer s.Sandbox.Flush(emit)
	hand := s.checkRunner(run, dir)
	if s.Sandbox != nil {
		hand.Run = s.runnerWith(dir, true)
		hand.Env = s.Sandbox.Env(s.CheckEnv, false)
	}
	return hand.Setup(ctx, checkJob(run, dir, label), run.Policy.Setup, emit)
}

// runSetup prepares the tree before an agent works in it, because agents run the checks, too. If
// setup fails, it runs again before the next iteration.
func (s *trees) runSetup(ctx context.Context, run journal.Run, number int, emit emit) error {
	if _, done := s.readSetupMarker(); done || len(run.Policy.Setup) == 0 {
		return nil
	}
	isUsers := s.Box != nil || s.UserTree != nil
	if isUsers && !run.Policy.Worktree && !run.IsBoxElsewhere() { // people set up their own tree
		return nil
	}
	tree, err := s.tree(ctx)
	if err != nil || tree == nil {
		return err
	}
	seen, err := tree.Inspect(ctx)
	isFresh := err == nil && seen.Head == run.Head && !seen.Dirty
	ready, err := s.runSetupCommands(ctx, run, tree.Dir, strconv.Itoa(number), emit)
	if err != nil {
		return err
	}
	var untracked []string
	if isFresh {
		untracked, err = s.ignoreSetupFiles(ctx, run, tree)
		if err != nil {
			return err
		}
	}
	if !ready {
		return setupFailed(run)
	}
	if err := s.checkPrograms(ctx, run, tree.Dir); err != nil {
		return err
	}
	return s.writeSetupMarker(untracked)
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
func (s *trees) checkPrograms(ctx context.Context, run journal.Run, dir string) error {
	if run.Policy.Baseline != "" {
		return nil
	}
	hand := s.checkRunner(run, dir)
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
func (s *trees) ignoreSetupFiles(ctx context.Context, run journal.Run, tree *git.Tree) ([]string, error) {
	if err := tree.Restore(ctx, run.Head); err != nil {
		return nil, err
	}
	if s.UserTree != nil {
		now, err := tree.Look(ctx)
		if err != nil {
			return nil, err
		}
		s.snapshot.checkFiles, err = newFiles(ctx, tree, git.Span{From: now.Tree, To: now.Work})
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

// setupMarker says that setup is done, and which files git ignores since.
const setupMarker = "tree.ready"

func (s *trees) readSetupMarker() (untracked []string, ok bool) {
	data, err := untrusted.ReadFile(s.home.File(setupMarker), 64<<20)
	if err != nil {
		return nil, false
	}
	err = json.Unmarshal(data, &untracked)
	return untracked, err == nil
}

func (s *trees) writeSetupMarker(untracked []string) error {
	data, err := json.Marshal(append([]string{}, untracked...))
	if err != nil {
		return fmt.Errorf("note that the tree is ready: %w", err)
	}
	if err := untrusted.WriteFile(s.home.File(setupMarker), data, 0o600); err != nil {
		return fmt.Errorf("note that the tree is ready: %w", err)
	}
	return nil
}

// logFolder is relative to the project.
func (s *trees) logFolder(run journal.Run) string {
	if s.UserTree == nil {
		return ".ralph"
	}
	folder, err := filepath.Rel(projectDir(run, s.UserTree.Dir), s.Folder.Path)
	if err != nil {
		return s.Folder.Path
	}
	return filepath.ToSlash(folder)
}

func projectDir(run journal.Run, tree string) string {
	return filepath.Join(tree, filepath.FromSlash(run.Policy.Subfolder))
}

func (s *trees) checkRunner(run journal.Run, dir string) check.Hand {
	return check.Hand{
		Run:    s.commandRunner(dir),
		Env:    s.Sandbox.Env(s.CheckEnv, false),
		Grace:  s.Grace,
		Log:    s.home.CreateLinked,
		Veil:   s.Redact,
		Folder: s.logFolder(run),
		Began:  s.OnCheck,
	}
}

func checkJob(run journal.Run, dir, label string) check.Job {
	return check.Job{Where: journal.AtWork, Dir: projectDir(run, dir), Label: label, Excerpt: run.Policy.Excerpt}
}
