package git

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/ralph-loop/ralph/internal/git/guarded"
	"github.com/ralph-loop/ralph/internal/untrusted"
)

// Tree is a checkout with its own repository, in which someone else works. It
// borrows the trusted objects and cannot write back: only Trusted.Take takes
// its content over. Any program there may write anything into its .git; git
// runs there without a credential, by Run.
type Tree struct {
	Dir    string
	Author Identity // of what CommitAll commits; empty: ralph
	Run    Run      // how git runs inside; nil: as it does everywhere else
	Beside []string // slash paths within that are not work: Snapshot leaves them out

	git     Git
	own     *gitDir       // of the user's own tree; nil: Dir/.git, no matter what lies there
	needs   guarded.Needs // of the user's own tree
	ignore  string        // the user's own excludes file; empty: none
	endings []Setting     // how the user has lines end
	known   Standing      // its Head and Tree alone: that commit's tree is always the same
}

// Identity is who commits.
type Identity struct{ Name, Email string }

// Ralph is the default committer. The address belongs to an organization: GitHub links it to no user.
var Ralph = Identity{Name: "ralph", Email: "ralph-loop@users.noreply.github.com"}

func (i Identity) String() string { return i.Name + " <" + i.Email + ">" }

func (i Identity) env() []string {
	return []string{"GIT_AUTHOR_NAME=" + i.Name, "GIT_AUTHOR_EMAIL=" + i.Email, "GIT_COMMITTER_NAME=" + i.Name, "GIT_COMMITTER_EMAIL=" + i.Email}
}

// CloneSpec is where a tree is to grow, and from what.
type CloneSpec struct {
	Dir     string // absent or empty
	SHA     string
	Branch  string   // its HEAD; empty: detached, for a clean checkout
	Exclude []string // patterns to ignore besides those of the project
	Run     Run      // as Tree.Run
}

// Clone makes a repository of its own with SHA checked out.
func (t *Trusted) Clone(ctx context.Context, p CloneSpec) (*Tree, error) {
	if found, err := untrusted.ReadDir(p.Dir); len(found) > 0 || err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, errors.Join(fmt.Errorf("make a tree in %s: the folder is not empty", p.Dir), err)
	}
	tree, err := t.initTree(ctx, p)
	if err != nil {
		return nil, err
	}
	where := []string{"--detach"}
	if p.Branch != "" {
		where = []string{"--no-track", "-B", p.Branch}
	}
	if _, err := tree.Ask(ctx, append(append([]string{"checkout", "-q", "--force"}, where...), p.SHA)...); err != nil {
		return nil, fmt.Errorf("check out %s: %w", p.SHA, err)
	}
	return tree, nil
}

// Repair replaces a broken repository by a new one at SHA. The files stay.
func (t *Trusted) Repair(ctx context.Context, p CloneSpec) (*Tree, error) {
	if err := untrusted.RemoveAll(filepath.Join(p.Dir, ".git")); err != nil {
		return nil, fmt.Errorf("clear the broken repository: %w", err)
	}
	tree, err := t.initTree(ctx, p)
	if err != nil {
		return nil, err
	}
	head := "HEAD"
	if p.Branch != "" {
		head = BranchRef(p.Branch)
	}
	if _, err := tree.Ask(ctx, "update-ref", "--no-deref", head, p.SHA); err != nil {
		return nil, fmt.Errorf("stand at %s: %w", p.SHA, err)
	}
	if _, err := tree.Ask(ctx, "read-tree", "--reset", p.SHA); err != nil {
		return nil, fmt.Errorf("stand at %s: %w", p.SHA, err)
	}
	return tree, nil
}

// OpenTree takes up a tree that Grow made.
func (t *Trusted) OpenTree(dir string) (*Tree, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, fmt.Errorf("open the tree: %w", err)
	}
	// A missing repository is reported by the calls that need it, which can
	// blame the agent for it.
	if _, err := os.Stat(dir); err != nil {
		return nil, fmt.Errorf("open the tree: %w", err)
	}
	return &Tree{Dir: dir, git: t.git}, nil
}

