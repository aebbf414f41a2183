package git

import (
	"cmp"
	"context"
	"crypto/rand"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/ralph-loop/ralph/internal/lib/clean"
)

// Message is a commit message.
type Message struct {
	Subject  string
	Trailers []string // "Key: value"
	SignOff  bool     // end with ralph's Signed-off-by
}

// text has a subject that commitlint's usual rules accept: at most 100 characters, without a full stop.
func (m Message) text() string {
	text := clean.CommitMessage(strings.TrimRight(OneLine(m.Subject, 98), ".") + "\n\n")
	if len(m.Trailers) > 0 {
		text += "\n" + strings.Join(m.Trailers, "\n") + "\n"
	}
	if m.SignOff {
		text = clean.SignedOff(text, Ralph.String())
	}
	return text
}

// Head returns the commit of the tree's HEAD.
func (t *Tree) Head(ctx context.Context) (string, error) {
	sha, err := t.Ask(ctx, "rev-parse", "--verify", "-q", "HEAD^{commit}")
	if err != nil {
		return "", fmt.Errorf("read the tree's HEAD: %w", err)
	}
	return sha, CheckSHA(sha)
}

func (t *Tree) commit(ctx context.Context, parent, tree string, m Message) (string, error) {
	sha, err := commitTree(ctx, t.Do, newCommit{tree, []string{parent}, m, cmp.Or(t.Author, Ralph).env()})
	if err != nil {
		return "", fmt.Errorf("commit: %w", err)
	}
	return sha, nil
}

// Reset moves the tree from its HEAD to a commit that ralph made from it. It updates the files that differ between the
// two commits. Other files stay as they are, uncommitted work included.
func (t *Tree) Reset(ctx context.Context, sha string) error {
	if err := CheckSHA(sha); err != nil {
		return err
	}
	head, err := t.Head(ctx)
	if err != nil || head == sha {
		return err
	}
	if err := t.unlock(ctx, ""); err != nil {
		return err
	}
	// With an index of head, git changes only files that differ between head and sha.
	if err := t.run(ctx, "reset", "-q", "--mixed", head); err != nil {
		return fmt.Errorf("reset the index: %w", err)
	}
	if err := t.run(ctx, "read-tree", "--reset", "-u", head, sha); err != nil {
		return fmt.Errorf("update files: %w", err)
	}
	if err := t.run(ctx, "reset", "-q", "--soft", sha); err != nil {
		return fmt.Errorf("move to %s: %w", sha, err)
	}
	return nil
}

// Diff returns the first limit bytes of a patch from a commit to the tree, and whether it is longer.
func (t *Tree) Diff(ctx context.Context, from string, limit int) (text string, cut bool, err error) {
	if err := CheckSHA(from); err != nil {
		return "", false, err
	}
	s, err := t.Inspect(ctx)
	if err != nil {
		return "", false, err
	}
	work, err := s.snapshot(ctx, nil)
	if err != nil {
		return "", false, err
	}
	return patch(ctx, t.Do, Span{From: from, To: work}, limit)
}

// Restore moves the tree to a commit with its files. Other files stay.
func (t *Tree) Restore(ctx context.Context, sha string) error {
	if err := CheckSHA(sha); err != nil {
		return err
	}
	if err := t.unlock(ctx, ""); err != nil {
		return err
	}
	if err := t.run(ctx, "reset", "-q", "--hard", sha); err != nil {
		return fmt.Errorf("restore files to %s: %w", sha, err)
	}
	return nil
}

// scratch is a tree with a temporary index.
type scratch struct {
	*Tree
	index string
}

func (t *Tree) scratch() (s scratch, done func()) {
	s = scratch{Tree: t, index: filepath.Join(t.dir, "ralph-"+rand.Text()+".index")}
	return s, func() { _ = os.Remove(s.index) } // missing if git failed early
}

func (s scratch) indexCall(args ...string) Call {
	return Call{Args: args, Env: []string{"GIT_INDEX_FILE=" + s.index}}
}

// copyIndex fills the index with HEAD, and copies the file data of the real index, so that git reads only changed
// files. Where a killed git left its lock, git reads all files.
func (s scratch) copyIndex(ctx context.Context) error {
	err := s.run(ctx, "read-tree", "--reset", "--index-output="+s.index, "HEAD")
	if _, ok := Answered(err); ok {
		_, err = s.Do(ctx, s.indexCall("read-tree", "HEAD"))
	}
	return err
}

func (s scratch) untrack(ctx context.Context, paths []string) error {
	if len(paths) == 0 {
		return nil
	}
	args := []string{"rm", "-r", "-f", "-q", "--cached", "--sparse", "--ignore-unmatch", "--"}
	if _, err := s.Do(ctx, s.indexCall(append(args, literal(paths)...)...)); err != nil {
		return fmt.Errorf("leave out files that are not work: %w", err)
	}
	return nil
}

// add adds the working files.
func (s scratch) add(ctx context.Context, specs []string) error {
	add := s.indexCall("add", "--all", "--sparse", "--ignore-errors", "--pathspec-from-file=-", "--pathspec-file-nul")
	add.Stdin = strings.NewReader(strings.Join(specs, "\x00"))
	// Exit code 1: some files could not be read; git added the others.
	if _, err := s.Do(ctx, add); err != nil && !SaidNo(err) {
		return fmt.Errorf("add the working tree: %w", err)
	}
	return nil
}

func (s scratch) write(ctx context.Context) (string, error) {
	if err := s.leaveOutRepositories(ctx); err != nil {
		return "", err
	}
	out, err := s.Do(ctx, s.indexCall("write-tree"))
	if err != nil {
		return "", fmt.Errorf("write a tree: %w", err)
	}
	return ObjectID(out, nil)
}

func (s scratch) leaveOutRepositories(ctx context.Context) error {
	added, err := s.changes(ctx, "--diff-filter=A")
	if err != nil {
		return fmt.Errorf("look for nested repositories: %w", err)
	}
	var paths []string
	for _, c := range added {
		if c.Mode == ModeGitlink {
			paths = append(paths, c.Path)
		}
	}
	return s.update(ctx, paths, "--force-remove")
}

// changes returns how the index differs from HEAD.
func (s scratch) changes(ctx context.Context, options ...string) ([]Change, error) {
	args := []string{
		"diff-index", "--cached", "--raw", "-z", "--no-renames", "--ignore-submodules=none", "--no-abbrev",
	}
	args = append(args, options...)
	out, err := s.Do(ctx, s.indexCall(append(args, "HEAD")...))
	if err != nil {
		return nil, err
	}
	return parseRaw(out)
}

func (s scratch) update(ctx context.Context, paths []string, how ...string) error {
	if len(paths) == 0 {
		return nil
	}
	c := s.indexCall(append(append([]string{"update-index"}, how...), "-z", "--stdin")...)
	c.Stdin = strings.NewReader(strings.Join(paths, "\x00") + "\x00")
	if _, err := s.Do(ctx, c); err != nil {
		return fmt.Errorf("update %d names of the index: %w", len(paths), err)
	}
	return nil
}
