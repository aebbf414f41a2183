package job

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"

	"github.com/ralph-loop/ralph/internal/git"
	"github.com/ralph-loop/ralph/internal/git/handover"
	"github.com/ralph-loop/ralph/internal/journal"
	"github.com/ralph-loop/ralph/internal/policy"
	"github.com/ralph-loop/ralph/internal/shell"
	"github.com/ralph-loop/ralph/internal/untrusted"
	"github.com/ralph-loop/ralph/internal/workspace"
)

type agentDir interface {
	folder(ctx context.Context) (string, error)
	// seen may hold what an earlier look at the tree found.
	takeCommits(ctx context.Context, run journal.Run, seen *git.Inspection) (journal.CommitsTaken, error)
	// takeSnapshot is called before the checks run, which may write files. It reports whether all is
	// committed.
	takeSnapshot(ctx context.Context, run journal.Run) (committed bool)
	// commitLeftovers returns the tree's new state, if known.
	commitLeftovers(ctx context.Context, run journal.Run) (*git.Inspection, error)
	// repository is nil for a folder without a repository.
	repository(ctx context.Context) (*git.Tree, error)
}

// chooseAgentDir prefers the user's checkout or plain folder to a clone.
func (s *activeRun) chooseAgentDir() agentDir {
	switch {
	case s.UserTree != nil:
		return &userCheckout{activeRun: s, tree: s.UserTree}
	case s.Dir != "":
		return plainFolder{dir: s.Dir}
	}
	return &clonedTree{activeRun: s}
}

// LoopFiles are the loop's memory in a project. A change of these files alone is no work.
func LoopFiles(p policy.Policy) []string {
	folder := path.Clean(cmp.Or(p.Memory, workspace.MemoryDir))
	switch {
	case p.Done != policy.ByStories:
		return nil
	case folder == ".":
		return workspace.Memory{Dir: folder}.Files()
	}
	return []string{folder}
}

type clonedTree struct {
	*activeRun
	snapshot agentSnapshot
	opened   *git.Tree // cached
}

func (a *clonedTree) folder(ctx context.Context) (string, error) {
	tree, err := a.tree(ctx)
	if err != nil {
		return "", err
	}
	return tree.Dir, nil
}

// tree moves the clone into place when it is complete.
func (a *clonedTree) tree(ctx context.Context) (*git.Tree, error) {
	dir := filepath.Join(a.work, "tree")
	if _, err := os.Stat(dir); err == nil {
		return a.openTree(dir)
	}
	young := dir + ".new"
	if err := errors.Join(a.makeEmptyDir(ctx, young), untrusted.RemoveAll(a.home.File(setupMarker))); err != nil {
		return nil, fmt.Errorf("clear %s: %w", young, err)
	}
	if _, err := a.trusted.Clone(ctx, a.cloneSpec(a.Run(), young)); err != nil {
		return nil, err
	}
	if err := os.Rename(young, dir); err != nil {
		return nil, fmt.Errorf("move the agent's tree into place: %w", err)
	}
	a.opened = nil // was the earlier tree
	return a.openTree(dir)
}

func (a *clonedTree) openTree(dir string) (_ *git.Tree, err error) {
	if a.opened == nil {
		if err := reopenTree(dir); err != nil {
			return nil, fmt.Errorf("open the agent's tree: %w", err)
		}
		if a.opened, err = a.trusted.OpenTree(dir); err != nil {
			return nil, err
		}
	}
	a.opened.Beside, a.opened.Run = LoopFiles(a.Run().Policy), a.gitRunner(dir)
	return a.opened, nil
}

func (a *clonedTree) cloneSpec(run journal.Run, dir string) git.CloneSpec {
	return git.CloneSpec{Dir: dir, Branch: run.Branch, SHA: run.Head, Exclude: []string{"/" + memoryDir(run) + "/"}, Run: a.gitRunner(dir)}
}

func (a *clonedTree) takeSnapshot(ctx context.Context, run journal.Run) bool {
	tree, err := a.tree(ctx)
	if err == nil {
		a.snapshot = a.snapshot.update(ctx, run, tree)
	}
	return err == nil && a.snapshot.committed
}

func (a *clonedTree) commitLeftovers(ctx context.Context, run journal.Run) (*git.Inspection, error) {
	tree, err := a.tree(ctx)
	if err != nil {
		return nil, err
	}
	return a.snapshot.commitLeftovers(ctx, run, tree)
}

// Rewritten commits become the agent's history, too.
func (a *clonedTree) takeCommits(ctx context.Context, run journal.Run, seen *git.Inspection) (journal.CommitsTaken, error) {
	tree, err := a.tree(ctx)
	if err != nil {
		return journal.CommitsTaken{}, err
	}
	taken, err := handover.Take(ctx, a.trusted, tree, seen, handover.Terms{
		Base: run.Base, Last: run.Head, Protect: run.Policy.Protect, Secret: a.HasSecret,
		Authorship: handover.Authorship{Since: run.Began, Until: a.Now(), Trailers: leftoversMessage(run, "").Trailers, SignOff: run.Policy.SignOff},
	})
	if err != nil {
		return taken, err
	}
	a.snapshot.separateCheckFiles(ctx, run, tree, &taken)
	if len(taken.Refused) > 0 {
		return taken, a.repair(ctx, run, tree)
	}
	taken.Proposed = a.proposals(ctx, tree.Dir, taken)
	if seen != nil && seen.Head == taken.To {
		return taken, nil
	}
	err = tree.Reset(ctx, taken.To)
	if _, answered := git.Answered(err); answered && ctx.Err() == nil { // the agent may have broken its repository
		run.Head = taken.To
		err = a.renew(ctx, run, tree)
	}
	return taken, err
}

