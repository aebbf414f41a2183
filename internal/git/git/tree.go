package git

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/ralph-loop/ralph/internal/core/journal"
	"github.com/ralph-loop/ralph/internal/lib/untrusted"
)

// Tree is a checkout with its own repository, in which an agent works. It reads the trusted objects and cannot write to
// them: only handover.Take accepts its commits. Any program in the tree can write to its .git. git runs there by Run,
// without credentials.
type Tree struct {
	Dir    string
	Author Identity // of commits by CommitSnapshot; empty: ralph
	Run    Run      // how git runs in the tree; nil: as elsewhere
	Beside []string // slash paths in the tree that are not work: Work leaves them out

	repository

	known TreeState // cache of a Head and its Tree
}

// Identity is an author or committer.
type Identity struct{ Name, Email string }

// Ralph is the default committer. The address belongs to an organization: GitHub links it to no user.
var Ralph = Identity{Name: journal.Author, Email: "ralph-loop@users.noreply.github.com"}

func (i Identity) String() string { return i.Name + " <" + i.Email + ">" }

func (i Identity) env() []string {
	return []string{
		"GIT_AUTHOR_NAME=" + i.Name, "GIT_AUTHOR_EMAIL=" + i.Email,
		"GIT_COMMITTER_NAME=" + i.Name, "GIT_COMMITTER_EMAIL=" + i.Email,
	}
}

// CloneSpec describes a tree to make.
type CloneSpec struct {
	Dir     string // missing or empty
	SHA     string
	By      Identity // of the agent's own commits; default: ralph
	Branch  string   // branch to check out; empty: detached HEAD
	Exclude []string // patterns to ignore in addition to the project's
	Run     Run      // as Tree.Run
}

// Clone makes a tree with its own repository and SHA checked out.
func (t *Trusted) Clone(ctx context.Context, p CloneSpec) (*Tree, error) {
	found, err := untrusted.ReadDir(p.Dir)
	isUnreadable := err != nil && !errors.Is(err, os.ErrNotExist)
	if len(found) > 0 || isUnreadable {
		return nil, errors.Join(fmt.Errorf("make a tree in %s: the folder is not empty", p.Dir), err)
	}
	tree, err := t.initTree(ctx, p)
	if err != nil {
		return nil, err
	}
	checkout := []string{"checkout", "-q", "--force", "--detach", p.SHA}
	if p.Branch != "" {
		checkout = []string{"checkout", "-q", "--force", "--no-track", "-B", p.Branch, p.SHA}
	}
	if _, err := tree.Ask(ctx, checkout...); err != nil {
		return nil, fmt.Errorf("check out %s: %w", p.SHA, err)
	}
	return tree, nil
}

// ForgetSizes has git compare files by content, as a filter such as Git LFS sees it: another size would be a change.
func (t *Tree) ForgetSizes(ctx context.Context) error {
	_, err := t.Ask(ctx, "read-tree", "HEAD")
	return err
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
	if _, err := tree.Ask(ctx, "reset", "-q", "--no-refresh", p.SHA); err != nil {
		return nil, fmt.Errorf("move to %s: %w", p.SHA, err)
	}
	return tree, nil
}

// OpenTree opens a tree that Clone made.
func (t *Trusted) OpenTree(dir string) (*Tree, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, fmt.Errorf("open the tree: %w", err)
	}
	// Later calls report a missing repository: they can blame the agent.
	if _, err := os.Stat(dir); err != nil {
		return nil, fmt.Errorf("open the tree: %w", err)
	}
	at := filepath.Join(dir, ".git")
	settings := "[core]\n\trepositoryformatversion = 1\n\tlogallrefupdates = false\n" +
		"[extensions]\n\tobjectformat = " + t.format + "\n"
	repo, err := repository{git: t.git, top: dir, dir: at, common: at}.linked(t.Dir, settings)
	return &Tree{Dir: dir, repository: repo}, err
}

// initTree makes the repository. git writes all of it, as the agent's user: a
// symbolic link could redirect files that ralph wrote itself.
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

// initWithTemplate passes the initial files of the repository as a template.
func (t *Trusted) initWithTemplate(ctx context.Context, tree *Tree, p CloneSpec) error {
	seed, err := os.MkdirTemp(t.Dir, "seed-")
	if err != nil {
		return err
	}
	defer untrusted.RemoveAll(seed) //nolint:errcheck // a few bytes in ralph's own folder
	if err := t.writeTemplate(seed, p); err != nil {
		return err
	}
	branch := p.Branch
	if branch == "" {
		branch = "main" // only until HEAD is detached
	}
	// With GIT_DIR, git would make a bare repository.
	args := []string{
		"init", "-q", "--template=" + seed, "--object-format=" + format(p.SHA), "--initial-branch=" + branch,
		"--", tree.Dir,
	}
	_, err = t.git.Do(ctx, Call{Args: args, Run: tree.Run})
	return err
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
	exclude := strings.Join(p.Exclude, "\n") + "\n"
	if err := publish(filepath.Join(seed, "info", "exclude"), exclude, 0o644); err != nil {
		return err
	}
	by := cmp.Or(p.By, Ralph)
	config := fmt.Sprintf("[user]\n\tname = %q\n\temail = %q\n", by.Name, by.Email)
	return publish(filepath.Join(seed, "config"), config, 0o644)
}

// Untracked returns patterns that ignore the untracked files. A folder with only untracked files is one pattern.
func (t *Tree) Untracked(ctx context.Context) ([]string, error) {
	s, err := t.Inspect(ctx)
	if err != nil {
		return nil, err
	}
	var patterns []string
	for _, e := range s.found {
		if e.kind != kindUntracked {
			continue
		}
		if pattern := Pattern(e.path); pattern != "" {
			patterns = append(patterns, pattern)
		}
	}
	return patterns, nil
}

// Pattern returns the pattern that ignores a path of the top folder and no other; empty: there is none.
func Pattern(name string) string {
	if strings.ContainsAny(name, "\r\n") {
		return ""
	}
	return "/" + escapePattern.Replace(name)
}

// escapePattern escapes special characters of ignore patterns.
var escapePattern = strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`, ` `, `\ `, "\t", "\\\t")
