package git

import (
	"context"
	"fmt"
	"strings"
)

// LeaveOut returns the changes that a commit in a clone may not have, because a filter has to write these files and
// none runs there: those that the project encrypts (git-crypt, git-agecrypt, crypt of transcrypt), and existing files
// of Git LFS.
func (t *Tree) LeaveOut(ctx context.Context, changes []Change) ([]Change, error) {
	if t.plain == "" {
		return nil, nil
	}
	paths := Paths(changes)
	filters, err := filtersOf(ctx, t.Do, paths)
	if err != nil {
		return nil, err
	}
	var out []Change
	for i, c := range changes {
		encrypts := strings.Contains(filters[i], "crypt")
		points := filters[i] == "lfs" && isFile(c.OldMode)
		if isFile(c.Mode) && (encrypts || points) {
			out = append(out, c)
		}
	}
	return out, nil
}

func isFile(mode string) bool { return mode != ModeNone && mode != ModeGitlink && mode != ModeSymlink }

// leaveOutAt undoes such changes at some paths from a tree to a later one, and returns their paths.
func (t *Tree) leaveOutAt(
	ctx context.Context, from, to string, at []string,
) (tree string, left []string, err error) {
	if from == to || len(at) == 0 {
		return to, nil, nil
	}
	changes, err := Compare(ctx, t.Do, Span{From: from, To: to}, literal(at)...)
	if err != nil {
		return "", nil, err
	}
	out, err := t.LeaveOut(ctx, changes)
	if err != nil {
		return "", nil, err
	}
	tree, err = t.Without(ctx, to, out)
	return tree, Paths(out), err
}

// filtersOf returns the name of each file's filter.
func filtersOf(ctx context.Context, do Runner, paths []string) ([]string, error) {
	if len(paths) == 0 {
		return nil, nil
	}
	names := strings.NewReader(strings.Join(paths, "\x00") + "\x00")
	out, err := do(ctx, Call{Args: []string{"check-attr", "-z", "--stdin", "filter"}, Stdin: names, Limit: maxList})
	if err != nil {
		return nil, fmt.Errorf("look for files with filters: %w", err)
	}
	fields := strings.Split(string(out), "\x00") // path, attribute and value of each
	filters := make([]string, len(paths))
	for i := range filters {
		filters[i] = fields[min(3*i+2, len(fields)-1)]
	}
	return filters, nil
}
