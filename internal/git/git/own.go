package git

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/ralph-loop/ralph/internal/git/guarded"
)

// Own returns the user's repository as a tree, for an agent that works in the user's own files. Ralph commits there as
// the user, if git knows the user's name, and without files that the user ignores.
func (g Git) Own(ctx context.Context, at Place) (*Tree, error) {
	own, err := g.at(ctx, at)
	if err != nil {
		return nil, err
	}
	return &Tree{Dir: at.Top, Author: own.settings.identity(), repository: own}, nil
}

// Identity returns the user's own, if git knows it.
func (p Place) Identity() Identity { return p.settings.identity() }

// Look returns the state of the tree.
func (t *Tree) Look(ctx context.Context) (TreeState, error) {
	s, err := t.Inspect(ctx)
	if err != nil {
		return TreeState{}, err
	}
	return s.State(ctx)
}

// State returns the state of the tree.
func (s *Inspection) State(ctx context.Context) (TreeState, error) {
	work, err := s.Work(ctx)
	return TreeState{Head: s.Head, Tree: s.Tree, Work: work, Dirty: s.Dirty}, err
}

// TreeState is the state of a tree.
type TreeState struct {
	Head  string
	Tree  string // of Head
	Work  string // a tree of the working files, uncommitted work included
	Dirty bool
}

// Exclude makes git ignore patterns in the user's repository without changing a tracked file.
func (g Git) Exclude(ctx context.Context, at Place, patterns ...string) error {
	own, err := g.at(ctx, at)
	if err != nil {
		return err
	}
	_, err = guarded.AddLines(own.common, "info/exclude", patterns...)
	return err
}

// PathCommit is a commit of some paths in the user's own tree.
type PathCommit struct {
	Paths   []string // files and folders, relative to the top
	Message Message
}

// Commit commits the files at some paths and returns the new commit, or HEAD if they have no changes that git does not
// ignore. Other changes stay out, staged ones too. No hook or filter runs, and the commit is not signed.
func (g Git) Commit(ctx context.Context, place Place, what PathCommit) (string, error) {
	tree, err := g.Own(ctx, place)
	if err != nil {
		return "", err
	}
	sha, err := tree.commitPaths(ctx, what)
	if err != nil {
		return "", fmt.Errorf("commit in %s: %w", place.Top, err)
	}
	return sha, nil
}

// commitPaths uses a separate index, so that the user's staged changes stay out.
func (t *Tree) commitPaths(ctx context.Context, what PathCommit) (string, error) {
	out, err := t.Ask(ctx, "rev-parse", "HEAD^{commit}", "HEAD^{tree}")
	if err != nil {
		return "", err
	}
	head, old, _ := strings.Cut(out, "\n")
	on, done := t.scratch()
	defer done()
	if _, err := on.Do(ctx, on.indexCall("read-tree", "HEAD")); err != nil {
		return "", err
	}
	paths := literal(what.Paths)
	for _, path := range paths { // one by one: git refuses all if one is ignored
		if err := on.add(ctx, []string{path}); err != nil {
			return "", err
		}
	}
	tree, err := ObjectID(on.Do(ctx, on.indexCall("write-tree")))
	if err != nil || tree == old {
		return head, err
	}
	sha, err := t.commit(ctx, head, tree, what.Message)
	if err != nil {
		return "", err
	}
	// Updates only these paths in the user's index, and no file. It comes first: if ralph is killed before HEAD
	// moves, the index does not have the commit's files as removed.
	if err := t.run(ctx, append([]string{"reset", "-q", sha, "--"}, paths...)...); err != nil {
		return "", err
	}
	// Fails if the branch has moved since HEAD was read.
	reason := "commit: " + OneLine(what.Message.Subject, 200)
	if err := t.run(ctx, "update-ref", "-m", reason, "HEAD", sha, head); err != nil {
		return "", errors.Join(err, t.run(ctx, append([]string{"reset", "-q", "--"}, paths...)...))
	}
	return sha, nil
}

func literal(paths []string) []string {
	var specs []string
	for _, path := range paths {
		specs = append(specs, ":(top,literal)"+path)
	}
	return specs
}
