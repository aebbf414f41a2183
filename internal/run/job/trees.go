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
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/box/handover"
	"github.com/ralph-loop/ralph/internal/core/journal"
	"github.com/ralph-loop/ralph/internal/core/policy"
	"github.com/ralph-loop/ralph/internal/git/git"
	"github.com/ralph-loop/ralph/internal/git/workspace"
	"github.com/ralph-loop/ralph/internal/lib/untrusted"
)

// trees has the run's repository and the tree in which agents and checks work. It takes over what agents left there.
type trees struct {
	*records
	work     string       // the folder of the run's trees
	trusted  *git.Trusted // ralph's own repository; nil: nothing is handed over or proven
	snapshot agentSnapshot
}

// LoopFiles returns the loop's memory in a project. A change of these files alone is no work.
func LoopFiles(p policy.Policy) []string {
	if p.Done != policy.ByStories {
		return nil
	}
	folder := path.Clean(cmp.Or(p.Memory, workspace.MemoryDir))
	if folder == "." {
		return workspace.Memory{Dir: folder}.Files()
	}
	return []string{folder}
}

// tree returns where the agent works: the user's checkout, or a clone of its own. It is nil
// for a folder without a repository.
func (s *trees) tree(ctx context.Context) (*git.Tree, error) {
	if s.UserTree != nil {
		s.UserTree.Beside = LoopFiles(s.Run().Policy)
		return s.UserTree, nil
	}
	if s.Dir != "" {
		return nil, nil //nolint:nilnil // no repository
	}
	tree, err := s.clone(ctx)
	if err != nil {
		return nil, err
	}
	if s.Box != nil {
		tree.Author = s.Box.Place.Identity()
	}
	return tree, nil
}

func (s *trees) worksInClone() bool { return s.UserTree == nil && s.Dir == "" }

// folder returns the folder of tree, or the one without a repository.
func (s *trees) folder(ctx context.Context) (string, error) {
	tree, err := s.tree(ctx)
	if err != nil || tree == nil {
		return s.Dir, err
	}
	return tree.Dir, nil
}

// takeSnapshot is called before checks, which may write files. It reports that all is committed.
func (s *trees) takeSnapshot(ctx context.Context, run journal.Run) bool {
	tree, err := s.tree(ctx)
	if err != nil || tree == nil {
		return false
	}
	s.snapshot = s.snapshot.update(ctx, run, tree)
	return s.snapshot.committed
}

// commitLeftovers returns the tree's new state, if known. In the user's tree, nothing is committed on another branch.
func (s *trees) commitLeftovers(ctx context.Context, run journal.Run) (*git.Inspection, error) {
	tree, err := s.tree(ctx)
	if err != nil || tree == nil {
		return nil, err
	}
	if s.UserTree != nil {
		if err := checkOn(ctx, tree.Do, run.Branch); err != nil {
			return nil, err
		}
	}
	return s.snapshot.commitLeftovers(ctx, run, tree)
}

// newCommits takes the agent's commits. seen may hold what an earlier look at the tree found.
func (s *trees) newCommits(ctx context.Context, run journal.Run, seen *git.Inspection) (journal.CommitsTaken, error) {
	tree, err := s.tree(ctx)
	switch {
	case err != nil:
		return journal.CommitsTaken{}, err
	case tree == nil: // ralph only sees changes
		return journal.CommitsTaken{Work: workspace.Fingerprint(ctx, s.Dir)}, nil
	case s.UserTree != nil:
		return s.takeFromCheckout(ctx, run, seen)
	}
	return s.takeFromClone(ctx, run, tree, seen)
}

