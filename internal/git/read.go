package git

import (
	"bytes"
	"context"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/ralph-loop/ralph/internal/journal"
)

// Span is the way from one commit to another.
type Span struct{ From, To string }

// At is a file as it stands in a commit.
type At struct{ Commit, Path string }

// Resolve is the commit that rev names, or ErrNotFound.
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

// TreeOf is the tree of a commit.
func (t *Trusted) TreeOf(ctx context.Context, sha string) (string, error) {
	if err := CheckSHA(sha); err != nil {
		return "", err
	}
	tree, err := printed(t.ask(ctx, Call{Args: []string{"rev-parse", "--verify", "-q", sha + "^{tree}"}}, ""))
	if err != nil {
		return "", fmt.Errorf("find the tree of %s: %w", sha, err)
	}
	return tree, CheckSHA(tree)
}

const maxLog = 1000

// Log is the commits that To has and From has not, oldest first, at most 1000.
func (t *Trusted) Log(ctx context.Context, span Span) ([]journal.Commit, error) {
	if err := CheckSHA(span.From, span.To); err != nil {
		return nil, err
	}
	out, err := t.Ask(ctx, "log", "-z", "--topo-order", "--reverse", "--max-count="+strconv.Itoa(maxLog), "--format=%H %s", span.From+".."+span.To)
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

// Diff is the first limit bytes of a patch, and whether there is more.
func (t *Trusted) Diff(ctx context.Context, span Span, limit int, paths ...string) (text string, cut bool, err error) {
	if err := CheckSHA(span.From, span.To); err != nil {
		return "", false, err
	}
	return patch(ctx, t.Do, span, limit, paths...)
}

func patch(ctx context.Context, do Runner, span Span, limit int, paths ...string) (text string, cut bool, err error) {
	args := slices.Concat(diffArgs, []string{span.From, span.To, "--"}, literal(paths))
	out, err := do(ctx, Call{Args: args, Limit: int64(max(limit, 1))})
	if failed, ok := Answered(err); ok && failed.TooLong {
		// A secret in a line that is cut could not be found and hidden.
		return strings.ToValidUTF8(string(out[:bytes.LastIndexByte(out, '\n')+1]), "\uFFFD"), true, nil
	}
	if err != nil {
		return "", false, fmt.Errorf("make a diff: %w", err)
	}
	return strings.ToValidUTF8(string(out), "\uFFFD"), false, nil
}

// Files are the paths in a commit, with slashes. A very long list is cut.
func (t *Trusted) Files(ctx context.Context, sha string) ([]string, error) {
	if err := CheckSHA(sha); err != nil {
		return nil, err
	}
	out, err := t.ask(ctx, Call{Args: []string{"ls-tree", "-r", "-z", "--name-only", "--full-tree", sha}, Limit: 16 << 20}, "")
	if failed, ok := Answered(err); ok && failed.TooLong {
		err = nil
	}
	if err != nil {
		return nil, fmt.Errorf("list the files of %s: %w", sha, err)
	}
	return strings.FieldsFunc(string(out), func(r rune) bool { return r == 0 }), nil
}

// ReadFile is a regular file of at most limit bytes, or ErrNotFound, or ErrNoFile.
func (t *Trusted) ReadFile(ctx context.Context, at At, limit int64) ([]byte, error) {
	if err := CheckSHA(at.Commit); err != nil {
		return nil, err
	}
	if at.Path != path.Clean(at.Path) || path.IsAbs(at.Path) || strings.HasPrefix(at.Path, "..") {
		return nil, fmt.Errorf("read %q: not a path in a repository", at.Path)
	}
	found, err := t.List(ctx, at.Commit, at.Path)
	switch {
	case err != nil:
		return nil, fmt.Errorf("look for %s: %w", at.Path, err)
	case len(found) != 1:
		return nil, fmt.Errorf("read %s: %w", at.Path, ErrNotFound)
	case found[0].Mode != ModeFile && found[0].Mode != ModeProgram:
		return nil, fmt.Errorf("read %s: %w", at.Path, ErrNoFile)
	}
	content, err := t.ask(ctx, Call{Args: []string{"cat-file", "blob", found[0].ID}, Limit: limit}, "")
	if failed, ok := Answered(err); ok && failed.TooLong {
		return nil, fmt.Errorf("read %s: more than %d bytes", at.Path, limit)
	}
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", at.Path, err)
	}
	return content, nil
}

// Made is a commit as another is to make it anew.
type Made struct {
	SHA     string
	Tree    string
	Parents []string
	Message string
}

// Made are the commits of a tip that none of others holds, parents first.
func (t *Trusted) Made(ctx context.Context, tip string, others ...string) ([]Made, error) {
	if err := CheckSHA(append([]string{tip}, others...)...); err != nil {
		return nil, err
	}
	args := append([]string{"log", "-z", "--topo-order", "--reverse", "--format=%H %T %P%n%B", tip, "--not"}, others...)
	out, err := t.Ask(ctx, args...)
	if err != nil {
		return nil, fmt.Errorf("read the commits of %.12s: %w", tip, err)
	}
	var all []Made
	for text := range strings.SplitSeq(out, "\x00") {
		head, message, _ := strings.Cut(text, "\n")
		ids := strings.Fields(head)
		if len(ids) < 2 {
			continue
		}
		all = append(all, Made{SHA: ids[0], Tree: ids[1], Parents: ids[2:], Message: strings.TrimRight(message, "\n") + "\n"})
	}
	return all, nil
}

