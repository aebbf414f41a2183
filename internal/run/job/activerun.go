package job

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"

	"github.com/ralph-loop/ralph/internal/core/journal"
	"github.com/ralph-loop/ralph/internal/core/policy"
	"github.com/ralph-loop/ralph/internal/core/verdict"
	"github.com/ralph-loop/ralph/internal/git/git"
	"github.com/ralph-loop/ralph/internal/git/workspace"
	"github.com/ralph-loop/ralph/internal/lib/fault"
	"github.com/ralph-loop/ralph/internal/lib/untrusted"
	"github.com/ralph-loop/ralph/internal/proof/check"
	"github.com/ralph-loop/ralph/internal/proof/checkout"
	"github.com/ralph-loop/ralph/internal/proof/proof"
	"github.com/ralph-loop/ralph/internal/show/view"
)

// activeRun is a run that this job works on: it begins the run, does its steps, and ends it.
type activeRun struct {
	*turns
	publishing  publishing
	scm         scm
	supervision supervision
	prover      proof.Prover
}

func (j *Job) open(ctx context.Context, home workspace.Run, base, branch string) (*activeRun, error) {
	kept := &records{Job: j, home: home}
	at := &turns{trees: &trees{records: kept, work: j.workDir(home)}}
	s := &activeRun{
		turns:       at,
		publishing:  publishing{at.trees},
		scm:         scm{at},
		supervision: supervision{kept},
	}
	for _, dir := range []string{s.work, cmp.Or(j.Git.Home, s.work)} { // without git there is no home
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return nil, fmt.Errorf("make the run's folders: %w", err)
		}
	}
	if err := s.fetch(ctx, base, branch); err != nil {
		return nil, err
	}
	if j.Box != nil && j.Box.Place == nil {
		dir, err := s.boxFolder(ctx)
		if err != nil {
			return nil, err
		}
		j.Dir = dir
	}
	return s, s.openJournal(ctx)
}

// workDir holds the run's trees, outside of projects to which a sandbox may write.
func (j *Job) workDir(home workspace.Run) string {
	if j.TreesBeside {
		return j.Folder.TreesDir(home.ID)
	}
	return home.File("work")
}

func (s *trees) fetch(ctx context.Context, base, branch string) error {
	if s.Origin == nil {
		return nil
	}
	fetched, err := s.Origin(ctx, filepath.Join(s.work, "trusted.git"), base, branch)
	if err != nil {
		return err // what was fetched before still holds the work
	}
	s.trusted = fetched
	return nil
}

func (s *trees) refetch(ctx context.Context, run journal.Run) error {
	if s.trusted == nil {
		return nil
	}
	if _, err := os.Stat(s.work); err == nil {
		return nil
	}
	if err := os.MkdirAll(s.work, 0o755); err != nil {
		return fmt.Errorf("make the run's folders: %w", err)
	}
	return s.fetch(ctx, run.BaseRef, run.Branch)
}

// openRepository gives the clean checkouts the repository, which is fetched again if its folder is gone.
func (s *activeRun) openRepository(ctx context.Context, run journal.Run) error {
	err := s.refetch(ctx, run)
	s.clean.Trusted = s.trusted
	return err
}

func (s *activeRun) canRemoveTrees(ctx context.Context) bool {
	run := s.Run()
	if s.UserTree != nil {
		return true // the agent worked in the user's own tree
	}
	if s.trusted == nil && s.Box == nil {
		return true // it worked in the user's own folder
	}
	if run.Stop == nil || run.Stop.Reason == policy.FatalError {
		return false
	}
	if s.isAborted() || isWorkUntaken(run) {
		return false
	}
	if s.Box != nil {
		return s.isAllDelivered(ctx, run)
	}
	if run.Dirty {
		return false
	}
	if run.Head == run.Start || verdict.IsUnchanged(run) {
		return true // there is no work
	}
	return run.Published.Pushed == run.Head
}

func isWorkUntaken(run journal.Run) bool {
	n := len(run.Iterations)
	if n == 0 {
		return false
	}
	it := run.Iterations[n-1]
	if it.Taken != nil {
		return len(it.Taken.Refused) > 0
	}
	return it.Agent != nil || it.Ended == nil
}

func (s *activeRun) removeTrees(ctx context.Context) error {
	if s.KeepTrees {
		return nil
	}
	if s.canRemoveTrees(ctx) {
		return errors.Join(untrusted.RemoveAll(s.work), s.letGo(ctx))
	}
	if s.worksInClone() && s.Sandbox != nil {
		s.closeTree()
	}
	if s.Box != nil {
		s.Log("work that is not in your folder is in " + s.work)
		return nil
	}
	s.Log("work that was not pushed is saved in " + s.work)
	return nil
}

