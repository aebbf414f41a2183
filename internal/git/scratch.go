package git

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/ralph-loop/ralph/internal/untrusted"
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

func (s scratch) on(args ...string) call {
	return call{args: args, env: []string{"GIT_INDEX_FILE=" + s.index}}
}

// copyIndex makes it an index of HEAD that knows what the real one knows of the
// files, so that only changed ones are read. A real one that is locked or
// broken costs no more than that.
func (s scratch) copyIndex(ctx context.Context) error {
	err := s.run(ctx, "read-tree", "--reset", "--index-output="+s.index, "HEAD")
	if _, ok := answered(err); ok {
		_, err = s.do(ctx, s.on("read-tree", "HEAD"))
	}
	return err
}

// mostIndex is more than an index of millions of files takes.
const mostIndex = 1 << 30

// borrowIndex makes it the real index, as it is. The time goes along: by that
// git knows which files may have been changed right after it was written. False
// where it cannot be copied, and where git runs as another user: that one could
// not read it.
func (s scratch) borrowIndex() bool {
	if s.Run != nil {
		return false
	}
	inside, err := untrusted.OpenRoot(s.lair().dir) // no link leads out of it
	if err != nil {
		return false
	}
	defer inside.Close() //nolint:errcheck // the files are closed by themselves
	info, err := inside.Lstat("index")
	if err != nil || !info.Mode().IsRegular() || info.Size() > mostIndex {
		return false
	}
	name := filepath.Base(s.index)
	return errors.Join(transfer(inside, "index", name), inside.Chtimes(name, info.ModTime(), info.ModTime())) == nil
}

// transfer makes to a copy of from.
func transfer(within *untrusted.Root, from, to string) error {
	source, err := within.Open(from)
	if err != nil {
		return err
	}
	defer source.Close() //nolint:errcheck // only read
	target, err := within.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(target, io.LimitReader(source, mostIndex))
	return errors.Join(err, target.Close())
}

// drop forgets paths; the files stay.
func (s scratch) drop(ctx context.Context, paths []string) error {
	if len(paths) == 0 {
		return nil
	}
	forget := append([]string{"rm", "-r", "-f", "-q", "--cached", "--sparse", "--ignore-unmatch", "--"}, literal(paths)...)
	if _, err := s.do(ctx, s.on(forget...)); err != nil {
		return fmt.Errorf("leave out what is no work: %w", err)
	}
	return nil
}

func (s scratch) add(ctx context.Context, specs []string) error {
	add := append([]string{"add", "--all", "--ignore-errors", "--"}, specs...)
	// 1 says that some files could not be read; the others are in.
	if _, err := s.do(ctx, s.on(add...)); err != nil && !no(err) {
		return fmt.Errorf("add the working tree: %w", err)
	}
	return nil
}

// bring adds what HEAD has at a path, as the files there are by now, and what
// is new there.
func (s scratch) bring(ctx context.Context, name string) error {
	kept, err := s.do(ctx, call{args: []string{"ls-tree", "-r", "-z", "--full-tree", "HEAD", "--", name}})
	if err != nil {
		return err
	}
	put := s.on("update-index", "-z", "--index-info")
	put.stdin = strings.NewReader(string(kept))
	if _, err := s.do(ctx, put); err != nil {
		return err
	}
	specs := append(literal([]string{name}), notOurs()...)
	there, err := s.do(ctx, s.on(append([]string{"ls-files", "-z", "--cached", "--others", "--exclude-standard", "--"}, specs...)...))
	if err != nil || len(there) == 0 { // of nothing at all add complains
		return err
	}
	return s.add(ctx, specs)
}

func (s scratch) write(ctx context.Context) (string, error) {
	if s.alien {
		if err := s.leaveOutRepositories(ctx); err != nil {
			return "", err
		}
	}
	out, err := s.do(ctx, s.on("write-tree"))
	if err != nil {
		return "", fmt.Errorf("write the tree: %w", err)
	}
	return object(out, nil)
}

func (s scratch) leaveOutRepositories(ctx context.Context) error {
	added, err := s.added(ctx)
	if err != nil {
		return fmt.Errorf("look for repositories within: %w", err)
	}
	var paths []string
	for _, c := range added {
		if c.mode == modeLink {
			paths = append(paths, c.path)
		}
	}
	return s.remove(ctx, paths)
}

// added is what HEAD has not.
func (s scratch) added(ctx context.Context) ([]change, error) {
	out, err := s.do(ctx, s.on("diff-index", "--cached", "--raw", "-z", "--no-renames", "--ignore-submodules=none", "--no-abbrev", "--diff-filter=A", "HEAD"))
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
	c.stdin = strings.NewReader(strings.Join(paths, "\x00") + "\x00")
	if _, err := s.do(ctx, c); err != nil {
		return fmt.Errorf("leave out what is no work: %w", err)
	}
	return nil
}
