package checkout

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"slices"

	"github.com/ralph-loop/ralph/internal/check"
	"github.com/ralph-loop/ralph/internal/confine"
	"github.com/ralph-loop/ralph/internal/evidence"
	"github.com/ralph-loop/ralph/internal/fault"
	"github.com/ralph-loop/ralph/internal/git"
	"github.com/ralph-loop/ralph/internal/journal"
	"github.com/ralph-loop/ralph/internal/policy"
	"github.com/ralph-loop/ralph/internal/redact"
	"github.com/ralph-loop/ralph/internal/verdict"
	"github.com/ralph-loop/ralph/internal/workspace"
)

// Verifier repeats a proof outside of the run that made it.
type Verifier struct {
	Hand    check.Hand       // Verifier sets Log and Folder
	Sandbox *confine.Sandbox // of the commands; may be nil
	Git     git.Git
	Code    *git.Trusted // nil: the repository of the project
	Dir     string       // an empty folder
	Tell    func(journal.Run, journal.Event)
	Kept    Kept // not used for evidence

	secrets   []string // variables of the checks
	hide      *redact.Redactor
	trusted   *git.Trusted
	checkouts *Clean
	run       journal.Run
}

// Confide sets the environment of the commands. Secrets of the checks are hidden in all output.
func (v *Verifier) Confide(env []string, needs confine.Needs) {
	v.secrets, v.hide = needs.Secrets, redact.Values(needs.Values()...)
	v.Hand.Env, v.Hand.Veil = slices.Concat(env, needs.Env), v.hide.Writer
}

// Verify proves the newest commit of the evidence and grades its stories, with the code of
// the project's repository. It returns the repeated run.
func (v *Verifier) Verify(ctx context.Context, project string, e evidence.Evidence) (journal.Run, error) {
	var err error
	if v.run, err = e.NewRun(); err != nil {
		return v.run, err
	}
	if err := v.prepare(ctx, project); err != nil {
		return v.run, err
	}
	if err := v.checkCommits(ctx, e); err != nil {
		return v.run, err
	}
	tests := evidenceTests{v: v, files: map[string][]string{}, commits: e.CommitsByStory()}
	prover := v.checkouts.Prover(tests)
	if err := prover.Baseline(ctx, v.run, verdict.Baseline{}, v.emit); err != nil {
		return v.run, err
	}
	for _, story := range e.EarlierStories() {
		if err := prover.Prove(ctx, v.run, verdict.Prove{Commit: story.Proof.Commit, Tree: story.Proof.Tree}, v.emit); err != nil {
			return v.run, err
		}
	}
	if err := prover.Prove(ctx, v.run, verdict.Prove{Commit: v.run.Head, Tree: v.run.Tree}, v.emit); err != nil {
		return v.run, err
	}
	if e.IsInspectionRequired() {
		proven := v.run
		proven.Inspections = e.Inspections()
		if err := prover.Inspect(ctx, proven, verdict.Inspect{Commit: v.run.Head, Tree: v.run.Tree}, v.emit); err != nil {
			return v.run, err
		}
	}
	for _, story := range e.GradedStories() {
		tests.files[story.ID] = story.Files
		step := verdict.Grade{Story: story.ID, Commit: v.run.Head, Tree: v.run.Tree}
		if err := prover.Grade(ctx, v.run, step, v.emit); err != nil {
			return v.run, err
		}
	}
	return v.run, nil
}

// Look runs the checks of a policy at a commit of the project's repository, or those that its
// own files suggest.
func (v *Verifier) Look(ctx context.Context, project, commit string, p policy.Policy) (journal.Run, error) {
	if _, err := v.Find(ctx, project, commit, p); err != nil {
		return v.run, err
	}
	err := v.checkouts.Prover(nil).Baseline(ctx, v.run, verdict.Baseline{}, v.emit)
	return v.run, err
}

// Base runs the checks that the rules give for a commit, as Prove does for a change on top of it.
func (v *Verifier) Base(ctx context.Context, project, commit string, rules Rules) (journal.Run, error) {
	err := v.prepare(ctx, project)
	if err == nil {
		err = v.readRules(ctx, commit, rules)
	}
	if err == nil {
		err = v.checkouts.Prover(nil).Baseline(ctx, v.run, verdict.Baseline{}, v.emit)
	}
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
	files, err := Surveyed(ctx, v.trusted, git.At{Commit: base, Path: p.Subfolder})
	if err != nil {
		return err
	}
	p, notes := Detect(p, files)
	v.run = journal.Run{Base: base, Policy: p}
	for _, note := range notes {
		v.emit(note)
	}
	return nil
}

