package job

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/box/box"
	"github.com/ralph-loop/ralph/internal/box/confine"
	"github.com/ralph-loop/ralph/internal/box/sandbox"
	"github.com/ralph-loop/ralph/internal/core/journal"
	"github.com/ralph-loop/ralph/internal/core/policy"
	"github.com/ralph-loop/ralph/internal/git/git"
	"github.com/ralph-loop/ralph/internal/git/workspace"
	"github.com/ralph-loop/ralph/internal/lib/untrusted"
)

// Code is where the code comes from, and where the agent works on it.
type Code struct {
	// Origin makes dir ralph's own repository, with the base and the branch if it exists. If dir is
	// one already, it fetches again. nil: nothing is handed over and nothing proven.
	Origin   func(ctx context.Context, dir, base, branch string) (*git.Trusted, error)
	UserTree *git.Tree   // in which the agent works; nil: it has its own clone
	Dir      string      // in which the agent works if there is no repository
	Box      *UserFolder // to which the work goes from a box; nil: the agent works there, or the work is pushed
	Project  string      // holds people's files for the loop, such as prompt.md; empty in the Action
}

// repository is ralph's own.
type repository struct {
	origin  func(ctx context.Context, dir, base, branch string) (*git.Trusted, error)
	work    string       // the folder of the run's trees
	trusted *git.Trusted // nil: nothing is handed over or proven
}

func (r *repository) fetch(ctx context.Context, base, branch string) error {
	if r.origin == nil {
		return nil
	}
	fetched, err := r.origin(ctx, filepath.Join(r.work, "trusted.git"), base, branch)
	if err != nil {
		return err // what was fetched before still has the work
	}
	r.trusted = fetched
	return nil
}

