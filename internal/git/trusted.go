package git

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// Trusted is a bare repository of the program's own. Nothing gets into it
// unexamined, and it is the only one that credentials are used with. Agents
// read its objects, so its folder must be readable inside a wall; never
// writable.
type Trusted struct {
	Dir string

	// Doubted: those inside write to the store that this one borrows from. What was
	// read there holds for now, and what a commit descends from is not believed:
	// another content of one that nobody vouches for says otherwise.
	Doubted bool

	git  Git
	lent []string // the stores that it borrows from
}

// TakenRef is the private ref that keeps what was handed over from being pruned.
const TakenRef = "refs/ralph/head"

// Git is the git that runs there.
func (t *Trusted) Git() Git { return t.git }

// Open takes up a repository that Mirror or Borrow made.
func (g Git) Open(dir string) (*Trusted, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", dir, err)
	}
	if _, err := os.Stat(filepath.Join(dir, "objects")); err != nil {
		return nil, fmt.Errorf("open the trusted repository: %w", err)
	}
	return &Trusted{Dir: dir, git: g}, nil
}

// Init makes dir a bare repository, or leaves it one.
func (g Git) Init(ctx context.Context, dir, format string) (*Trusted, error) {
	// Others may read it whatever our umask: the agent is another user.
	args := []string{"init", "-q", "--bare", "--shared=0644", "--template=", "--object-format=" + format, "--", dir}
	if _, err := g.Do(ctx, Call{Args: args}); err != nil {
		return nil, fmt.Errorf("make a repository in %s: %w", dir, err)
	}
	return g.Open(dir)
}

// Do runs git in the repository.
func (t *Trusted) Do(ctx context.Context, c Call) ([]byte, error) {
	c.Env = append([]string{"GIT_DIR=" + t.Dir}, c.Env...)
	return t.git.Do(ctx, c)
}

// Ask is what git prints there, without the end of its line.
func (t *Trusted) Ask(ctx context.Context, args ...string) (string, error) {
	return printed(t.Do(ctx, Call{Args: args}))
}

// printed is what git printed, without the end of its line.
func printed(out []byte, err error) (string, error) {
	return strings.TrimSuffix(string(out), "\n"), err
}

// UpdateRef has a ref stand at a commit.
func (t *Trusted) UpdateRef(ctx context.Context, ref, sha string) error {
	if err := CheckSHA(sha); err != nil {
		return err
	}
	_, err := t.Ask(ctx, "update-ref", ref, sha)
	return err
}

// DeleteRef removes a ref, which need not be there.
func (t *Trusted) DeleteRef(ctx context.Context, ref string) error {
	_, err := t.Ask(ctx, "update-ref", "-d", ref)
	return err
}

func (t *Trusted) objects() string { return filepath.Join(t.Dir, "objects") }
