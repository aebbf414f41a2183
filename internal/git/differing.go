package git

import (
	"context"
	"fmt"
	"strings"
)

// Differing is a path in which two commits differ.
type Differing struct {
	Path string
	Was  bool // it is in the earlier one
}

// Differing are the paths in which two commits differ.
func (t *Trusted) Differing(ctx context.Context, span Span) ([]Differing, error) {
	if err := CheckSHA(span.From, span.To); err != nil {
		return nil, err
	}
	changes, err := Compare(ctx, t.Do, span)
	if err != nil {
		return nil, fmt.Errorf("compare %.12s with %.12s: %w", span.From, span.To, err)
	}
	differing := make([]Differing, 0, len(changes))
	for _, c := range changes {
		differing = append(differing, Differing{c.Path, c.OldMode != ModeNone})
	}
	return differing, nil
}

// Holding are those of some paths of a commit whose files hold what an extended
// regular expression stands for.
func (t *Trusted) Holding(ctx context.Context, commit, expression string, paths []string) ([]string, error) {
	if err := CheckSHA(commit); err != nil || len(paths) == 0 {
		return nil, err
	}
	args := append([]string{"grep", "-l", "-z", "-I", "-E", "-e", expression, commit, "--"}, literal(paths)...)
	out, err := t.Do(ctx, Call{Args: args})
	if failed, ok := Answered(err); ok && failed.Exit == 1 {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("search %.12s: %w", commit, err)
	}
	var found []string
	for name := range strings.SplitSeq(strings.TrimSuffix(string(out), "\x00"), "\x00") {
		found = append(found, strings.TrimPrefix(name, commit+":"))
	}
	return found, nil
}
