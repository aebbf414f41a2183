package git

import (
	"context"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/lib/untrusted"
)

// Inspection is the state of a tree at one time. It saves git processes, the largest cost of an iteration besides the
// agent. It is valid until an agent works in the tree again.
type Inspection struct {
	Head    string   // the commit
	Tree    string   // the tree of Head
	Dirty   bool     // there are uncommitted changes, also in files that are not work
	LeftOut []string // what CommitSnapshot left out of the paths in Beside

	tree     *Tree
	branch   string // the checked out branch; empty: unknown
	found    []entry
	measured bool // huge is known
	huge     []string
}

// Inspect inspects the tree.
func (t *Tree) Inspect(ctx context.Context) (*Inspection, error) {
	s, at, err := readStatus(ctx, t.Do)
	if err != nil {
		return nil, err
	}
	s.tree = t
	if CheckSHA(at) != nil { // no commit yet, or unexpected output
		at = "HEAD"
	}
	return s, s.resolveHead(ctx, at)
}

func (s *Inspection) resolveHead(ctx context.Context, at string) error {
	if known := s.tree.known; known.Head == at {
		s.Head = known.Head
		s.Tree = known.Tree
		return nil
	}
	out, err := s.tree.Ask(ctx, "rev-parse", at+"^{commit}", at+"^{tree}")
	if err != nil {
		return fmt.Errorf("read the tree's HEAD: %w", err)
	}
	s.Head, s.Tree, _ = strings.Cut(out, "\n")
	if err := CheckSHA(s.Head, s.Tree); err != nil {
		return err
	}
	s.tree.known = TreeState{Head: s.Head, Tree: s.Tree}
	return nil
}

// readStatus returns what git status prints, and the name of HEAD's commit.
func readStatus(ctx context.Context, do Runner) (*Inspection, string, error) {
	out, err := do(ctx, Call{Args: []string{
		"status", "--porcelain=v2", "--branch", "--no-ahead-behind", "-z", "--no-renames", "--untracked-files=normal",
		"--ignore-submodules=all", // starts no git in a submodule
	}, Limit: maxList})
	if err != nil {
		return nil, "", fmt.Errorf("read the tree's status: %w", err)
	}
	s := &Inspection{}
	at := ""
	for line := range strings.SplitSeq(string(out), "\x00") {
		if name, ok := strings.CutPrefix(line, "# branch.oid "); ok {
			at = name
			continue
		}
		if name, ok := strings.CutPrefix(line, "# branch.head "); ok && name != "(detached)" {
			s.branch = name
			continue
		}
		if e, ok := readEntry(line); ok {
			s.found = append(s.found, e)
		}
	}
	s.Dirty = slices.ContainsFunc(s.found, entry.isWork)
	return s, at, nil
}

func (s *Inspection) paths() []string {
	var paths []string
	for _, e := range s.found {
		if e.isWork() {
			paths = append(paths, e.path)
		}
	}
	return paths
}

const kindUntracked = '?'

type entry struct {
	kind byte
	path string
}

// fieldsBeforePath has the number of fields before the path, by the kind of a line.
var fieldsBeforePath = map[byte]int{'?': 1, '1': 8, 'u': 10}

func readEntry(line string) (entry, bool) {
	if line == "" || line[0] == '#' {
		return entry{}, false
	}
	fields := strings.SplitN(line, " ", fieldsBeforePath[line[0]]+1)
	return entry{kind: line[0], path: fields[len(fields)-1]}, true
}

// isWork reports whether an entry is a change of work. Ralph's own files are not.
func (e entry) isWork() bool { return !e.isWithin(ours) }

func (e entry) isWithin(paths []string) bool {
	return slices.ContainsFunc(paths, func(path string) bool {
		return e.path == path || strings.HasPrefix(e.path, path+"/")
	})
}

// maxFileSize is GitHub's limit for a file. git is busy with larger ones for minutes.
const maxFileSize = 100 << 20

const (
	maxMeasured = 200_000
	maxHuge     = 100
)

// Huge returns the new or changed files above maxFileSize, which snapshots leave out.
func (s *Inspection) Huge(ctx context.Context) []string {
	if s.measured {
		return s.huge
	}
	s.measured = true
	root, err := untrusted.OpenRoot(s.tree.Dir)
	if err != nil {
		return nil
	}
	defer root.Close() //nolint:errcheck // only a handle
	files := largeFiles{left: maxMeasured}
	for _, e := range s.found {
		if e.path != "" && e.isWork() {
			_ = root.Walk(ctx, strings.TrimSuffix(e.path, "/"), files.visit) // unreadable files do not count
		}
	}
	s.huge = files.huge
	return s.huge
}

type largeFiles struct {
	left int
	huge []string
}

func (w *largeFiles) visit(e untrusted.Entry, err error) error {
	w.left--
	switch {
	case w.left < 0 || len(w.huge) == maxHuge:
		return fs.SkipAll
	case err != nil:
		return nil //nolint:nilerr // unreadable files do not count
	case e.Info.IsDir() && e.Info.Name() == ".git":
		return fs.SkipDir
	case e.Info.Mode().IsRegular() && e.Info.Size() > maxFileSize:
		w.huge = append(w.huge, e.Path)
	}
	return nil
}
