package git

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/ralph-loop/ralph/internal/fault"
)

// Changed is a file in which two trees differ, with its content on both sides;
// nil where it is not there. Links and other repositories are left out. What is
// larger than anyone wants to read is there, and empty.
type Changed struct {
	Path          string
	Before, After []byte
}

const (
	maxBlob  = 1 << 20
	maxBlobs = 64 << 20
)

// Changes are the files in which two commits or trees differ.
func (t *Trusted) Changes(ctx context.Context, span Span) ([]Changed, error) {
	return blobs(ctx, t.do, span)
}

// Changes are the files in which two commits or trees of a user's repository
// differ.
func (g Git) Changes(ctx context.Context, dir string, span Span) ([]Changed, error) {
	return blobs(ctx, user{git: g, dir: dir}.do, span)
}

func (u user) do(ctx context.Context, c call) ([]byte, error) {
	c.dir = u.dir
	return u.git.do(ctx, c)
}

// Named is the commit that a user calls rev; a fault where there is none.
func (g Git) Named(ctx context.Context, dir, rev string) (string, error) {
	u := user{git: g, dir: dir}
	if err := u.check(ctx); err != nil {
		return "", err
	}
	sha, err := u.ask(ctx, "rev-parse", "--verify", "-q", "--end-of-options", rev+"^{commit}")
	if _, ok := answered(err); ok {
		return "", fault.Usage("there is no commit "+tidy(rev, 80), "name one that git log shows", nil)
	}
	if err != nil {
		return "", err
	}
	return sha, checkSHA(sha)
}

// Fork is where the work that led to head began: where it left the default
// branch, or else the commit before it.
func (g Git) Fork(ctx context.Context, dir, head string) (string, error) {
	if err := checkSHA(head); err != nil {
		return "", err
	}
	u := user{git: g, dir: dir}
	for _, branch := range u.defaults(ctx) {
		base, err := u.ask(ctx, "merge-base", branch, head)
		if err == nil && base != head {
			return base, checkSHA(base)
		}
	}
	base, err := g.Named(ctx, dir, head+"~")
	if err != nil {
		return "", fault.Usage("there is nothing before "+head[:12], "name the commit to compare with", nil)
	}
	return base, nil
}

// defaults are the branches that may be the default one, the likeliest first.
func (u user) defaults(ctx context.Context) []string {
	names, err := u.ask(ctx, "for-each-ref", "--format=%(refname)", "refs/remotes/*/HEAD", "refs/remotes/*/main", "refs/remotes/*/master", "refs/heads/main", "refs/heads/master", "refs/heads/trunk")
	if err != nil {
		return nil
	}
	found := strings.Fields(names)
	slices.SortStableFunc(found, func(a, b string) int { return likely(b) - likely(a) })
	return found
}

func likely(ref string) int {
	switch {
	case ref == "refs/remotes/origin/HEAD":
		return 3
	case strings.HasSuffix(ref, "/HEAD"):
		return 2
	case strings.HasPrefix(ref, "refs/remotes/"):
		return 1
	default:
		return 0
	}
}

// WorkTree is the tree of the files as they are, in the repository that dir
// lies in, and that repository's top.
func (g Git) WorkTree(ctx context.Context, dir string) (tree, top string, err error) {
	u := user{git: g, dir: dir}
	if err := u.check(ctx); err != nil {
		return "", "", err
	}
	if top, err = u.ask(ctx, "rev-parse", "--show-toplevel"); err != nil {
		return "", "", err
	}
	own, err := g.Own(ctx, Place{Top: top})
	if err != nil {
		return "", "", err
	}
	tree, err = own.Snapshot(ctx)
	return tree, top, err
}

func blobs(ctx context.Context, do func(context.Context, call) ([]byte, error), span Span) ([]Changed, error) {
	if err := checkSHA(span.From, span.To); err != nil {
		return nil, err
	}
	changes, err := compare(ctx, do, span)
	if err != nil {
		return nil, fmt.Errorf("compare %.12s with %.12s: %w", span.From, span.To, err)
	}
	var ids []string
	for _, c := range changes {
		for _, id := range []string{regular(c.was, c.old), regular(c.mode, c.blob)} {
			if id != "" {
				ids = append(ids, id)
			}
		}
	}
	texts, err := readBlobs(ctx, do, ids)
	if err != nil {
		return nil, err
	}
	var found []Changed
	for _, c := range changes {
		before, after := regular(c.was, c.old), regular(c.mode, c.blob)
		if before != after {
			found = append(found, Changed{c.path, texts[before], texts[after]})
		}
	}
	return found, nil
}

// regular is the object of a regular file, else nothing.
func regular(mode, id string) string {
	if mode == modeFile || mode == modeProgram {
		return id
	}
	return ""
}

// readBlobs reads what is small enough; the rest is empty.
func readBlobs(ctx context.Context, do func(context.Context, call) ([]byte, error), ids []string) (map[string][]byte, error) {
	texts := map[string][]byte{}
	if len(ids) == 0 {
		return texts, nil
	}
	slices.Sort(ids)
	ids = slices.Compact(ids)
	out, err := do(ctx, call{args: []string{"cat-file", "--batch-check=%(objectname) %(objectsize)"}, stdin: asked(ids)})
	if err != nil {
		return nil, fmt.Errorf("measure files: %w", err)
	}
	var small []string
	total := int64(0)
	for line := range strings.Lines(string(out)) {
		id, size, _ := strings.Cut(strings.TrimSpace(line), " ")
		n, err := strconv.ParseInt(size, 10, 64)
		if err != nil {
			return nil, errors.Join(fmt.Errorf("measure files: %.64s is not there", tidy(id, 64)), ErrNotFound)
		}
		texts[id] = []byte{}
		if n <= maxBlob && total+n <= maxBlobs {
			total += n
			small = append(small, id)
		}
	}
	return texts, fillBlobs(ctx, do, small, texts)
}

func fillBlobs(ctx context.Context, do func(context.Context, call) ([]byte, error), ids []string, texts map[string][]byte) error {
	if len(ids) == 0 {
		return nil
	}
	out, err := do(ctx, call{args: []string{"cat-file", "--batch=%(objectname) %(objectsize)"}, stdin: asked(ids), limit: 2 * maxBlobs})
	if err != nil {
		return fmt.Errorf("read files: %w", err)
	}
	for len(out) > 0 {
		head, rest, _ := bytes.Cut(out, []byte{'\n'})
		id, size, _ := strings.Cut(string(head), " ")
		n, err := strconv.Atoi(size)
		if err != nil || n < 0 || n >= len(rest) {
			return fmt.Errorf("read files: %w", errOddAnswer)
		}
		texts[id] = rest[:n:n]
		out = rest[n+1:]
	}
	return nil
}

// asked are objects as cat-file is asked for them.
func asked(ids []string) *strings.Reader { return strings.NewReader(strings.Join(ids, "\n") + "\n") }