// Follows tells whether newer is older or was built on it.
func (t *Trusted) Follows(ctx context.Context, older, newer string) (bool, error) {
	if err := CheckSHA(older, newer); err != nil {
		return false, err
	}
	_, err := t.ask(ctx, Call{Args: []string{"merge-base", "--is-ancestor", older, newer}}, "")
	if failed, is := Answered(err); is && !failed.TimedOut {
		return false, nil // exit 1: it does not; 128: the older one is not here at all
	}
	return err == nil, err
}

// Top are the names in a folder of a commit, folders with a final slash.
func (t *Trusted) Top(ctx context.Context, at At) ([]string, error) {
	if err := CheckSHA(at.Commit); err != nil {
		return nil, err
	}
	folder, below := "", []string(nil)
	if name := strings.Trim(at.Path, "/"); name != "" {
		folder, below = name+"/", []string{name + "/"}
	}
	found, err := t.List(ctx, at.Commit, below...)
	if err != nil {
		return nil, fmt.Errorf("list %.12s: %w", at.Commit, err)
	}
	var names []string
	for _, entry := range found {
		name := strings.TrimPrefix(entry.Path, folder)
		if entry.Mode == modeTree {
			name += "/"
		}
		names = append(names, name)
	}
	return names, nil
}

const mostInList = 128 << 20

// List is what a commit holds at its top, or at some paths; after a slash what is in that folder.
func (t *Trusted) List(ctx context.Context, commit string, paths ...string) ([]TreeEntry, error) {
	return t.list(ctx, append([]string{commit, "--"}, paths...)...)
}

// ListAll is all that a commit holds, but for the folders themselves.
func (t *Trusted) ListAll(ctx context.Context, commit string) ([]TreeEntry, error) {
	all, err := t.list(ctx, "-r", commit)
	if err != nil {
		return nil, fmt.Errorf("list the files of %.12s: %w", commit, err)
	}
	return all, nil
}

func (t *Trusted) list(ctx context.Context, which ...string) ([]TreeEntry, error) {
	out, err := t.ask(ctx, Call{Args: append([]string{"ls-tree", "-z", "--full-tree"}, which...), Limit: mostInList}, "")
	var all []TreeEntry
	for line := range strings.SplitSeq(string(out), "\x00") {
		about, name, _ := strings.Cut(line, "\t")
		if fields := strings.Fields(about); len(fields) == 3 {
			all = append(all, TreeEntry{Path: name, Mode: fields[0], ID: fields[2]})
		}
	}
	return all, err
}

// Compare is Compare of two commits.
func (t *Trusted) Compare(ctx context.Context, span Span) ([]Change, error) {
	if err := CheckSHA(span.From, span.To); err != nil {
		return nil, err
	}
	changes, err := Compare(ctx, func(ctx context.Context, c Call) ([]byte, error) { return t.ask(ctx, c, "") }, span)
	if err != nil {
		return nil, fmt.Errorf("compare %.12s with %.12s: %w", span.From, span.To, err)
	}
	return changes, nil
}

// Holding are those of some paths of a commit that match an extended expression.
func (t *Trusted) Holding(ctx context.Context, commit, expression string, paths []string) ([]string, error) {
	return t.holding(ctx, commit, []string{expression}, paths)
}

// holding are those of some paths of a commit that match one of the extended expressions.
func (t *Trusted) holding(ctx context.Context, commit string, expressions, paths []string) ([]string, error) {
	out, err := t.search(ctx, commit, "-l", expressions, paths)
	if out == "" || err != nil {
		return nil, err
	}
	var found []string
	for name := range strings.SplitSeq(strings.TrimSuffix(out, "\x00"), "\x00") {
		found = append(found, strings.TrimPrefix(name, commit+":"))
	}
	return found, nil
}

// Found are the parts of a commit's lines that match one of the extended expressions, by
// path. Only files are searched that match one of the cores: an expression that begins with
// a word is ten times as fast as one that may begin with anything.
func (t *Trusted) Found(ctx context.Context, commit string, cores, expressions []string) (map[string][]string, error) {
	paths, err := t.holding(ctx, commit, cores, []string{""})
	if err != nil {
		return nil, err
	}
	found := map[string][]string{}
	for some := range slices.Chunk(paths, inSearch) {
		out, err := t.search(ctx, commit, "-o", expressions, some)
		if err != nil {
			return nil, err
		}
		for line := range strings.Lines(out) {
			path, part, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "\x00")
			path = strings.TrimPrefix(path, commit+":")
			found[path] = append(found[path], part)
		}
	}
	return found, nil
}

const (
	inSearch  = 400 // paths of one search
	mostFound = 64 << 20
)

// search returns what git grep prints; nothing without paths. The expressions are read from
// stdin, as thousands are too long for a command line.
func (t *Trusted) search(ctx context.Context, commit, flag string, expressions, paths []string) (string, error) {
	if err := CheckSHA(commit); err != nil || len(paths) == 0 {
		return "", err
	}
	args := slices.Concat([]string{"grep", flag, "-z", "-I", "-E", "-f", "-", commit, "--"}, literal(paths))
	out, err := t.ask(ctx, Call{Args: args, Limit: mostFound}, strings.Join(expressions, "\n"))
	if failed, ok := Answered(err); ok && failed.Exit == 1 {
		return "", nil
	}
	if err != nil {
		return "", fmt.Errorf("search %.12s: %w", commit, err)
	}
	return string(out), nil
}
