package git

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/ralph-loop/ralph/internal/lib/untrusted"
)

// Listing are the files of a work tree. A folder's name ends with a slash: git does not look into another repository.
type Listing struct {
	Files   []string // tracked, or new and not ignored
	Removed []string // tracked, and missing
	Ignored []string // files, and folders in which all is ignored

	// Filtered are files that a filter writes, such as git-crypt. Those of Git LFS are not among them: it runs in a
	// box, too.
	Filtered []string
}

var (
	unignored = []string{"--cached", "--others", "--exclude-standard"}
	ignored   = []string{"--others", "--ignored", "--exclude-standard", "--directory"}
)

// List lists the files of the work tree.
func (p Place) List(ctx context.Context) (Listing, error) {
	var l Listing
	var err error
	l.Files, err = listFiles(ctx, p.Do, unignored)
	if err != nil {
		return l, err
	}
	l.Removed, err = listFiles(ctx, p.Do, []string{"--deleted"})
	if err != nil {
		return l, err
	}
	l.Ignored, err = listFiles(ctx, p.Do, ignored)
	if err != nil {
		return l, err
	}
	filters, err := filtersOf(ctx, p.Do, l.Files)
	for i, filter := range filters {
		if filter != "lfs" && filter != "unspecified" && filter != "unset" {
			l.Filtered = append(l.Filtered, l.Files[i])
		}
	}
	return l, err
}

// Excluded returns the patterns by which this repository alone ignores files, and those of all that git ignores in it
// now, perhaps by a list of the user's that a box does not have.
func (p Place) Excluded(ctx context.Context) ([]string, error) {
	var patterns []string
	text, _ := untrusted.ReadFile(filepath.Join(p.common, "info", "exclude"), maxOutput) // most have none
	if len(text) > 0 {
		patterns = strings.Split(strings.TrimRight(string(text), "\n"), "\n")
	}
	names, err := listFiles(ctx, p.Do, ignored)
	for _, name := range names {
		if pattern := Pattern(name); pattern != "" {
			patterns = append(patterns, pattern)
		}
	}
	return patterns, err
}

// Files lists the tree's files that are tracked, or new and not ignored.
func (t *Tree) Files(ctx context.Context) ([]string, error) { return listFiles(ctx, t.Do, unignored) }

func listFiles(ctx context.Context, do Runner, options []string) ([]string, error) {
	out, err := do(ctx, Call{Args: append([]string{"ls-files", "-z"}, options...), Limit: maxList})
	if err != nil {
		return nil, fmt.Errorf("list files: %w", err)
	}
	return splitNames(out), nil
}

func splitNames(out []byte) []string {
	return strings.FieldsFunc(string(out), func(r rune) bool { return r == 0 })
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
	ref := BranchRef(a.Branch)
	current, err := r.Ask(ctx, "symbolic-ref", "-q", "HEAD")
	if SaidNo(err) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	if current != ref {
		return false, nil
	}
	head, err := r.Ask(ctx, "rev-parse", "--verify", "-q", "HEAD^{commit}")
	if err != nil {
		return false, err
	}
	switch head {
	case a.To: // ralph was killed since
	case a.From:
		if err := r.write(ctx, "update-ref", "-m", "ralph: the work of a run", ref, a.To, a.From); err != nil {
			return false, err
		}
	default:
		return false, nil
	}
	if len(a.Paths) == 0 {
		return true, nil
	}
	_, err = r.Do(ctx, Call{
		Args:  []string{"reset", "-q", "--pathspec-from-file=-", "--pathspec-file-nul"},
		Stdin: strings.NewReader(strings.Join(literal(a.Paths), "\x00")),
	})
	return true, err
}
