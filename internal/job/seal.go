package job

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path"
	"slices"

	"github.com/ralph-loop/ralph/internal/git"
	"github.com/ralph-loop/ralph/internal/journal"
	"github.com/ralph-loop/ralph/internal/proof"
	paths "github.com/ralph-loop/ralph/internal/suite"
	"github.com/ralph-loop/ralph/internal/yardstick"
)

// seal is how the tests of a clean checkout, and what defines its checks, were
// before setup or checks were at work there. What these run may be the agent's
// own, and could have them say what it likes.
type seal struct {
	trusted *git.Trusted
	wall    *Wall
	run     journal.Run
	at      proof.Place
	sums    map[string][]byte
}

func sealed(ctx context.Context, trusted *git.Trusted, wall *Wall, run journal.Run, at proof.Place) (seal, error) {
	s := seal{trusted: trusted, wall: wall, run: run, at: at, sums: map[string][]byte{}}
	root, err := os.OpenRoot(at.Dir)
	if err != nil {
		return s, fmt.Errorf("look at the checkout: %w", err)
	}
	defer root.Close() //nolint:errcheck // only a handle
	base := reader{ctx: ctx, trusted: trusted, commit: run.Base}
	for _, name := range yardstick.Paths(commands(run), base.file) {
		s.note(root, name)
	}
	if base.err != nil {
		return s, base.err
	}
	err = fs.WalkDir(root.FS(), ".", func(name string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && name == ".git":
			return fs.SkipDir
		case entry.Type().IsRegular() && paths.Of(name) == paths.Test:
			s.note(root, name)
		}
		return ctx.Err()
	})
	return s, err
}

// note takes in a file, if it is one.
func (s seal) note(root *os.Root, name string) {
	if sum := summed(root, name); sum != nil {
		s.sums[name] = sum
	}
}

// summed is what a regular file comes to; nil: there is none.
func summed(root *os.Root, name string) []byte {
	if info, err := root.Lstat(name); err != nil || !info.Mode().IsRegular() {
		return nil
	}
	file, err := root.Open(name)
	if err != nil {
		return nil
	}
	defer file.Close() //nolint:errcheck // was only read
	sum := sha256.New()
	if _, err := io.Copy(sum, file); err != nil {
		return nil
	}
	return sum.Sum(nil)
}

// largestSealed is the most that is put back of a file.
const largestSealed = 64 << 20

// mend puts back what is not as it was, and says so.
func (s seal) mend(ctx context.Context, emit emit) error {
	root, err := os.OpenRoot(s.at.Dir)
	if err != nil {
		return fmt.Errorf("look at the checkout: %w", err)
	}
	defer root.Close() //nolint:errcheck // only a handle
	changed := s.changed(root)
	for _, name := range changed {
		if err := s.put(ctx, root, name); err != nil {
			return fmt.Errorf("put back %s after setup: %w", name, err)
		}
	}
	note := journal.Noted{
		What: "setup changed tests, or what defines the checks, and they were put back: " + journal.Few(changed),
		Hint: "have it leave these files alone",
	}
	if len(changed) > 0 && !slices.Contains(s.run.Notes, note) {
		emit(note)
	}
	return ctx.Err()
}

// changed are the files that are not as they were.
func (s seal) changed(root *os.Root) []string {
	return slices.DeleteFunc(slices.Sorted(maps.Keys(s.sums)), func(name string) bool { return bytes.Equal(summed(root, name), s.sums[name]) })
}

// watch has no check pass that changed tests, or what defines the checks, while
// it ran: nobody knows what it was measured by. One that does so at the base
// does it by itself.
func (s seal) watch(emit emit) emit {
	if s.at.Where == journal.AtTests {
		return emit // nothing is better there for having passed
	}
	return func(event journal.Event) {
		if ended, is := event.(journal.CheckEnded); is && ended.Passed {
			event = s.weigh(ended, emit)
		}
		emit(event)
	}
}

// weigh is a check that passed, as it counts.
func (s seal) weigh(ended journal.CheckEnded, emit emit) journal.CheckEnded {
	changed := []string{"the whole checkout"}
	if root, err := os.OpenRoot(s.at.Dir); err == nil {
		changed = s.changed(root)
		_ = root.Close()
	}
	what := "the check " + ended.Name + " changed tests, or what defines the checks, while it ran"
	const hint = "have what it builds and runs leave these files alone"
	own := journal.Noted{What: what + " at the base: " + journal.Few(changed), Hint: hint}
	note := journal.Noted{What: what + ": " + journal.Few(changed), Hint: hint}
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
	ended.Excerpt += "\n" + note.What + "; so what it says counts for nothing - " + hint + "\n"
	return ended
}

// put has a file be what the commit has. No link is followed. That it can be run
// then makes no check say more.
func (s seal) put(ctx context.Context, root *os.Root, name string) error {
	text, err := s.trusted.ReadFile(ctx, git.At{Commit: cmp.Or(s.at.Stand, s.at.Commit), Path: name}, largestSealed)
	if err != nil {
		return err
	}
	if err := errors.Join(root.RemoveAll(name), root.MkdirAll(path.Dir(name), 0o755), root.WriteFile(name, text, 0o755)); err != nil {
		return err
	}
	return s.wall.Lend(s.at.Dir, name)
}
