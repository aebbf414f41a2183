package git

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/untrusted"
)

// Listing are the files of a work tree. A folder's name ends with a slash: git does not look into another repository.
type Listing struct {
	Files   []string // tracked, or new and not ignored
	Removed []string // tracked, and missing
	Ignored []string // files, and folders in which all is ignored

	// Filtered are files that a filter writes, such as git-crypt. Those of Git LFS are not among them: it runs in a box, too.
	Filtered []string
}

// List lists the files of the work tree.
func (p Place) List(ctx context.Context) (l Listing, err error) {
	for _, want := range []struct {
		to      *[]string
		options []string
	}{
		{&l.Files, []string{"--cached", "--others", "--exclude-standard"}},
		{&l.Removed, []string{"--deleted"}},
		{&l.Ignored, []string{"--others", "--ignored", "--exclude-standard", "--directory"}},
	} {
		out, err := p.Do(ctx, Call{Args: append([]string{"ls-files", "-z"}, want.options...), Limit: maxList})
		if err != nil {
			return l, fmt.Errorf("list the files of %s: %w", p.Top, err)
		}
		*want.to = splitNames(out)
	}
	l.Filtered, err = p.filtered(ctx, l.Files)
	return l, err
}

func (p Place) filtered(ctx context.Context, names []string) (filtered []string, err error) {
	out, err := p.Do(ctx, Call{
		Args: []string{"check-attr", "-z", "--stdin", "filter"}, Stdin: strings.NewReader(strings.Join(names, "\x00") + "\x00"), Limit: maxList,
	})
	if err != nil {
		return nil, fmt.Errorf("look for filters of files in %s: %w", p.Top, err)
	}
	for told := range slices.Chunk(strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00"), 3) { // path, attribute, value
		if len(told) == 3 && !slices.Contains([]string{"unspecified", "unset", "lfs"}, told[2]) {
			filtered = append(filtered, told[0])
		}
	}
	return filtered, nil
}

// Excluded returns the patterns by which this repository alone ignores files.
func (p Place) Excluded() []string {
	text, err := untrusted.ReadFile(filepath.Join(p.common, "info", "exclude"), maxOutput)
	if err != nil {
		return nil // it has none
	}
	return strings.Split(strings.TrimRight(string(text), "\n"), "\n")
}

// Files lists the tree's files that are tracked, or new and not ignored.
func (t *Tree) Files(ctx context.Context) ([]string, error) {
	out, err := t.Do(ctx, Call{Args: []string{"ls-files", "-z", "--cached", "--others", "--exclude-standard"}, Limit: maxList})
	if err != nil {
		return nil, fmt.Errorf("list the files of the tree: %w", err)
	}
	return splitNames(out), nil
}

func splitNames(out []byte) []string {
	return strings.FieldsFunc(string(out), func(r rune) bool { return r == 0 })
}

// Between returns the paths that differ between two commits.
func (p Place) Between(ctx context.Context, span Span) ([]string, error) {
	if err := CheckSHA(span.From, span.To); err != nil {
		return nil, err
	}
	out, err := p.Do(ctx, Call{Args: []string{"diff-tree", "-r", "-z", "--name-only", "--no-renames", span.From, span.To}, Limit: maxList})
	return splitNames(out), err
}

// Hold keeps git from removing a commit, until ref is deleted.
func (p Place) Hold(ctx context.Context, ref, sha string) error {
	_, err := p.Ask(ctx, "update-ref", ref, sha)
	return err
}

// Advance moves a branch that is checked out.
type Advance struct {
	Branch   string
	From, To string   // To is there by now
	Paths    []string // that the index has as To has them
}

// Advance leaves the files as they are. It returns false if another branch is checked out, or if the branch has moved.
func (g Git) Advance(ctx context.Context, at Place, a Advance) (bool, error) {
	r, err := g.at(ctx, at)
	if err != nil {
		return false, err
	}
	on, err := r.Ask(ctx, "symbolic-ref", "-q", "HEAD")
	switch {
	case SaidNo(err), err == nil && on != BranchRef(a.Branch):
		return false, nil
	case err != nil:
		return false, err
	}
	now, err := r.Ask(ctx, "rev-parse", "--verify", "-q", "HEAD^{commit}")
	switch {
	case err != nil:
		return false, err
	case now == a.To: // ralph was killed since
	case now != a.From:
		return false, nil
	default:
		if err := r.write(ctx, "update-ref", "-m", "ralph: the work of a run", BranchRef(a.Branch), a.To, a.From); err != nil {
			return false, err
		}
	}
	if len(a.Paths) == 0 {
		return true, nil
	}
	c := Call{Args: []string{"reset", "-q", "--pathspec-from-file=-", "--pathspec-file-nul"}, Stdin: strings.NewReader(strings.Join(literal(a.Paths), "\x00"))}
	_, err = r.Do(ctx, c)
	return true, err
}