func (v *Verifier) checkCommits(ctx context.Context, e evidence.Evidence) error {
	for _, sha := range []string{e.Code.Base, e.Code.Head, e.Proof.Commit} {
		if err := v.checkExists(ctx, e, sha); err != nil {
			return err
		}
	}
	for sha, said := range map[string]string{e.Code.Head: e.Code.Tree, e.Proof.Commit: e.Proof.Tree} {
		tree, err := v.trusted.TreeOf(ctx, sha)
		if err != nil {
			return err
		}
		if tree != said {
			return fault.Usage(fmt.Sprintf("the commit %.12s has the tree %.12s, not %.40q", sha, tree, said), "this evidence is not of that commit", nil)
		}
	}
	for _, story := range e.EarlierStories() {
		if err := v.checkStory(ctx, e, story); err != nil {
			return err
		}
	}
	return v.checkSameTree(ctx, e)
}

// checkSameTree checks the commits of the stories that passed with the newest tree. One can be missing: before GitHub
// signed it, it had another name.
func (v *Verifier) checkSameTree(ctx context.Context, e evidence.Evidence) error {
	for _, story := range e.Stories {
		if story.Proof == nil || story.Proof.Tree != e.Proof.Tree {
			continue
		}
		tree, err := v.trusted.TreeOf(ctx, story.Proof.Commit)
		if err == nil && tree != story.Proof.Tree {
			return fault.Usage(fmt.Sprintf("the file says that %s passed with %.12s, which does not have the tree %.40q", story.ID, story.Proof.Commit, story.Proof.Tree), "this evidence is not of that commit", nil)
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
	}
	return nil
}

func (v *Verifier) checkExists(ctx context.Context, e evidence.Evidence, sha string) error {
	if _, err := v.trusted.Resolve(ctx, sha); err != nil {
		return fault.Usage(fmt.Sprintf("the repository has no commit %.40q", sha), "fetch the branch "+e.Code.Branch+" first", err)
	}
	return nil
}

// checkStory checks that a story's commit is an ancestor of the newest, with the tree that the evidence names.
func (v *Verifier) checkStory(ctx context.Context, e evidence.Evidence, story evidence.Story) error {
	sha := story.Proof.Commit
	if err := v.checkExists(ctx, e, sha); err != nil {
		return err
	}
	tree, err := v.trusted.TreeOf(ctx, sha)
	if err != nil {
		return err
	}
	follows, err := v.trusted.IsAncestor(ctx, sha, e.Code.Head)
	if err == nil && (tree != story.Proof.Tree || !follows) {
		err = fault.Usage(fmt.Sprintf("the file says that %s passed with %.12s, which is not a commit of the branch with the tree %.40q", story.ID, sha, story.Proof.Tree), "this evidence is not of that branch", nil)
	}
	return err
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
func (v *Verifier) prepare(ctx context.Context, project string) (err error) {
	if v.checkouts != nil {
		return nil
	}
	if v.trusted = v.Code; v.trusted == nil {
		if v.trusted, err = v.Git.OpenShared(ctx, project, filepath.Join(v.Dir, "trusted.git")); err != nil {
			return err
		}
	}
	if v.trusted, err = v.trusted.Copy(ctx); err != nil {
		return err
	}
	logs := workspace.Folder{Path: v.Dir}
	v.Hand.Log, v.Hand.Folder = func(name string) (io.WriteCloser, error) { return logs.Create(name) }, v.Dir
	v.checkouts = &Clean{
		Trusted: v.trusted, Home: v.Git.Home, Dir: filepath.Join(v.Dir, "clean"), Sandbox: v.Sandbox, Hand: v.Hand, Secrets: v.secrets, Logs: logs,
		Log: func(line string) { v.emit(journal.Noted{What: line}) }, Kept: v.Kept,
	}
	return nil
}

type evidenceTests struct {
	noWork

	v       *Verifier
	files   map[string][]string
	commits map[string][]string
}

func (t evidenceTests) Of(_ context.Context, _ journal.Run, story, _ string) ([]string, error) {
	return t.files[story], nil
}

// Touched returns the files of the commits that the evidence names for the story.
func (t evidenceTests) Touched(ctx context.Context, run journal.Run, story, _ string) ([]string, error) {
	var spans []git.Span
	for _, commit := range t.commits[story] {
		parent, err := t.v.trusted.Resolve(ctx, commit+"^")
		if err != nil {
			return nil, err
		}
		spans = append(spans, git.Span{From: parent, To: commit})
	}
	return Touched(ctx, t.v.trusted, run, spans)
}