func (s *activeRun) recordBegin(ctx context.Context, asked NewRun) error {
	var err error
	asked.Base, asked.Start, err = s.startingCommits(ctx, asked)
	if err != nil {
		return err
	}
	if asked.Base == asked.Unfinished.Base && asked.Base != asked.Start {
		asked.Notes = append(asked.Notes, noteUnfinished(asked))
	}
	asked.Tree, asked.Work, err = s.startingTrees(ctx, asked)
	if err != nil {
		return err
	}
	asked, err = s.detectChecks(ctx, asked)
	if err != nil {
		return err
	}
	asked.Form = s.pullTemplate(ctx, asked)
	if err := s.Append(asked.RunBegan); err != nil {
		return err
	}
	for _, note := range asked.Notes {
		if err := s.Append(note); err != nil {
			return err
		}
	}
	return nil
}

// noteUnfinished explains why the commits of an earlier run count as work of this one.
func noteUnfinished(asked NewRun) journal.Noted {
	return journal.Noted{What: fmt.Sprintf(
		"the run %s of this branch did not complete, so all commits since %.7s are judged as this run's work; "+
			"`ralph resume` continues that run; "+
			"if its commits shall be the base, create a new branch first: git switch -c NAME",
		asked.Unfinished.ID, asked.Base,
	)}
}

// startingTrees returns the tree of the first commit, and that of the files as the agent finds
// them, which is not known yet if the project tracks the loop's memory.
func (s *activeRun) startingTrees(ctx context.Context, asked NewRun) (tree, work string, err error) {
	if s.trusted == nil {
		if s.UserTree == nil && s.Supervised == nil {
			return "", workspace.Fingerprint(ctx, s.Dir), nil
		}
		return "", asked.Work, nil
	}
	tree, err = s.trusted.TreeOf(ctx, asked.Start)
	if err != nil || asked.Work != "" {
		return tree, asked.Work, err
	}
	memory := path.Join(cmp.Or(asked.Policy.Memory, workspace.MemoryDir), "prd.json")
	if _, err := s.trusted.ReadFile(ctx, git.At{Commit: asked.Start, Path: memory}, 1<<20); err == nil {
		return tree, "", nil
	}
	return tree, tree, nil
}

// startingCommits returns the base, and where work begins: an earlier run's branch, or the base.
func (s *activeRun) startingCommits(ctx context.Context, asked NewRun) (base, start string, err error) {
	if s.UserTree != nil || s.trusted == nil {
		base, err = s.firstBase(ctx, asked.Base, asked.Unfinished)
		return base, asked.Base, err
	}
	base, err = s.trusted.Resolve(ctx, "refs/heads/"+asked.BaseRef)
	if err != nil {
		return "", "", err
	}
	start, err = s.trusted.Resolve(ctx, "refs/heads/"+asked.Branch)
	if errors.Is(err, git.ErrNotFound) {
		start, err = base, nil
	}
	if err != nil {
		return "", "", err
	}
	if !asked.Task.Update { // newer tests do not judge what lacks their code
		base, err = s.trusted.MergeBase(ctx, git.Span{From: base, To: start})
		if err != nil {
			return "", "", err
		}
	}
	base, err = s.firstBase(ctx, base, asked.Unfinished)
	return base, start, err
}

// firstBase returns the base of an unfinished run on the same branch, if its commits are still there: else its changes
// of tests would count as the base's.
func (s *activeRun) firstBase(ctx context.Context, base string, old journal.Run) (string, error) {
	if old.Base == "" || old.Head == "" || s.trusted == nil {
		return base, nil
	}
	for _, span := range []git.Span{{From: old.Head, To: base}, {From: old.Base, To: old.Head}} {
		if _, err := s.trusted.Resolve(ctx, span.From); errors.Is(err, git.ErrNotFound) {
			return base, nil
		}
		within, err := s.trusted.IsAncestor(ctx, span.From, span.To)
		if err != nil || !within {
			return base, err
		}
	}
	return old.Base, nil
}

func (s *activeRun) cleanCheckouts() *checkout.Clean {
	return &checkout.Clean{
		Home:    s.Git.Home,
		Dir:     filepath.Join(s.work, "clean"),
		Sandbox: s.Sandbox,
		Logs:    workspace.Folder{Path: s.home.Path},
		Log:     s.Log,
		Hand: check.Hand{
			Run:    s.Exec,
			Env:    s.CheckEnv,
			Grace:  s.Grace,
			Log:    s.home.CreateLinked,
			Veil:   s.Redact,
			Folder: s.logFolder(s.Run()),
			Began:  s.OnCheck,
		},
		Secrets: s.CheckSecrets,
		Kept:    s.Kept,
		InJob:   s.Run().Policy.SaveRun,
	}
}

const maxPullTemplate = 16 << 10

// pullTemplate returns nothing if no pull request will be opened or the template cannot be read.
func (s *activeRun) pullTemplate(ctx context.Context, asked NewRun) string {
	if s.trusted == nil || !asked.Policy.Publish || asked.Policy.NoPull || asked.Pull != nil {
		return ""
	}
	files, err := s.trusted.Files(ctx, asked.Base)
	if err != nil {
		return ""
	}
	name := view.PullTemplate(files)
	if name == "" {
		return ""
	}
	text, err := s.trusted.ReadFile(ctx, git.At{Commit: asked.Base, Path: name}, maxPullTemplate)
	if err != nil {
		s.Log("the template for pull requests was not read: " + fault.Told(err))
		return ""
	}
	return string(text)
}
