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

// create makes dir a bare repository, or leaves it one.
func (g Git) create(ctx context.Context, dir, format string) (*Trusted, error) {
	// Others may read it whatever our umask: the agent is another user.
	args := []string{"init", "-q", "--bare", "--shared=0644", "--template=", "--object-format=" + format, "--", dir}
	if _, err := g.do(ctx, call{args: args}); err != nil {
		return nil, fmt.Errorf("make a repository in %s: %w", dir, err)
	}
	return g.Open(dir)
}

// do runs git in the repository.
func (t *Trusted) do(ctx context.Context, c call) ([]byte, error) {
	c.env = append([]string{"GIT_DIR=" + t.Dir}, c.env...)
	return t.git.do(ctx, c)
}

func (t *Trusted) ask(ctx context.Context, args ...string) (string, error) {
	return printed(t.do(ctx, call{args: args}))
}

// printed is what git printed, without the end of its line.
func printed(out []byte, err error) (string, error) {
	return strings.TrimSuffix(string(out), "\n"), err
}

func (t *Trusted) set(ctx context.Context, ref, sha string) error {
	if err := checkSHA(sha); err != nil {
		return err
	}
	_, err := t.ask(ctx, "update-ref", ref, sha)
	return err
}

func (t *Trusted) forget(ctx context.Context, ref string) error {
	_, err := t.ask(ctx, "update-ref", "-d", ref)
	return err
}

func (t *Trusted) objects() string { return filepath.Join(t.Dir, "objects") }
