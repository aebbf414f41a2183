package checkout

import (
	"context"
	"io"
	"path/filepath"
	"slices"

	"github.com/ralph-loop/ralph/internal/box/confine"
	"github.com/ralph-loop/ralph/internal/core/journal"
	"github.com/ralph-loop/ralph/internal/core/policy"
	"github.com/ralph-loop/ralph/internal/core/verdict"
	"github.com/ralph-loop/ralph/internal/git/git"
	"github.com/ralph-loop/ralph/internal/git/workspace"
	"github.com/ralph-loop/ralph/internal/lib/redact"
	"github.com/ralph-loop/ralph/internal/proof/check"
)

// Verifier runs checks and proofs outside of a run.
type Verifier struct {
	Hand    check.Hand       // Verifier sets Log and Folder
	Sandbox *confine.Sandbox // of the commands; may be nil
	Git     git.Git
	Code    *git.Trusted // nil: the repository of the project
	Dir     string       // an empty folder
	Tell    func(journal.Run, journal.Event)
	Kept    Kept

	secrets   []string // variables of the checks
	hide      *redact.Redactor
	trusted   *git.Trusted
	checkouts *Clean
	run       journal.Run
}

// Confide sets the environment of the commands. Secrets of the checks are hidden in all output.
func (v *Verifier) Confide(env []string, needs confine.Needs) {
	v.secrets = needs.Secrets
	v.hide = redact.Values(needs.Values()...)
	v.Hand.Env = slices.Concat(env, needs.Env)
	v.Hand.Veil = v.hide.Writer
}

// Look runs the checks of a policy at a commit of the project's repository, or those that its own files suggest.
func (v *Verifier) Look(ctx context.Context, project, commit string, p policy.Policy) (journal.Run, error) {
	if _, err := v.Find(ctx, project, commit, p); err != nil {
		return v.run, err
	}
	err := v.checkouts.Prover().Baseline(ctx, v.run, verdict.Baseline{}, v.emit)
	return v.run, err
}

// Base runs the checks that the rules give for a commit, as Prove does for a change on top of it.
func (v *Verifier) Base(ctx context.Context, project, commit string, rules Rules) (journal.Run, error) {
	if err := v.prepare(ctx, project); err != nil {
		return v.run, err
	}
	if err := v.readRules(ctx, commit, rules); err != nil {
		return v.run, err
	}
	err := v.checkouts.Prover().Baseline(ctx, v.run, verdict.Baseline{}, v.emit)
	return v.run, err
}

// Find returns the checks that Look would run, and runs nothing.
func (v *Verifier) Find(ctx context.Context, project, commit string, p policy.Policy) (journal.Run, error) {
	if err := v.prepare(ctx, project); err != nil {
		return v.run, err
	}
	err := v.survey(ctx, commit, p)
	return v.run, err
}

// survey begins a run by a policy, or by checks that the base's files suggest.
func (v *Verifier) survey(ctx context.Context, base string, p policy.Policy) error {
	found, err := Surveyed(ctx, v.trusted, git.At{Commit: base, Path: p.Subfolder})
	if err != nil {
		return err
	}
	p, notes := Detect(p, found)
	v.run = journal.Run{Base: base, Policy: p}
	for _, note := range notes {
		v.emit(note)
	}
	return nil
}

// emit adds an event to the run, without secrets, as in the journal of a run.
func (v *Verifier) emit(event journal.Event) {
	entry := journal.Entry{Seq: v.run.Seq + 1, Event: event}
	if len(v.secrets) > 0 {
		entry = journal.Hidden(entry, v.hide.Bytes)
	}
	v.run = journal.Fold(v.run, entry)
	if v.Tell != nil {
		v.Tell(v.run, entry.Event)
	}
}

// prepare makes the repository of the checkouts, once.
func (v *Verifier) prepare(ctx context.Context, project string) error {
	if v.checkouts != nil {
		return nil
	}
	v.trusted = v.Code
	if v.trusted == nil {
		shared, err := v.Git.OpenShared(ctx, project, filepath.Join(v.Dir, "trusted.git"))
		if err != nil {
			return err
		}
		v.trusted = shared
	}
	logs := workspace.Folder{Path: v.Dir}
	v.Hand.Log = func(name string) (io.WriteCloser, error) { return logs.Create(name) }
	v.Hand.Folder = v.Dir
	v.checkouts = &Clean{
		Trusted: v.trusted,
		Home:    v.Git.Home,
		Dir:     filepath.Join(v.Dir, "clean"),
		Sandbox: v.Sandbox,
		Hand:    v.Hand,
		Secrets: v.secrets,
		Logs:    logs,
		Log:     func(line string) { v.emit(journal.Noted{What: line}) },
		Kept:    v.Kept,
	}
	return nil
}
