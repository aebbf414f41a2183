package git

import (
	"context"
	"fmt"
	"slices"
	"strings"
)

// FilesMatching returns the files below paths, in a commit, that match one of the extended regular expressions.
func (t *Trusted) FilesMatching(ctx context.Context, commit string, expressions, paths []string) ([]string, error) {
	if len(paths) > searchPaths { // git compares each with each file, and a command line has a limit
		found, err := t.FilesMatching(ctx, commit, expressions, []string{""})
		paths = slices.Sorted(slices.Values(paths))
		return slices.DeleteFunc(found, func(name string) bool {
			_, ok := slices.BinarySearch(paths, name)
			return !ok
		}), err
	}
	out, err := t.search(ctx, commit, expressions, paths)
	if out == "" || err != nil {
		return nil, err
	}
	var found []string
	for name := range strings.SplitSeq(strings.TrimSuffix(out, "\x00"), "\x00") {
		found = append(found, strings.TrimPrefix(name, commit+":"))
	}
	return found, nil
}

const (
	searchPaths = 400 // paths of one search
	maxMatches  = 64 << 20
)

// search returns what git grep prints; nothing without paths. git reads the expressions from
// stdin, because thousands are too long for a command line. They are one expression: git reads
// a file once for each.
func (t *Trusted) search(ctx context.Context, commit string, expressions, paths []string) (string, error) {
	if err := CheckSHA(commit); err != nil || len(paths) == 0 {
		return "", err
	}
	args := slices.Concat([]string{"grep", "-l", "-z", "-I", "-E", "-f", "-", commit, "--"}, literal(paths))
	out, err := t.askCached(ctx, Call{Args: args, Limit: maxMatches}, strings.Join(expressions, "|"))
	if failed, ok := Answered(err); ok && failed.Exit == 1 {
		return "", nil
	}
	if err != nil {
		return "", fmt.Errorf("search %.12s: %w", commit, err)
	}
	return string(out), nil
}