// initTree makes the repository. All of it is written by git inside, as the user
// who works there: what the program wrote there itself could be led elsewhere
// by a link.
func (t *Trusted) initTree(ctx context.Context, p CloneSpec) (*Tree, error) {
	if err := CheckSHA(p.SHA); err != nil {
		return nil, err
	}
	if p.Branch != "" {
		if err := CheckBranch(p.Branch); err != nil {
			return nil, err
		}
	}
	if err := os.MkdirAll(p.Dir, 0o755); err != nil {
		return nil, fmt.Errorf("make a tree: %w", err)
	}
	tree, err := t.OpenTree(p.Dir)
	if err != nil {
		return nil, err
	}
	tree.Run = p.Run
	if err := t.initWithTemplate(ctx, tree, p); err != nil {
		return nil, fmt.Errorf("make a tree in %s: %w", p.Dir, err)
	}
	return tree, nil
}

// initWithTemplate passes all that the repository begins with as a template.
func (t *Trusted) initWithTemplate(ctx context.Context, tree *Tree, p CloneSpec) error {
	seed, err := os.MkdirTemp(t.Dir, "seed-")
	if err != nil {
		return err
	}
	defer untrusted.RemoveAll(seed) //nolint:errcheck // a few bytes in a folder of ours
	if err := t.writeTemplate(seed, p); err != nil {
		return err
	}
	branch := p.Branch
	if branch == "" {
		branch = "main" // only until HEAD is detached
	}
	// GIT_DIR would make it a bare one.
	args := []string{"init", "-q", "--template=" + seed, "--object-format=" + format(p.SHA), "--initial-branch=" + branch, "--", tree.Dir}
	if _, err = t.git.Do(ctx, Call{Args: args, Run: tree.Run}); err != nil {
		return err
	}
	return tree.protectAlternates()
}

// protectAlternates prevents mistakes of the agent; git copies a template without its modes.
func (t *Tree) protectAlternates() error {
	return untrusted.Folder{Path: filepath.Join(t.Dir, ".git")}.Do(func(inside *untrusted.Root) error { // no link leads out of it
		return inside.Chmod("objects/info/alternates", 0o444)
	})
}

func (t *Trusted) writeTemplate(seed string, p CloneSpec) error {
	if err := os.Chmod(seed, 0o755); err != nil { //nolint:gosec // the agent's git reads it
		return err
	}
	if err := shareObjects(seed, t.objects(), filepath.Join(t.Dir, "shallow")); err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Join(seed, "info"), 0o755); err != nil {
		return err
	}
	exclude := strings.Join(append([]string{}, p.Exclude...), "\n") + "\n"
	config := fmt.Sprintf("[user]\n\tname = %q\n\temail = %q\n", Ralph.Name, Ralph.Email)
	return errors.Join(
		publish(filepath.Join(seed, "info", "exclude"), exclude, 0o644),
		publish(filepath.Join(seed, "config"), config, 0o644),
	)
}

// Strays are the files that nothing tracks or ignores, as patterns by which git
// would ignore them. A folder of nothing else is one of them, with all that is
// in it.
func (t *Tree) Strays(ctx context.Context) ([]string, error) {
	quiet, err := t.disableFilters(ctx)
	if err != nil {
		return nil, err
	}
	args := []string{"ls-files", "--others", "--exclude-standard", "--directory", "--no-empty-directory", "-z"}
	out, err := quiet.Do(ctx, Call{Args: args})
	if err != nil {
		return nil, fmt.Errorf("look for stray files: %w", err)
	}
	var patterns []string
	for path := range strings.SplitSeq(string(out), "\x00") {
		if path != "" && !strings.ContainsAny(path, "\r\n") { // a pattern is a line
			patterns = append(patterns, "/"+plainly.Replace(path))
		}
	}
	return patterns, nil
}

// plainly quotes what git would take for a pattern.
var plainly = strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`, ` `, `\ `, "\t", "\\\t")

// Ignore makes git ignore more in a tree of ours, for every user of it.
func (t *Tree) Ignore(patterns []string) error {
	if len(patterns) == 0 {
		return nil
	}
	const name = "info/exclude"
	inside := untrusted.Folder{Path: t.gitDir().dir} // no link leads out of it
	there, err := inside.ReadFile(name, 1<<20)
	if err == nil {
		err = inside.WriteFile(name, append(there, strings.Join(patterns, "\n")+"\n"...), 0o644)
	}
	if err != nil {
		return fmt.Errorf("have files ignored: %w", err)
	}
	return nil
}
