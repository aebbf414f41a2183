package git

import (
	"bytes"
	"context"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/ralph-loop/ralph/internal/core/journal"
)

// Span is a pair of commits to compare.
type Span struct{ From, To string }

// At is a path in a commit.
type At struct{ Commit, Path string }

// Resolve returns the commit that rev names, or ErrNotFound.
func (t *Trusted) Resolve(ctx context.Context, rev string) (string, error) {
	sha, err := t.Ask(ctx, "rev-parse", "--verify", "-q", "--end-of-options", rev+"^{commit}")
	if _, ok := Answered(err); ok {
		return "", fmt.Errorf("%s: %w", OneLine(rev, 80), ErrNotFound)
	}
	if err != nil {
		return "", fmt.Errorf("resolve %s: %w", OneLine(rev, 80), err)
	}
	return sha, CheckSHA(sha)
}

// TreeOf returns the tree of a commit.
func (t *Trusted) TreeOf(ctx context.Context, sha string) (string, error) {
	if err := CheckSHA(sha); err != nil {
		return "", err
	}
	tree, err := trimNewline(t.askCached(ctx, Call{Args: []string{"rev-parse", "--verify", "-q", sha + "^{tree}"}}))
	if err != nil {
		return "", fmt.Errorf("find the tree of %s: %w", sha, err)
	}
	return tree, CheckSHA(tree)
}

const maxLog = 1000

// Log returns the commits in From..To, oldest first, at most 1000.
func (t *Trusted) Log(ctx context.Context, span Span) ([]journal.Commit, error) {
	if err := CheckSHA(span.From, span.To); err != nil {
		return nil, err
	}
	out, err := t.Ask(ctx, "log", "-z", "--topo-order", "--reverse", "--max-count="+strconv.Itoa(maxLog),
		"--format=%H %s", span.From+".."+span.To)
	if err != nil {
		return nil, fmt.Errorf("read the log: %w", err)
	}
	var log []journal.Commit
	for line := range strings.SplitSeq(out, "\x00") {
		if sha, subject, ok := strings.Cut(line, " "); ok {
			log = append(log, journal.Commit{SHA: sha, Subject: OneLine(subject, 200)})
		}
	}
	return log, nil
}

var diffArgs = []string{"diff-tree", "-p", "-r", "-M", "--no-ext-diff", "--no-textconv", "--no-color"}

// Diff returns the first limit bytes of a patch, and whether it is longer.
func (t *Trusted) Diff(ctx context.Context, span Span, limit int, paths ...string) (text string, cut bool, err error) {
	if err := CheckSHA(span.From, span.To); err != nil {
		return "", false, err
	}
	return patch(ctx, t.Do, span, limit, paths...)
}

func patch(ctx context.Context, do Runner, span Span, limit int, paths ...string) (text string, cut bool, err error) {
	args := slices.Concat(diffArgs, []string{span.From, span.To, "--"}, literal(paths))
	out, err := do(ctx, Call{Args: args, Limit: int64(max(limit, 1)), Memory: MaxMemory})
	if failed, ok := Answered(err); ok && failed.TooLong {
		// A secret in an incomplete line could not be redacted.
		return strings.ToValidUTF8(string(out[:bytes.LastIndexByte(out, '\n')+1]), "\uFFFD"), true, nil
	}
	if err != nil {
		return "", false, fmt.Errorf("make a diff: %w", err)
	}
	return strings.ToValidUTF8(string(out), "\uFFFD"), false, nil
}

// Files returns the paths in a commit, with slashes.
func (t *Trusted) Files(ctx context.Context, sha string) ([]string, error) {
	var names []string
	all, err := t.ListAll(ctx, sha)
	for _, entry := range all {
		names = append(names, entry.Path)
	}
	return names, err
}

// ReadFile returns a regular file of at most limit bytes, or ErrNotFound, or ErrNoFile.
func (t *Trusted) ReadFile(ctx context.Context, at At, limit int64) ([]byte, error) {
	if at.Path != path.Clean(at.Path) || path.IsAbs(at.Path) || strings.HasPrefix(at.Path, "..") {
		return nil, fmt.Errorf("read %q: not a path in a repository", at.Path)
	}
	found, err := t.List(ctx, at.Commit, at.Path)
	if err != nil {
		return nil, fmt.Errorf("look for %s: %w", at.Path, err)
	}
	if len(found) != 1 {
		return nil, fmt.Errorf("read %s: %w", at.Path, ErrNotFound)
	}
	return t.ReadEntry(ctx, found[0], limit)
}

