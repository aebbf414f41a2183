package git

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/untrusted"
)

// Own is the user's repository as a tree to work in, when the agent works in
// the user's own files. What is committed by the program there is committed as
// the user, where git knows who that is, and without what the user ignores.
func (g Git) Own(ctx context.Context, at Place) (*Tree, error) {
	u := user{git: g, dir: at.Top}
	out, err := u.Ask(ctx, "rev-parse", "--path-format=absolute", "--absolute-git-dir", "--git-common-dir")
	dir, common, found := strings.Cut(out, "\n")
	if err != nil || !found {
		return nil, errors.Join(fmt.Errorf("find the repository of %s: %w", at.Top, errOddAnswer), err)
	}
	like := u.userConfig(ctx, g.User.files())
	own := gitDir{filepath.Clean(dir), filepath.Clean(common)}
	return &Tree{
		Dir: at.Top, Author: like.who(), git: g,
		own: &own, needs: g.needsOf(at, own), ignore: like.ignore(g.User), endings: like.endings(),
	}, nil
}

// TreeID is the tree of the commit that the tree stands at.
func (t *Tree) TreeID(ctx context.Context) (string, error) {
	sha, err := t.Ask(ctx, "rev-parse", "--verify", "-q", "HEAD^{tree}")
	if err != nil {
		return "", fmt.Errorf("read the tree of HEAD: %w", err)
	}
	return sha, CheckSHA(sha)
}

// Look is how the tree stands, as the hand-over of a tree apart would tell it:
// what was committed since last is the user's own already.
func (t *Tree) Look(ctx context.Context) (Standing, error) {
	s, err := t.Inspect(ctx)
	if err != nil {
		return Standing{}, err
	}
	return s.Standing(ctx)
}

// Standing is what Look gives.
func (s *Inspection) Standing(ctx context.Context) (Standing, error) {
	work, err := s.Work(ctx)
	return Standing{Head: s.Head, Tree: s.Tree, Work: work, Dirty: s.Dirty}, err
}

// Standing is how a tree stands.
type Standing struct {
	Head  string
	Tree  string // of Head
	Work  string // of the files as they are, uncommitted work included
	Dirty bool
}

// Exclude keeps patterns out of the user's commits without a change to any
// tracked file.
func (g Git) Exclude(ctx context.Context, at Place, patterns ...string) error {
	name, err := user{git: g, dir: at.Top}.Ask(ctx, "rev-parse", "--path-format=absolute", "--git-path", "info/exclude")
	if err != nil {
		return fmt.Errorf("find the exclude file of %s: %w", at.Top, err)
	}
	there, err := untrusted.ReadFile(name, 1<<20)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("read %s: %w", name, err)
	}
	lines := strings.Split(string(there), "\n")
	var more []string
	for _, pattern := range patterns {
		if !slices.Contains(lines, pattern) {
			more = append(more, pattern)
		}
	}
	if len(more) == 0 {
		return nil
	}
	text := strings.TrimRight(string(there), "\n") + "\n" + strings.Join(more, "\n") + "\n"
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		return fmt.Errorf("write %s: %w", name, err)
	}
	if err := untrusted.WriteFile(name, []byte(strings.TrimLeft(text, "\n")), 0o644); err != nil {
		return fmt.Errorf("write %s: %w", name, err)
	}
	return nil
}

// Strayed is why what a tree stands at is not the work that began at start on
// branch; empty where it is. Somebody may have checked out another branch
// there, or written history anew. Last is a commit that is known to hold start.
func (s *Inspection) Strayed(ctx context.Context, branch, start, last string) (string, error) {
	if s.branch != branch {
		return fmt.Sprintf("%s is not checked out any more: git switch %s brings it back", branch, branch), nil
	}
	if s.Head == start || s.Head == last {
		return "", nil
	}
	_, err := s.tree.Ask(ctx, "merge-base", "--is-ancestor", start, s.Head)
	if _, ok := Answered(err); ok {
		return fmt.Sprintf("its history no longer holds %.12s, where the run began: git reflog %s has what was there", start, branch), nil
	}
	return "", err
}

// Commission is what to commit in a user's own tree.
type Commission struct {
	Paths   []string // files and folders, from the top
	Message Message
	Config  string // the user's own configuration file, for who commits; empty: none
}

