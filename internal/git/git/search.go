package git

import (
	"context"
	"fmt"
	"strings"
)

const maxMatches = 64 << 20

// FilesMatching returns the files in a commit that match an extended regular expression.
func (t *Trusted) FilesMatching(ctx context.Context, commit, expression string) ([]string, error) {
	if err := CheckSHA(commit); err != nil {
		return nil, err
	}
	args := []string{"grep", "-l", "-z", "-I", "-E", "-e", expression, commit}
	out, err := t.askCached(ctx, Call{Args: args, Limit: maxMatches})
	if SaidNo(err) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("search %.12s: %w", commit, err)
	}
	var found []string
	for _, name := range splitNames(out) {
		found = append(found, strings.TrimPrefix(name, commit+":"))
	}
	return found, nil
}