// clone moves the clone into place when it is complete.
func (s *trees) clone(ctx context.Context) (*git.Tree, error) {
	dir := filepath.Join(s.work, "tree")
	if _, err := os.Stat(dir); err == nil {
		return s.openTree(dir)
	}
	young := dir + ".new"
	if err := s.makeEmptyDir(ctx, young); err != nil {
		return nil, fmt.Errorf("clear %s: %w", young, err)
	}
	if err := untrusted.RemoveAll(s.home.File(setupMarker)); err != nil {
		return nil, fmt.Errorf("clear %s: %w", young, err)
	}
	spec, err := s.cloneSpec(ctx, s.Run(), young)
	if err != nil {
		return nil, err
	}
	tree, err := s.trusted.Clone(ctx, spec)
	if err != nil {
		return nil, err
	}
	if s.Box != nil {
		if err := s.fillBox(ctx, young); err != nil {
			return nil, err
		}
		if err := tree.ForgetSizes(ctx); err != nil {
			return nil, err
		}
	}
	if err := os.Rename(young, dir); err != nil {
		return nil, fmt.Errorf("move the agent's tree into place: %w", err)
	}
	return s.openTree(dir)
}

func (s *trees) openTree(dir string) (*git.Tree, error) {
	if err := reopenTree(dir); err != nil {
		return nil, fmt.Errorf("open the agent's tree: %w", err)
	}
	tree, err := s.trusted.OpenTree(dir)
	if err != nil {
		return nil, err
	}
	tree.Beside = LoopFiles(s.Run().Policy)
	tree.Run = gitInside(s.Sandbox, s.Git.Home, dir, s.trusted)
	return tree, nil
}

func (s *trees) cloneSpec(ctx context.Context, run journal.Run, dir string) (git.CloneSpec, error) {
	var spec git.CloneSpec
	if s.Box != nil {
		var err error
		spec, err = s.Box.cloneSpec(ctx)
		if err != nil {
			return spec, err
		}
	}
	spec.Dir = dir
	spec.Branch = run.Branch
	spec.SHA = run.Head
	spec.Run = gitInside(s.Sandbox, s.Git.Home, dir, s.trusted)
	for _, folder := range LoopFiles(run.Policy) {
		spec.Exclude = append(spec.Exclude, "/"+folder)
	}
	return spec, nil
}

func (s *trees) takeFromClone(
	ctx context.Context,
	run journal.Run,
	tree *git.Tree,
	seen *git.Inspection,
) (journal.CommitsTaken, error) {
	taken, err := handover.Take(ctx, s.trusted, tree, seen, handover.Terms{
		Base:    run.Base,
		Last:    run.Head,
		Protect: run.Policy.Protect,
		Secret:  s.HasSecret,
		Authorship: handover.Authorship{
			By:       tree.Author,
			Since:    run.Clock.Began,
			Until:    s.Now(),
			Trailers: leftoversMessage(run, "").Trailers,
			SignOff:  run.Policy.SignOff,
		},
	})
	if err != nil {
		return taken, err
	}
	s.snapshot.separateCheckFiles(ctx, run, tree, &taken)
	taken.Proposed = s.proposals(ctx, tree.Dir, taken)
	return taken, nil
}

// follow makes rewritten commits the history of the agent's clone, too. They are on record by then: after a kill, the
// next hand-over would not find the protected files in the clone any more, and nothing would name them.
func (s *trees) follow(
	ctx context.Context,
	run journal.Run,
	seen *git.Inspection,
	taken journal.CommitsTaken,
) error {
	if !s.worksInClone() {
		return nil
	}
	if seen != nil && seen.Head == taken.To {
		return nil
	}
	tree, err := s.tree(ctx)
	if err != nil {
		return err
	}
	if len(taken.Refused) > 0 { // the agent continues with its own commits
		return s.repair(ctx, run, tree)
	}
	err = tree.Reset(ctx, taken.To)
	if _, failed := git.Answered(err); failed && ctx.Err() == nil { // the agent may have broken its repository
		run.Head = taken.To
		return s.renew(ctx, run, tree)
	}
	return err
}

func (s *trees) resetTo(ctx context.Context, to string) error {
	dir := filepath.Join(s.work, "tree")
	if _, err := os.Stat(dir); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	tree, err := s.openTree(dir)
	if err != nil {
		return err
	}
	s.snapshot = agentSnapshot{} // of other files
	return tree.Reset(ctx, to)
}