// Commit commits what stands at some paths and gives the new commit; HEAD when
// nothing differs there, or what does is ignored. Nothing else that is changed
// or staged gets in. No hook and no filter runs, and nothing is signed.
func (g Git) Commit(ctx context.Context, place Place, what Commission) (string, error) {
	dir, err := os.MkdirTemp(g.Home, "commit-")
	if err != nil {
		return "", fmt.Errorf("commit in %s: %w", place.Top, err)
	}
	defer untrusted.RemoveAll(dir) //nolint:errcheck // an index in a folder of ours
	c := committer{user: user{git: g, dir: place.Top}, index: filepath.Join(dir, "index"), config: what.Config}
	sha, err := c.commit(ctx, what)
	if err != nil {
		return "", fmt.Errorf("commit in %s: %w", place.Top, err)
	}
	return sha, nil
}

// committer commits in a user's tree by an index of its own, so that what the
// user has staged stays out of it.
type committer struct {
	user
	index          string
	config         string
	disableFilters []Setting
}

// aside is a call on the index of our own.
func (c committer) aside(ctx context.Context, args ...string) (string, error) {
	out, err := c.git.Do(ctx, Call{Args: args, Dir: c.dir, Set: c.disableFilters, Env: []string{"GIT_INDEX_FILE=" + c.index}})
	return strings.TrimSpace(string(out)), err
}

func (c committer) commit(ctx context.Context, what Commission) (string, error) {
	head, err := c.Ask(ctx, "rev-parse", "--verify", "-q", "HEAD^{commit}")
	if err != nil {
		return "", err
	}
	keys, err := c.git.Do(ctx, Call{Args: []string{"config", "--list", "-z", "--name-only"}, Dir: c.dir, Limit: 1 << 20})
	if err != nil {
		return "", err
	}
	c.disableFilters = withoutFilters(string(keys))
	tree, err := c.tree(ctx, what.Paths)
	if err != nil {
		return "", err
	}
	if old, err := c.Ask(ctx, "rev-parse", "HEAD^{tree}"); err != nil || old == tree {
		return head, err
	}
	sha, err := c.record(ctx, head, tree, what.Message)
	if err != nil {
		return "", err
	}
	// The branch moves only from where it stood when we looked.
	if _, err := c.Ask(ctx, "update-ref", "-m", "commit: "+OneLine(what.Message.Subject, 200), "HEAD", sha, head); err != nil {
		return "", err
	}
	// Of the user's own index only these paths; the files are as they should be.
	reset := append([]string{"reset", "-q", "--"}, literal(what.Paths)...)
	_, err = c.git.Do(ctx, Call{Args: reset, Dir: c.dir, Set: c.disableFilters})
	return sha, err
}

// tree is HEAD's with what stands at paths in the place of what stood there.
func (c committer) tree(ctx context.Context, paths []string) (string, error) {
	if _, err := c.aside(ctx, "read-tree", "HEAD"); err != nil {
		return "", err
	}
	for _, path := range literal(paths) {
		// 1 says that it is ignored: then it was never the repository's.
		if _, err := c.aside(ctx, "add", "--all", "--", path); err != nil && !SaidNo(err) {
			return "", err
		}
	}
	tree, err := c.aside(ctx, "write-tree")
	if err != nil {
		return "", err
	}
	return tree, CheckSHA(tree)
}

func (c committer) record(ctx context.Context, parent, tree string, m Message) (string, error) {
	return ObjectID(c.git.Do(ctx, Call{
		Args: []string{"commit-tree", "-p", parent, "-F", "-", tree}, Dir: c.dir, Env: c.owner(ctx).env(),
		Stdin: strings.NewReader(m.text()),
	}))
}

// owner is whom the user has commit; ralph where nobody is named.
func (c committer) owner(ctx context.Context) Identity {
	files := c.git.User.files()
	if c.config != "" {
		files = []string{c.config}
	}
	return c.userConfig(ctx, files).who().orRalph()
}

// literal makes pathspecs that mean the very paths.
func literal(paths []string) []string {
	var specs []string
	for _, path := range paths {
		specs = append(specs, ":(top,literal)"+path)
	}
	return specs
}
