package git

import (
	"context"
	"fmt"
	"strings"
)

// Top are the names in a folder of a commit, those of folders with a slash
// after them; the commit's own where the path is empty.
func (t *Trusted) Top(ctx context.Context, at At) ([]string, error) {
	if err := CheckSHA(at.Commit); err != nil {
		return nil, err
	}
	args := []string{"ls-tree", "-z", "--full-tree", at.Commit}
	folder := strings.Trim(at.Path, "/")
	if folder != "" {
		args = append(args, "--", folder+"/")
	}
	out, err := t.Do(ctx, Call{Args: args})
	if err != nil {
		return nil, fmt.Errorf("list %.12s: %w", at.Commit, err)
	}
	var names []string
	for entry := range strings.SplitSeq(string(out), "\x00") {
		about, name, found := strings.Cut(entry, "\t")
		if !found {
			continue
		}
		if strings.Contains(about, " tree ") {
			name += "/"
		}
		if folder != "" {
			name = strings.TrimPrefix(name, folder+"/")
		}
		names = append(names, name)
	}
	return names, nil
}