// agentTree is the tree in which agents and checks work: a clone, the user's own checkout, or a folder without a
// repository.
type agentTree struct {
	code      Code
	machine   *Machine
	record    *record
	repo      *repository
	hasSecret func(text []byte) bool // nil: there are no secrets
	snapshot  agentSnapshot
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

// open returns where the agent works: the user's checkout, or a clone of its own. It is nil for a folder without a
// repository.
func (t *agentTree) open(ctx context.Context) (*git.Tree, error) {
	if t.code.UserTree != nil {
		t.code.UserTree.Beside = LoopFiles(t.record.Run().Policy)
		return t.code.UserTree, nil
	}
	if t.code.Dir != "" {
		return nil, nil //nolint:nilnil // no repository
	}
	tree, err := t.clone(ctx)
	if err != nil {
		return nil, err
	}
	if t.code.Box != nil {
		tree.Author = t.code.Box.Place.Identity()
	}
	return tree, nil
}

func (t *agentTree) worksInClone() bool { return t.code.UserTree == nil && t.code.Dir == "" }

// folder returns the folder of the tree, or the one without a repository.
func (t *agentTree) folder(ctx context.Context) (string, error) {
	tree, err := t.open(ctx)
	if err != nil || tree == nil {
		return t.code.Dir, err
	}
	return tree.Dir, nil
}

// clone moves the clone into place when it is complete.
func (t *agentTree) clone(ctx context.Context) (*git.Tree, error) {
	if _, err := os.Stat(t.dir()); err == nil {
		return t.reopen()
	}
	young := t.dir() + ".new"
	if err := t.makeEmptyDir(ctx, young); err != nil {
		return nil, err
	}
	if err := untrusted.RemoveAll(t.record.home.File(setupMarker)); err != nil {
		return nil, fmt.Errorf("forget that setup is done: %w", err)
	}
	spec, err := t.cloneSpec(ctx, t.record.Run(), young)
	if err != nil {
		return nil, err
	}
	tree, err := t.repo.trusted.Clone(ctx, spec)
	if err != nil {
		return nil, err
	}
	if t.code.Box != nil {
		if err := t.fillBox(ctx, young); err != nil {
			return nil, err
		}
		if err := tree.ForgetSizes(ctx); err != nil {
			return nil, err
		}
	}
	if err := os.Rename(young, t.dir()); err != nil {
		return nil, fmt.Errorf("move the agent's tree into place: %w", err)
	}
	return t.reopen()
}

// dir is that of a clone, or of a box without a repository.
func (t *agentTree) dir() string { return filepath.Join(t.repo.work, "tree") }

func (t *agentTree) reopen() (*git.Tree, error) {
	dir := t.dir()
	if err := unlock(dir); err != nil {
		return nil, fmt.Errorf("open the agent's tree: %w", err)
	}
	tree, err := t.repo.trusted.OpenTree(dir)
	if err != nil {
		return nil, err
	}
	tree.Beside = LoopFiles(t.record.Run().Policy)
	tree.Run = gitInside(t.machine.Sandbox, t.machine.Git.Home, dir, t.repo.trusted)
	return tree, nil
}

func (t *agentTree) cloneSpec(ctx context.Context, run journal.Run, dir string) (git.CloneSpec, error) {
	var spec git.CloneSpec
	if t.code.Box != nil {
		var err error
		spec, err = t.code.Box.cloneSpec(ctx)
		if err != nil {
			return spec, err
		}
	}
	spec.Dir = dir
	spec.Branch = run.Branch
	spec.SHA = run.Head
	spec.Run = gitInside(t.machine.Sandbox, t.machine.Git.Home, dir, t.repo.trusted)
	for _, folder := range LoopFiles(run.Policy) {
		spec.Exclude = append(spec.Exclude, "/"+folder)
	}
	return spec, nil
}

// move brings an agent's clone to commits that others made, or that were signed.
func (t *agentTree) move(ctx context.Context, from, to string) error {
	if !t.worksInClone() || from == to {
		return nil
	}
	if _, err := os.Stat(t.dir()); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	tree, err := t.reopen()
	if err != nil {
		return err
	}
	t.snapshot = agentSnapshot{} // of other files
	return tree.Reset(ctx, to)
}

// renew replaces the agent's repository by a new one at the run's head. The files stay.
func (t *agentTree) renew(ctx context.Context, run journal.Run, tree *git.Tree) error {
	t.snapshot = agentSnapshot{} // of the broken repository
	spec, err := t.cloneSpec(ctx, run, tree.Dir)
	if err != nil {
		return err
	}
	strays, _ := t.readSetupMarker()
	spec.Exclude = append(spec.Exclude, strays...)
	_, err = t.repo.trusted.Repair(ctx, spec)
	return err
}

// closeTree keeps people out of the tree: git would run programs that settings of the agent name, also of repositories
// within. It starts no program itself, as none starts after a second signal.
func (t *agentTree) closeTree() {
	dir := t.dir()
	if info, err := os.Lstat(dir); err != nil || !info.IsDir() {
		return
	}
	if err := os.Chmod(dir, 0); err != nil {
		t.record.log("do not use git in " + dir + ": it may run programs that an agent left there")
		return
	}
	t.record.log(dir + " is closed, as git may run programs that an agent left there: chmod 755 opens it")
}

// unlock opens a tree that was closed, for the agent.
func unlock(dir string) error {
	info, err := os.Lstat(dir)
	if err != nil {
		return err
	}
	if !info.IsDir() || info.Mode().Perm() != 0 {
		return nil
	}
	return os.Chmod(dir, 0o755) //nolint:gosec // as it was made
}

// setupMarker is the file that records the end of setup, and which files git ignores since.
const setupMarker = "tree.ready"

func (t *agentTree) readSetupMarker() (untracked []string, ok bool) {
	data, err := untrusted.ReadFile(t.record.home.File(setupMarker), 64<<20)
	if err != nil {
		return nil, false
	}
	err = json.Unmarshal(data, &untracked)
	return untracked, err == nil
}

func (t *agentTree) writeSetupMarker(untracked []string) error {
	data, err := json.Marshal(append([]string{}, untracked...))
	if err != nil {
		return fmt.Errorf("note that the tree is ready: %w", err)
	}
	if err := untrusted.WriteFile(t.record.home.File(setupMarker), data, 0o600); err != nil {
		return fmt.Errorf("note that the tree is ready: %w", err)
	}
	return nil
}

func (t *agentTree) box() box.Box {
	return box.Box{
		User:   t.code.Box.Top,
		Dir:    t.dir(),
		Before: t.record.home.File(BeforeFolder),
		Record: t.record.home.File("delivered.json"),
		Upper:  filepath.Join(t.repo.work, "layers"),
	}
}

// fillBox makes the agent's folder equal to the user's.
func (t *agentTree) fillBox(ctx context.Context, dir string) error {
	b := t.box()
	b.Dir = dir
	var memory []string
	run := t.record.Run()
	if run.Policy.Done == policy.ByStories {
		memory = workspace.Memory{Dir: memoryDir(run)}.Files()
	}
	if err := t.code.Box.fill(ctx, b, t.machine.Sandbox, memory...); err != nil {
		return err
	}
	if err := checkFolder(projectDir(run, dir)); err != nil {
		return err
	}
	return workspace.MarkBox(filepath.Dir(t.machine.Folder.Path), dir)
}

// fillFolder makes the folder of a box where there is no repository.
func (t *agentTree) fillFolder(ctx context.Context) error {
	if t.code.Box == nil || t.code.Box.Place != nil {
		return nil
	}
	t.code.Dir = t.dir()
	if _, err := os.Stat(t.code.Dir); err == nil {
		return nil
	}
	young := t.code.Dir + ".new"
	if err := t.makeEmptyDir(ctx, young); err != nil {
		return err
	}
	if err := t.fillBox(ctx, young); err != nil {
		return err
	}
	return os.Rename(young, t.code.Dir)
}

func (t *agentTree) commandRunner(dir string) sandbox.Exec { return t.runnerWith(dir, false) }

func (t *agentTree) runnerWith(dir string, setup bool) sandbox.Exec {
	if t.machine.Sandbox == nil {
		return t.machine.Exec
	}
	access := t.access(dir)
	access.Setup = setup
	return t.machine.Sandbox.Around(access)
}

// access is to the agent's folder. In a box, it has the path of the user's.
func (t *agentTree) access(dir string) confine.Access {
	if t.code.Box != nil && dir == t.dir() {
		return accessTo(t.box(), t.repo.trusted)
	}
	access := confine.Access{Write: []string{dir}}
	if t.repo.trusted != nil {
		access.Read = t.repo.trusted.Lent()
	}
	return access
}

func (t *agentTree) makeEmptyDir(ctx context.Context, dir string) error {
	if err := clearDir(dir); err != nil {
		return fmt.Errorf("clear %s: %w", dir, err)
	}
	return t.machine.Sandbox.Lend(ctx, dir, ".")
}

// changedFiles differ from the base. It returns nothing if no check has paths.
func (t *agentTree) changedFiles(ctx context.Context, run journal.Run) (names []string, known bool, err error) {
	hasPaths := func(check policy.Check) bool { return check.Paths != "" }
	if run.Base == "" || !slices.ContainsFunc(run.Policy.Checks, hasPaths) {
		return nil, false, nil
	}
	tree, err := t.open(ctx)
	if err != nil || tree == nil {
		return nil, false, err
	}
	state, err := tree.Look(ctx)
	if _, ok := git.Answered(err); ok { // as in diff: all checks run
		return nil, false, nil
	}
	if err != nil {
		return nil, false, err
	}
	printed, err := tree.Ask(ctx, "diff-tree", "-r", "-z", "--name-only", "--no-renames", run.Base, state.Work)
	return strings.Split(printed, "\x00"), true, err
}

func (t *agentTree) diff(ctx context.Context, run journal.Run, limit int) (string, error) {
	tree, err := t.open(ctx)
	if err != nil || tree == nil {
		return "", err
	}
	text, _, err := tree.Diff(ctx, run.Start, limit)
	if _, ok := git.Answered(err); ok { // the agent broke its repository, and the hand-over makes a new one
		return "", nil
	}
	return text, err
}
