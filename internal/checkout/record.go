package checkout

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"maps"
	"path"
	"slices"

	"github.com/ralph-loop/ralph/internal/confine"
	"github.com/ralph-loop/ralph/internal/git"
	"github.com/ralph-loop/ralph/internal/journal"
	"github.com/ralph-loop/ralph/internal/proof"
	paths "github.com/ralph-loop/ralph/internal/suite"
	"github.com/ralph-loop/ralph/internal/untrusted"
)

// record has the tests of a clean checkout, and the files that define its checks, before
// setup and checks run. These run code of the agent, which could change them.
type record struct {
	trusted *git.Trusted
	sb      *confine.Sandbox
	run     journal.Run
	at      proof.Place
	sums    map[string]fileDigest
}

func (c *Clean) newRecord(ctx context.Context, run journal.Run, at proof.Place) (record, error) {
	s := record{trusted: c.Trusted, sb: c.Sandbox, run: run, at: at, sums: map[string]fileDigest{}}
	defining, err := c.definitions(ctx, run)
	if err != nil {
		return s, err
	}
	listed, err := c.Trusted.ListAll(ctx, cmp.Or(at.Stand, at.Commit))
	if err != nil {
		return s, err
	}
	root, err := untrusted.OpenRoot(at.Dir)
	if err != nil {
		return s, fmt.Errorf("look at the checkout: %w", err)
	}
	defer root.Close() //nolint:errcheck // only a handle
	for _, name := range defining {
		s.note(ctx.Err, root, name)
	}
	for _, entry := range listed {
		if paths.IsTest(entry.Path) {
			s.note(ctx.Err, root, entry.Path)
		}
	}
	return s, ctx.Err()
}

func (s record) note(ended func() error, root *untrusted.Root, name string) {
	if info, err := root.Lstat(name); err == nil && info.Mode().IsRegular() {
		if sum, err := digest(ended, root, name, info.Size()); err == nil {
			s.sums[name] = fileDigest{info.Size(), sum}
		}
	}
}

type fileDigest struct {
	size int64
	sum  string
}

// digest returns the digest of the first size bytes of a file. A file above largestRecorded has none: a
// sparse one would be read for days. It stops once ended returns an error.
func digest(ended func() error, root *untrusted.Root, name string, size int64) (string, error) {
	if size > largestRecorded {
		return "", nil
	}
	file, err := root.Open(name)
	if err != nil {
		return "", err
	}
	defer file.Close() //nolint:errcheck // was only read
	sum := sha256.New()
	for part := io.LimitReader(file, size); err == nil && ended() == nil; {
		_, err = io.CopyN(sum, part, 1<<20)
	}
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return string(sum.Sum(nil)), errors.Join(err, ended())
}

const largestRecorded = 64 << 20

// restore restores changed files and reports them, and adds late files.
func (s record) restore(ctx context.Context, emit emit) error {
	root, err := untrusted.OpenRoot(s.at.Dir)
	if err != nil {
		return fmt.Errorf("look at the checkout: %w", err)
	}
	defer root.Close() //nolint:errcheck // only a handle
	changed := s.changed(ctx.Err, root)
	for _, name := range slices.Concat(changed, s.at.Late) {
		if err := s.restoreFile(ctx, root, name); err != nil {
			return fmt.Errorf("put back %s after setup: %w", name, err)
		}
	}
	if len(s.at.Late) > 0 { // new folders, too
		err = s.sb.Lend(ctx, s.at.Dir, ".")
	}
	note := journal.Noted{
		What: "setup changed tests, or what defines the checks, and they were put back: " + journal.ShortList(changed),
		Hint: "make it leave these files unchanged",
	}
	if len(changed) > 0 && !slices.Contains(s.run.Notes, note) {
		emit(note)
	}
	return errors.Join(err, ctx.Err())
}

func (s record) changed(ended func() error, root *untrusted.Root) []string {
	return slices.DeleteFunc(slices.Sorted(maps.Keys(s.sums)), func(name string) bool {
		info, err := root.Lstat(name)
		if err != nil || !info.Mode().IsRegular() || info.Size() != s.sums[name].size || info.Size() > largestRecorded { // not read, so it may have any size
			return false
		}
		sum, err := digest(ended, root, name, info.Size())
		return err == nil && sum == s.sums[name].sum
	})
}

// watch fails a check that changed tests or check definitions while it ran,
// because its result cannot be trusted. A check that does so at the base is
// excused: it changes them by itself.
func (s record) watch(emit emit) emit {
	if s.at.Where == journal.AtTests {
		return emit // a passing check proves nothing there
	}
	return func(event journal.Event) {
		if ended, is := event.(journal.CheckEnded); is && ended.Passed {
			event = s.distrust(ended, emit)
		}
		emit(event)
	}
}

// distrust fails a check that passed if it changed recorded files.
func (s record) distrust(ended journal.CheckEnded, emit emit) journal.CheckEnded {
	changed := []string{"the whole checkout"}
	if root, err := untrusted.OpenRoot(s.at.Dir); err == nil {
		changed = s.changed(func() error { return nil }, root)
		_ = root.Close()
	}
	what := "the check " + ended.Name + " changed tests, or what defines the checks, while it ran"
	const hint = "make what it builds and runs leave these files unchanged"
	own := journal.Noted{What: what + " at the base: " + journal.ShortList(changed), Hint: hint}
	note := journal.Noted{What: what + ": " + journal.ShortList(changed), Hint: hint}
	switch {
	case len(changed) == 0 || slices.Contains(s.run.Notes, own):
		return ended
	case s.at.Where == journal.AtBase:
		emit(own)
		return ended
	case !slices.Contains(s.run.Notes, note):
		emit(note)
	}
	ended.Passed = false
	ended.Excerpt += "\n" + note.What + "; its result does not count - " + hint + "\n"
	return ended
}

// restoreFile makes a file as the commit has it, or removes it. It follows no link. The file is made executable,
// which makes no check pass.
func (s record) restoreFile(ctx context.Context, root *untrusted.Root, name string) error {
	text, err := s.trusted.ReadFile(ctx, git.At{Commit: cmp.Or(s.at.Stand, s.at.Commit), Path: name}, largestRecorded)
	if errors.Is(err, git.ErrNotFound) {
		return root.RemoveAll(name)
	}
	if err != nil {
		return err
	}
	if err := errors.Join(root.RemoveAll(name), root.MkdirAll(path.Dir(name), 0o755), root.WriteFile(name, text, 0o755)); err != nil {
		return err
	}
	return s.sb.Lend(ctx, s.at.Dir, name)
}
