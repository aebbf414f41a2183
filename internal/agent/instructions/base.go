package instructions

import (
	"context"
	"fmt"
	"path"
	"strings"

	"github.com/ralph-loop/ralph/internal/git/git"
)

// OfCommit returns the instructions of a commit.
func OfCommit(ctx context.Context, do git.Runner, commit string) (Source, error) {
	c, err := open(ctx, do, commit)
	if err != nil {
		return Source{}, err
	}
	return Source{
		Commit: commit,
		Files:  c.names,
		Read:   func(name string) string { return c.text(ctx, name) },
	}, nil
}

type commit struct {
	do    git.Runner
	names []string
	blobs map[string]blob
}

type blob struct {
	id   string
	link bool
}

func open(ctx context.Context, do git.Runner, sha string) (commit, error) {
	if err := git.CheckSHA(sha); err != nil {
		return commit{}, err
	}
	out, err := do(ctx, git.Call{Args: []string{"ls-tree", "-r", "-z", "--full-tree", sha}, Limit: 64 << 20})
	if err != nil {
		return commit{}, fmt.Errorf("list the files of %.12s: %w", sha, err)
	}
	c := commit{do: do, blobs: map[string]blob{}}
	for line := range strings.SplitSeq(string(out), "\x00") {
		entry, name, _ := strings.Cut(line, "\t")
		fields := strings.Fields(entry)
		if len(fields) != 3 || fields[0] == git.ModeLink {
			continue
		}
		c.names = append(c.names, name)
		c.blobs[name] = blob{id: fields[2], link: fields[0] == git.ModeSymlink}
	}
	return c, nil
}

func (c commit) read(ctx context.Context, name string) ([]byte, error) {
	return c.do(ctx, git.Call{Args: []string{"cat-file", "blob", c.blobs[name].id}, Limit: maxRead})
}

const maxRead = 1 << 20

// text returns a file, through at most two links; empty: there is none.
func (c commit) text(ctx context.Context, name string) string {
	for range 3 {
		b, found := c.blobs[name]
		if !found {
			return ""
		}
		data, err := c.read(ctx, name)
		if err != nil {
			return ""
		}
		if !b.link {
			return string(data)
		}
		name = path.Join(path.Dir(name), string(data))
	}
	return ""
}
