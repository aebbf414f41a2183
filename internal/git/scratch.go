package git

import (
	"context"
	"crypto/rand"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// scratch is an index of the program's own.
type scratch struct {
	tamed
	index string
	alien bool // repositories within may get in
}

func (t tamed) scratch() (s scratch, done func()) {
	s = scratch{tamed: t, index: filepath.Join(t.lair().dir, "ralph-"+rand.Text()+".index"), alien: true}
	return s, func() { _ = os.Remove(s.index) } // where git failed early there is none
}

func (s scratch) on(args ...string) Call {
	return Call{Args: args, Env: []string{"GIT_INDEX_FILE=" + s.index}}
}

// copyIndex makes it an index of HEAD that knows what the real one knows of the
// files, so that only changed ones are read. A real one that is locked or
// broken costs no more than that.
func (s scratch) copyIndex(ctx context.Context) error {
	err := s.run(ctx, "read-tree", "--reset", "--index-output="+s.index, "HEAD")
	if _, ok := Answered(err); ok {
		_, err = s.Do(ctx, s.on("read-tree", "HEAD"))
	}
	return err
}

// drop forgets paths; the files stay.
func (s scratch) drop(ctx context.Context, paths []string) error {
	if len(paths) == 0 {
		return nil
	}
	forget := append([]string{"rm", "-r", "-f", "-q", "--cached", "--sparse", "--ignore-unmatch", "--"}, literal(paths)...)
	if _, err := s.Do(ctx, s.on(forget...)); err != nil {
		return fmt.Errorf("leave out what is no work: %w", err)
	}
	return nil
}

func (s scratch) add(ctx context.Context, specs []string) error {
	add := append([]string{"add", "--all", "--ignore-errors", "--"}, specs...)
	// 1 says that some files could not be read; the others are in.
	if _, err := s.Do(ctx, s.on(add...)); err != nil && !SaidNo(err) {
		return fmt.Errorf("add the working tree: %w", err)
	}
	return nil
}

func (s scratch) write(ctx context.Context) (string, error) {
	if s.alien {
		if err := s.leaveOutRepositories(ctx); err != nil {
			return "", err
		}
	}
	out, err := s.Do(ctx, s.on("write-tree"))
	if err != nil {
		return "", fmt.Errorf("write the tree: %w", err)
	}
	return ObjectID(out, nil)
}

func (s scratch) leaveOutRepositories(ctx context.Context) error {
	added, err := s.added(ctx)
	if err != nil {
		return fmt.Errorf("look for repositories within: %w", err)
	}
	var paths []string
	for _, c := range added {
		if c.Mode == ModeLink {
			paths = append(paths, c.Path)
		}
	}
	return s.remove(ctx, paths)
}

// added is what HEAD has not.
func (s scratch) added(ctx context.Context) ([]Change, error) {
	out, err := s.Do(ctx, s.on("diff-index", "--cached", "--raw", "-z", "--no-renames", "--ignore-submodules=none", "--no-abbrev", "--diff-filter=A", "HEAD"))
	if err != nil {
		return nil, err
	}
	return parseRaw(out)
}

// remove takes single entries out.
func (s scratch) remove(ctx context.Context, paths []string) error {
	if len(paths) == 0 {
		return nil
	}
	c := s.on("update-index", "--force-remove", "-z", "--stdin")
	c.Stdin = strings.NewReader(strings.Join(paths, "\x00") + "\x00")
	if _, err := s.Do(ctx, c); err != nil {
		return fmt.Errorf("leave out what is no work: %w", err)
	}
	return nil
}
