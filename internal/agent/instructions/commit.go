package instructions

import (
	"context"
	"path"

	"github.com/ralph-loop/ralph/internal/git/git"
)

// OfCommit returns a source that reads the files of a commit.
func OfCommit(ctx context.Context, do git.Runner, sha string) (Source, error) {
	c, err := open(ctx, do, sha)
	if err != nil {
		return Source{}, err
	}
	return Source{
		Commit: sha,
		Files:  c.names,
		Read:   func(name string) string { return c.text(ctx, name) },
	}, nil
}

// commit has the files of a commit, without those of other repositories.
type commit struct {
	do    git.Runner
	names []string // in git's order
	files map[string]git.TreeEntry
}

func open(ctx context.Context, do git.Runner, sha string) (commit, error) {
	all, err := git.ListAll(ctx, do, sha)
	if err != nil {
		return commit{}, err
	}
	c := commit{do: do, files: map[string]git.TreeEntry{}}
	for _, entry := range all {
		if entry.Mode != git.ModeGitlink {
			c.names = append(c.names, entry.Path)
			c.files[entry.Path] = entry
		}
	}
	return c, nil
}

func (c commit) isLink(name string) bool { return c.files[name].Mode == git.ModeSymlink }

func (c commit) read(ctx context.Context, name string) ([]byte, error) {
	return c.do(ctx, git.Call{Args: []string{"cat-file", "blob", c.files[name].ID}, Limit: maxRead})
}

const maxRead = 1 << 20

// text returns the text of a file, through at most two links. It is empty if the file cannot be read.
func (c commit) text(ctx context.Context, name string) string {
	for range 3 {
		if _, found := c.files[name]; !found {
			return ""
		}
		data, err := c.read(ctx, name)
		if err != nil {
			return ""
		}
		if !c.isLink(name) {
			return string(data)
		}
		name = path.Join(path.Dir(name), string(data))
	}
	return ""
}