// ReadEntry returns a regular file of at most limit bytes, or ErrNoFile.
func (t *Trusted) ReadEntry(ctx context.Context, entry TreeEntry, limit int64) ([]byte, error) {
	if entry.Mode != ModeFile && entry.Mode != ModeProgram {
		return nil, fmt.Errorf("read %s: %w", entry.Path, ErrNoFile)
	}
	content, err := t.askCached(ctx, Call{Args: []string{"cat-file", "blob", entry.ID}, Limit: limit})
	if failed, ok := Answered(err); ok && failed.TooLong {
		return nil, fmt.Errorf("read %s: more than %d bytes", entry.Path, limit)
	}
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", entry.Path, err)
	}
	return content, nil
}

// CommitInfo has the parts of a commit that are needed to make it again.
type CommitInfo struct {
	SHA     string
	Tree    string
	Parents []string
	Message string
}

// NewCommits returns the ancestors of tip that are not ancestors of others, parents first.
func (t *Trusted) NewCommits(ctx context.Context, tip string, others ...string) ([]CommitInfo, error) {
	if err := CheckSHA(append([]string{tip}, others...)...); err != nil {
		return nil, err
	}
	args := append([]string{"log", "-z", "--topo-order", "--reverse", "--format=%H %T %P%n%B", tip, "--not"}, others...)
	out, err := t.Ask(ctx, args...)
	if err != nil {
		return nil, fmt.Errorf("read the commits of %.12s: %w", tip, err)
	}
	var all []CommitInfo
	for text := range strings.SplitSeq(out, "\x00") {
		head, message, _ := strings.Cut(text, "\n")
		ids := strings.Fields(head)
		if len(ids) < 2 {
			continue
		}
		all = append(all, CommitInfo{
			SHA:     ids[0],
			Tree:    ids[1],
			Parents: ids[2:],
			Message: strings.TrimRight(message, "\n") + "\n",
		})
	}
	return all, nil
}

// IsAncestor reports whether older is newer or an ancestor of it.
func (t *Trusted) IsAncestor(ctx context.Context, older, newer string) (bool, error) {
	if err := CheckSHA(older, newer); err != nil {
		return false, err
	}
	_, err := t.askCached(ctx, Call{Args: []string{"merge-base", "--is-ancestor", older, newer}})
	if failed, ok := Answered(err); ok && !failed.TimedOut {
		return false, nil // exit 1: no ancestor; 128: the older commit is missing
	}
	return err == nil, err
}

const maxList = 128 << 20

// List returns the entries at the top of a commit, or at some paths. A path with a final slash lists that folder.
func (t *Trusted) List(ctx context.Context, commit string, paths ...string) ([]TreeEntry, error) {
	return list(ctx, t.askCached, commit, append([]string{commit, "--"}, paths...)...)
}

// ListAll returns the entries of a commit in all folders, but not the folders.
func (t *Trusted) ListAll(ctx context.Context, commit string) ([]TreeEntry, error) {
	return ListAll(ctx, t.askCached, commit)
}

// ListAll is that of Trusted, for any repository.
func ListAll(ctx context.Context, do Runner, commit string) ([]TreeEntry, error) {
	all, err := list(ctx, do, commit, "-r", commit)
	if err != nil {
		return nil, fmt.Errorf("list the files of %.12s: %w", commit, err)
	}
	return all, nil
}

func list(ctx context.Context, do Runner, commit string, which ...string) ([]TreeEntry, error) {
	if err := CheckSHA(commit); err != nil {
		return nil, err
	}
	args := append([]string{"ls-tree", "-z", "--full-tree"}, which...)
	out, err := do(ctx, Call{Args: args, Limit: maxList})
	var all []TreeEntry
	for line := range strings.SplitSeq(string(out), "\x00") {
		about, name, _ := strings.Cut(line, "\t")
		if fields := strings.Fields(about); len(fields) == 3 {
			all = append(all, TreeEntry{Path: name, Mode: fields[0], ID: fields[2]})
		}
	}
	return all, err
}

// Compare lists the paths that differ between two commits.
func (t *Trusted) Compare(ctx context.Context, span Span) ([]Change, error) {
	if err := CheckSHA(span.From, span.To); err != nil {
		return nil, err
	}
	changes, err := Compare(ctx, t.askCached, span)
	if err != nil {
		return nil, fmt.Errorf("compare %.12s with %.12s: %w", span.From, span.To, err)
	}
	return changes, nil
}
