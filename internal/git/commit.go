package git

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/ralph-loop/ralph/internal/untrusted"
)

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
	index  string
	config string
	tame   []Setting
}

// aside is a call on the index of our own.
func (c committer) aside(ctx context.Context, args ...string) (string, error) {
	out, err := c.git.Do(ctx, Call{Args: args, Dir: c.dir, Set: c.tame, Env: []string{"GIT_INDEX_FILE=" + c.index}})
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
	c.tame = withoutFilters(string(keys))
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
	_, err = c.git.Do(ctx, Call{Args: reset, Dir: c.dir, Set: c.tame})
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
	return c.taste(ctx, files).who().orRalph()
}

// literal makes pathspecs that mean the very paths.
func literal(paths []string) []string {
	var specs []string
	for _, path := range paths {
		specs = append(specs, ":(top,literal)"+path)
	}
	return specs
}