func (s *trees) repair(ctx context.Context, run journal.Run, tree *git.Tree) error {
	head, err := tree.Head(ctx)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err == nil && len(head) == len(run.Head) {
		return nil
	}
	return s.renew(ctx, run, tree)
}

// renew replaces the agent's repository by a new one at the run's head. The files stay.
func (s *trees) renew(ctx context.Context, run journal.Run, tree *git.Tree) error {
	s.snapshot = agentSnapshot{} // of the broken repository
	spec, err := s.cloneSpec(ctx, run, tree.Dir)
	if err != nil {
		return err
	}
	strays, _ := s.readSetupMarker()
	spec.Exclude = append(spec.Exclude, strays...)
	_, err = s.trusted.Repair(ctx, spec)
	return err
}

// closeTree keeps people out of the tree: git would run programs that the agent's git settings
// name. It starts no program itself, as none starts after a second signal.
func (s *trees) closeTree() {
	dir := filepath.Join(s.work, "tree")
	if info, err := os.Lstat(dir); err != nil || !info.IsDir() {
		return
	}
	if err := os.Chmod(dir, 0); err != nil {
		s.Log("do not go to " + dir + ": the agent wrote its git settings, and they can run programs")
		return
	}
	s.Log("the agent wrote the git settings of " + dir +
		", and they can run programs: it is closed, and chmod 755 opens it")
}

// reopenTree opens a tree that was closed, for the agent.
func reopenTree(dir string) error {
	info, err := os.Lstat(dir)
	if err != nil {
		return err
	}
	if !info.IsDir() || info.Mode().Perm() != 0 {
		return nil
	}
	return os.Chmod(dir, 0o755) //nolint:gosec // as it was made
}

func (s *trees) takeFromCheckout(
	ctx context.Context,
	run journal.Run,
	seen *git.Inspection,
) (journal.CommitsTaken, error) {
	if seen == nil {
		var err error
		seen, err = s.UserTree.Inspect(ctx)
		if err != nil {
			return journal.CommitsTaken{}, err
		}
	}
	state, err := seen.State(ctx)
	if err != nil {
		return journal.CommitsTaken{}, err
	}
	taken := journal.CommitsTaken{
		From:  run.Head,
		To:    state.Head,
		Tree:  state.Tree,
		Work:  state.Work,
		Dirty: state.Dirty,
		Huge:  seen.Huge(ctx),
	}
	s.snapshot.separateCheckFiles(ctx, run, s.UserTree, &taken)
	if s.trusted == nil {
		return taken, nil
	}
	why, err := seen.WhyDiverged(ctx, run.Branch, run.Start, run.Head)
	if err != nil {
		return taken, err
	}
	if why != "" {
		taken.To = run.Head
		taken.Tree = run.Tree
		taken.Refused = []journal.Finding{{Commit: state.Head, Why: why}}
	}
	if taken.From == taken.To {
		return taken, nil
	}
	taken.Commits, err = s.trusted.Log(ctx, git.Span{From: taken.From, To: taken.To})
	return taken, err
}

// changedFiles differ from the base. It returns nothing if no check has paths.
func (s *trees) changedFiles(ctx context.Context, run journal.Run) (names []string, known bool, err error) {
	hasPaths := func(check policy.Check) bool { return check.Paths != "" }
	if run.Base == "" || !slices.ContainsFunc(run.Policy.Checks, hasPaths) {
		return nil, false, nil
	}
	tree, err := s.tree(ctx)
	if err != nil || tree == nil {
		return nil, false, err
	}
	state, err := tree.Look(ctx)
	if err != nil {
		return nil, false, err
	}
	printed, err := tree.Ask(ctx, "diff-tree", "-r", "-z", "--name-only", "--no-renames", run.Base, state.Work)
	return strings.Split(printed, "\x00"), true, err
}

func (s *trees) diff(ctx context.Context, run journal.Run, limit int) (string, error) {
	tree, err := s.tree(ctx)
	if err != nil || tree == nil {
		return "", err
	}
	text, _, err := tree.Diff(ctx, run.Start, limit)
	return text, err
}