func (a *clonedTree) resetTo(ctx context.Context, to string) error {
	dir := filepath.Join(a.work, "tree")
	if _, err := os.Stat(dir); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	tree, err := a.openTree(dir)
	if err != nil {
		return err
	}
	a.snapshot = agentSnapshot{} // of other files
	return tree.Reset(ctx, to)
}

func (a *clonedTree) repair(ctx context.Context, run journal.Run, tree *git.Tree) error {
	head, err := tree.Head(ctx)
	if ctx.Err() != nil || err == nil && len(head) == len(run.Head) {
		return ctx.Err()
	}
	return a.renew(ctx, run, tree)
}

// renew replaces the agent's repository by a new one at the run's head. The files stay.
func (a *clonedTree) renew(ctx context.Context, run journal.Run, tree *git.Tree) error {
	a.snapshot, a.opened = agentSnapshot{}, nil // of the broken repository
	spec := a.cloneSpec(run, tree.Dir)
	strays, _ := a.readSetupMarker()
	spec.Exclude = append(spec.Exclude, strays...)
	_, err := a.trusted.Repair(ctx, spec)
	return err
}

// closeTree keeps people out of a tree that stays: the agent wrote its git settings, and a prompt that
// asks git runs what they name. It needs no program: after a second signal none starts any more.
func (a *clonedTree) closeTree() {
	dir := filepath.Join(a.work, "tree")
	if info, err := os.Lstat(dir); err != nil || !info.IsDir() {
		return
	}
	if err := os.Chmod(dir, 0); err != nil {
		a.Log("do not go to " + dir + ": the agent wrote its git settings, and they can run programs")
		return
	}
	a.Log("the agent wrote the git settings of " + dir + ", and they can run programs: it is closed, and chmod 755 opens it")
}

// reopenTree opens a tree that was closed, for the agent.
func reopenTree(dir string) error {
	if info, err := os.Lstat(dir); err != nil || !info.IsDir() || info.Mode().Perm() != 0 {
		return err
	}
	return os.Chmod(dir, 0o755) //nolint:gosec // as it was made
}

func (a *clonedTree) repository(ctx context.Context) (*git.Tree, error) { return a.tree(ctx) }

type userCheckout struct {
	*activeRun

	tree     *git.Tree
	snapshot agentSnapshot
}

func (o *userCheckout) folder(context.Context) (string, error) { return o.tree.Dir, nil }

func (o *userCheckout) takeSnapshot(ctx context.Context, run journal.Run) bool {
	o.tree.Beside = LoopFiles(run.Policy)
	o.snapshot = o.snapshot.update(ctx, run, o.tree)
	return o.snapshot.committed
}

func (o *userCheckout) commitLeftovers(ctx context.Context, run journal.Run) (*git.Inspection, error) {
	o.tree.Beside = LoopFiles(run.Policy)
	return o.snapshot.commitLeftovers(ctx, run, o.tree)
}

func (o *userCheckout) takeCommits(ctx context.Context, run journal.Run, seen *git.Inspection) (_ journal.CommitsTaken, err error) {
	o.tree.Beside = LoopFiles(run.Policy)
	var standing git.TreeState
	if seen == nil {
		seen, err = o.tree.Inspect(ctx)
	}
	if err == nil {
		standing, err = seen.State(ctx)
	}
	if failed, ok := git.Answered(err); ok && !failed.TimedOut { // the agent left it so
		why := fmt.Sprintf("git cannot read the tree: %s; git switch %s brings it back where HEAD names no commit", failed.Said, shell.Quote(run.Branch))
		return journal.CommitsTaken{From: run.Head, To: run.Head, Tree: run.Tree, Dirty: true, Refused: []journal.Finding{{Why: why}}}, nil
	}
	if err != nil {
		return journal.CommitsTaken{}, err
	}
	taken := journal.CommitsTaken{
		From: run.Head, To: standing.Head, Tree: standing.Tree, Work: standing.Work, Dirty: standing.Dirty, Huge: seen.Huge(ctx),
	}
	o.snapshot.separateCheckFiles(ctx, run, o.tree, &taken)
	if o.trusted == nil || taken.From == taken.To {
		return taken, nil
	}
	why, err := seen.WhyDiverged(ctx, run.Branch, run.Start, run.Head)
	if err != nil || why != "" {
		taken.To, taken.Tree, taken.Refused = run.Head, run.Tree, []journal.Finding{{Commit: standing.Head, Why: why}}
		return taken, err
	}
	taken.Commits, err = o.trusted.Log(ctx, git.Span{From: taken.From, To: taken.To})
	return taken, err
}

func (o *userCheckout) repository(context.Context) (*git.Tree, error) { return o.tree, nil }

// plainFolder has no repository: ralph only sees changes.
type plainFolder struct{ dir string }

func (b plainFolder) folder(context.Context) (string, error)       { return b.dir, nil }
func (plainFolder) takeSnapshot(context.Context, journal.Run) bool { return false }

func (plainFolder) repository(context.Context) (*git.Tree, error) {
	return nil, nil //nolint:nilnil // no repository
}

func (plainFolder) commitLeftovers(context.Context, journal.Run) (*git.Inspection, error) {
	return nil, nil //nolint:nilnil // nothing to commit
}

func (b plainFolder) takeCommits(ctx context.Context, _ journal.Run, _ *git.Inspection) (journal.CommitsTaken, error) {
	return journal.CommitsTaken{Work: workspace.Fingerprint(ctx, b.dir)}, nil
}
