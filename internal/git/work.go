package git

import (
	"context"
	"crypto/rand"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// Status is what a tree holds besides its last commit.
type Status struct {
	Dirty bool
	Paths []string // at most 100
}

// Message is a commit's.
type Message struct {
	Subject  string
	Body     string
	Trailers []string // "Key: value"
}

func (m Message) text() string {
	parts := []string{tidy(m.Subject, 200)}
	if body := strings.TrimSpace(m.Body); body != "" {
		parts = append(parts, body)
	}
	if len(m.Trailers) > 0 {
		parts = append(parts, strings.Join(m.Trailers, "\n"))
	}
	return strings.Join(parts, "\n\n") + "\n"
}

// Head is the commit the tree stands at.
func (t *Tree) Head(ctx context.Context) (string, error) {
	sha, err := t.ask(ctx, "rev-parse", "--verify", "-q", "HEAD^{commit}")
	if err != nil {
		return "", fmt.Errorf("read the tree's HEAD: %w", err)
	}
	return sha, checkSHA(sha)
}

// Status tells what is not committed: new files too, the ignored not, nor
// those that are ralph's own.
func (t *Tree) Status(ctx context.Context) (Status, error) {
	quiet, err := t.tame(ctx)
	if err != nil {
		return Status{}, err
	}
	out, err := quiet.do(ctx, call{args: statusArgs()})
	if failed, ok := answered(err); err != nil && (!ok || !failed.TooLong) {
		return Status{}, fmt.Errorf("read the tree's status: %w", err)
	}
	paths := changedPaths(out)
	return Status{Dirty: len(paths) > 0, Paths: paths[:min(100, len(paths))]}, nil
}

// Snapshot is the id of the working tree as a tree: all that Status tells of
// included. The index stays untouched. Repositories within the tree are left
// out: as a commit they could only be refused.
func (t *Tree) Snapshot(ctx context.Context) (string, error) {
	quiet, err := t.tame(ctx)
	if err != nil {
		return "", err
	}
	return quiet.snapshot(ctx)
}

func (t tamed) snapshot(ctx context.Context) (string, error) {
	index := filepath.Join(t.Dir, ".git", "ralph-"+rand.Text()+".index")
	defer os.Remove(index) //nolint:errcheck // where git failed early there is none
	on := func(args ...string) call {
		return call{args: args, env: []string{"GIT_INDEX_FILE=" + index}}
	}
	if err := t.copyIndex(ctx, index, on("read-tree", "HEAD")); err != nil {
		return "", fmt.Errorf("begin a snapshot: %w", err)
	}
	add := append([]string{"add", "--all", "--ignore-errors", "--", "."}, notOurs()...)
	// 1 says that some files could not be read; the others are in.
	if _, err := t.do(ctx, on(add...)); err != nil && !no(err) {
		return "", fmt.Errorf("add the working tree: %w", err)
	}
	if err := t.leaveOutRepositories(ctx, on); err != nil {
		return "", err
	}
	out, err := t.do(ctx, on("write-tree"))
	if err != nil {
		return "", fmt.Errorf("write the tree: %w", err)
	}
	tree := strings.TrimSpace(string(out))
	return tree, checkSHA(tree)
}

// copyIndex makes an index of HEAD that knows what the real one knows of the
// files, so that only changed ones are read. A real one that is locked or
// broken costs no more than that.
func (t tamed) copyIndex(ctx context.Context, index string, afresh call) error {
	err := t.run(ctx, "read-tree", "--reset", "--index-output="+index, "HEAD")
	if _, ok := answered(err); ok {
		_, err = t.do(ctx, afresh)
	}
	return err
}

func (t tamed) leaveOutRepositories(ctx context.Context, on func(...string) call) error {
	out, err := t.do(ctx, on("diff-index", "--cached", "--raw", "-z", "--no-renames", "--ignore-submodules=none", "--no-abbrev", "HEAD"))
	if err != nil {
		return fmt.Errorf("look for repositories within: %w", err)
	}
	changes, err := parseRaw(out)
	if err != nil {
		return err
	}
	var lines strings.Builder
	for _, c := range changes {
		if c.mode == modeLink && c.was == modeNone {
			fmt.Fprintf(&lines, "%s\x00", c.path)
		}
	}
	if lines.Len() == 0 {
		return nil
	}
	drop := on("update-index", "--force-remove", "-z", "--stdin")
	drop.stdin = strings.NewReader(lines.String())
	if _, err := t.do(ctx, drop); err != nil {
		return fmt.Errorf("leave out repositories within: %w", err)
	}
	return nil
}

// CommitAll commits what Snapshot sees and returns the new HEAD; the old one
// when there is nothing to commit. No hook runs, and a merge or rebase that
// was left half way is left behind.
func (t *Tree) CommitAll(ctx context.Context, m Message) (string, error) {
	head, err := t.Head(ctx)
	if err != nil {
		return "", err
	}
	quiet, err := t.tame(ctx)
	if err != nil {
		return "", err
	}
	tree, err := quiet.snapshot(ctx)
	if err != nil {
		return "", err
	}
	if old, err := t.ask(ctx, "rev-parse", "HEAD^{tree}"); err != nil || old == tree {
		return head, err
	}
	sha, err := t.commit(ctx, head, tree, m)
	if err != nil {
		return "", err
	}
	if err := t.unlock(ctx); err != nil {
		return "", err
	}
	if err := quiet.run(ctx, "reset", "-q", "--mixed", sha); err != nil {
		return "", fmt.Errorf("move to the new commit: %w", err)
	}
	return sha, nil
}

func (t *Tree) commit(ctx context.Context, parent, tree string, m Message) (string, error) {
	who := t.Author.orRalph()
	c := call{
		args: []string{"commit-tree", "-p", parent, "-F", "-", tree},
		env: []string{
			"GIT_AUTHOR_NAME=" + who.Name, "GIT_AUTHOR_EMAIL=" + who.Email,
			"GIT_COMMITTER_NAME=" + who.Name, "GIT_COMMITTER_EMAIL=" + who.Email,
		},
		stdin: strings.NewReader(m.text()),
	}
	out, err := t.do(ctx, c)
	if err != nil {
		return "", fmt.Errorf("commit: %w", err)
	}
	sha := strings.TrimSpace(string(out))
	return sha, checkSHA(sha)
}

// Reset moves the tree from its own HEAD to a commit that the program made of
// it. A file becomes as that commit has it where the two commits differ; every
// other file stays as it is, uncommitted work included. Nothing happens where
// HEAD is that commit already.
func (t *Tree) Reset(ctx context.Context, sha string) error {
	if err := checkSHA(sha); err != nil {
		return err
	}
	head, err := t.Head(ctx)
	if err != nil || head == sha {
		return err
	}
	if err := t.unlock(ctx); err != nil {
		return err
	}
	quiet, err := t.tame(ctx)
	if err != nil {
		return err
	}
	// From an index of head, and from head to sha, git touches only what differs.
	if err := quiet.run(ctx, "reset", "-q", "--mixed", head); err != nil {
		return fmt.Errorf("forget what was staged: %w", err)
	}
	if err := quiet.run(ctx, "read-tree", "--reset", "-u", head, sha); err != nil {
		return fmt.Errorf("change what differs: %w", err)
	}
	if err := quiet.run(ctx, "reset", "-q", "--soft", sha); err != nil {
		return fmt.Errorf("move to %s: %w", sha, err)
	}
	return nil
}

// Diff is the first limit bytes of a patch from a commit to the working tree,
// new files included, and whether there is more of it.
func (t *Tree) Diff(ctx context.Context, from string, limit int) (text string, cut bool, err error) {
	if err := checkSHA(from); err != nil {
		return "", false, err
	}
	now, err := t.Snapshot(ctx)
	if err != nil {
		return "", false, err
	}
	return patch(ctx, t.do, Span{From: from, To: now}, limit)
}
