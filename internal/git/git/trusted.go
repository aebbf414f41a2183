package git

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/ralph-loop/ralph/internal/lib/fault"
	"github.com/ralph-loop/ralph/internal/lib/shell"
	"github.com/ralph-loop/ralph/internal/lib/untrusted"
)

// Trusted is ralph's own bare repository. All content is examined before it gets in, and git uses credentials only
// here. Agents read its objects, so its folder is readable inside a sandbox, but never writable.
type Trusted struct {
	Dir string

	git    Git
	format string // of its objects
	lent   string // its alternate; empty: none
	cache  answerCache
}

// TakenRef is the private ref that protects accepted commits from pruning.
const TakenRef = "refs/ralph/head"

// Git returns the git that runs in the repository.
func (t *Trusted) Git() Git { return t.git }

// Open opens a repository that Init or Borrow made.
func (g Git) Open(dir string) (*Trusted, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", dir, err)
	}
	config, err := untrusted.ReadFile(filepath.Join(dir, "config"), maxOutput)
	if err != nil {
		return nil, fmt.Errorf("open the trusted repository: %w", err)
	}
	format := "sha1"
	if strings.Contains(string(config), "sha256") {
		format = "sha256"
	}
	return &Trusted{Dir: dir, git: g, format: format}, nil
}

// Init makes dir a bare repository. An existing one loses its settings.
func (g Git) Init(ctx context.Context, dir, format string) (*Trusted, error) {
	for _, name := range []string{"config", "config.worktree", "commondir", "shallow", "objects/info/alternates"} {
		if err := untrusted.RemoveAll(filepath.Join(dir, name)); err != nil {
			return nil, fmt.Errorf("make a repository in %s: %w", dir, err)
		}
	}
	// Other users can read it under any umask: the agent may be one.
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

// Ask runs git in the repository and returns its output without the final newline.
func (t *Trusted) Ask(ctx context.Context, args ...string) (string, error) {
	return trimNewline(t.Do(ctx, Call{Args: args, Memory: MaxMemory}))
}

func trimNewline(out []byte, err error) (string, error) {
	return strings.TrimSuffix(string(out), "\n"), err
}

// UpdateRef sets a ref to a commit.
func (t *Trusted) UpdateRef(ctx context.Context, ref, sha string) error {
	if err := CheckSHA(sha); err != nil {
		return err
	}
	_, err := t.Ask(ctx, "update-ref", ref, sha)
	return err
}

// DeleteRef deletes a ref, if it exists.
func (t *Trusted) DeleteRef(ctx context.Context, ref string) error {
	_, err := t.Ask(ctx, "update-ref", "-d", ref)
	return err
}

func (t *Trusted) objects() string { return filepath.Join(t.Dir, "objects") }

// OpenShared makes dir a repository that reads the objects of project's repository, and writes nothing there.
func (g Git) OpenShared(ctx context.Context, project, dir string) (*Trusted, error) {
	r, err := g.open(ctx, project)
	if err != nil {
		return nil, err
	}
	t, err := g.Init(ctx, dir, r.settings.format())
	if err != nil {
		return nil, err
	}
	return t, t.borrow(r.place())
}

// shareObjects makes objects an alternate of the repository dir, and copies where its history ends.
func shareObjects(dir, objects, shallow string) error {
	if strings.ContainsAny(objects, "\n") {
		return fmt.Errorf("borrow objects from %q: the path contains a newline", objects)
	}
	info := filepath.Join(dir, "objects", "info")
	if err := os.MkdirAll(info, 0o755); err != nil {
		return fmt.Errorf("borrow objects: %w", err)
	}
	if err := shareEnd(dir, shallow); err != nil {
		return err
	}
	return publish(filepath.Join(info, "alternates"), objects+"\n", 0o444)
}

func shareEnd(dir, shallow string) error {
	cut, err := untrusted.ReadFile(shallow, maxOutput)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return nil
	case err != nil:
		return fmt.Errorf("read where the history ends: %w", err)
	default:
		return publish(filepath.Join(dir, "shallow"), string(cut), 0o644)
	}
}

// publish writes a file that other users can read under any umask.
func publish(name, text string, mode os.FileMode) error {
	if err := os.Remove(name); err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("replace %s: %w", name, err)
	}
	if err := untrusted.WriteFile(name, []byte(text), mode); err != nil {
		return fmt.Errorf("write %s: %w", name, err)
	}
	return os.Chmod(name, mode)
}

// Borrow makes dir a repository with the HEAD, the objects and some branches of
// the user's repository. It writes nothing to the user's repository.
func (g Git) Borrow(ctx context.Context, from Place, dir string, branches ...string) (*Trusted, error) {
	// A box has the repository's objects alone.
	alternates := filepath.Join(from.common, "objects", "info", "alternates")
	if info, err := os.Lstat(alternates); err == nil && info.Size() > 0 {
		return nil, fault.Usage("the repository in "+from.Top+" takes objects from another one",
			"copy them: git repack -a -d && rm "+shell.Quote(alternates), nil)
	}
	t, err := g.Init(ctx, dir, from.settings.format())
	if err != nil {
		return nil, err
	}
	if err := t.borrow(from); err != nil {
		return nil, err
	}
	if err := t.UpdateRef(ctx, BranchRef(from.Branch), from.Head); err != nil {
		return nil, err
	}
	for _, branch := range branches {
		if branch == "" {
			continue
		}
		if err := t.borrowBranch(ctx, from, branch); err != nil {
			return nil, err
		}
	}
	_, err = t.Ask(ctx, "symbolic-ref", "HEAD", BranchRef(from.Branch))
	return t, err
}

func (t *Trusted) borrow(from Place) error {
	// In a box, the agent's own repository has the path of the user's.
	link := t.Dir + ".lent"
	if err := os.Remove(link); err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("borrow objects: %w", err)
	}
	if err := os.Symlink(filepath.Join(from.common, "objects"), link); err != nil {
		return fmt.Errorf("borrow objects: %w", err)
	}
	t.lent = link
	return shareObjects(t.Dir, link, filepath.Join(from.common, "shallow"))
}

func (t *Trusted) borrowBranch(ctx context.Context, from Place, branch string) error {
	if err := CheckBranch(branch); err != nil {
		return err
	}
	sha, err := from.Ask(ctx, "rev-parse", "--verify", "-q", BranchRef(branch)+"^{commit}")
	switch {
	case SaidNo(err):
		return t.DeleteRef(ctx, BranchRef(branch))
	case err != nil:
		return err
	default:
		return t.UpdateRef(ctx, BranchRef(branch), sha)
	}
}

// Lent returns the folders that a repository with this one as its alternate reads.
func (t *Trusted) Lent() []string {
	if t.lent == "" {
		return []string{t.Dir}
	}
	return []string{t.Dir, t.lent}
}
