package box

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/google/renameio/v2"

	"github.com/ralph-loop/ralph/internal/untrusted"
)

// delivered is a path before its first delivery and after its last one.
type delivered struct {
	Was, Now version
}

// deliveredLine is one of the list. A path need not be valid UTF-8.
type deliveredLine struct{ Path, Was, Now []byte }

// before is a folder with the user's files as they were before their first delivery, and a list of all that was delivered.
type before struct {
	dir   string
	files folderOf
	list  map[string]delivered
}

func (b Box) openBefore() (before, error) {
	kept := before{dir: b.Before, list: map[string]delivered{}}
	if err := os.MkdirAll(filepath.Join(b.Before, "files"), 0o755); err != nil {
		return kept, err
	}
	var lines []deliveredLine
	text, err := untrusted.ReadFile(filepath.Join(b.Before, "list.json"), 1<<30)
	if err == nil {
		err = json.Unmarshal(text, &lines)
	}
	for _, l := range lines {
		kept.list[string(l.Path)] = delivered{version(l.Was), version(l.Now)}
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return kept, fmt.Errorf("read what was delivered: %w", err)
	}
	kept.files, err = openFolder(filepath.Join(b.Before, "files"))
	return kept, err
}

// keep copies the user's version of a path, unless an earlier delivery did.
func (k before) keep(user folderOf, name string, was version) error {
	if _, known := k.list[name]; known || was == none {
		return nil
	}
	_, err := user.copyTo(k.files, name)
	return err
}

func (k before) note(name string, was, now version) {
	if known, is := k.list[name]; is {
		was = known.Was
	}
	k.list[name] = delivered{was, now}
}

func (k before) close() error {
	lines := make([]deliveredLine, 0, len(k.list))
	for name, one := range k.list {
		lines = append(lines, deliveredLine{[]byte(name), []byte(one.Was), []byte(one.Now)})
	}
	text, err := json.Marshal(lines)
	if err == nil {
		err = renameio.WriteFile(filepath.Join(k.dir, "list.json"), text, 0o600)
	}
	return errors.Join(err, k.files.Close())
}

// Undo makes the delivered files of the user's folder what they were, where they are still as they were delivered.
func (b Box) Undo(ctx context.Context) (done Brought, err error) {
	kept, err := b.openBefore()
	if err != nil {
		return done, err
	}
	user, err := openFolder(b.User)
	if err != nil {
		return done, errors.Join(err, kept.files.Close())
	}
	defer user.Close()                           //nolint:errcheck // only a handle
	for _, isMade := range []bool{true, false} { // what was made goes before the rest comes back
		for _, name := range slices.Sorted(maps.Keys(kept.list)) {
			if err := errors.Join(ctx.Err(), kept.undo(user, name, isMade, &done)); err != nil {
				return done, errors.Join(fmt.Errorf("take back %s: %w", name, err), kept.close())
			}
		}
	}
	return done, kept.close()
}

func (k before) undo(user folderOf, name string, isMade bool, done *Brought) error {
	one := k.list[name]
	if (one.Was == none) != isMade {
		return nil
	}
	users, err := user.version(name)
	switch {
	case err != nil:
		return err
	case users != one.Now, !user.isFree(name):
		done.Left = append(done.Left, Left{name, "it was changed since"})
		return nil
	case isMade:
		err = user.remove(name)
	default:
		_, err = k.files.copyTo(user, name)
	}
	if err == nil {
		done.Paths = append(done.Paths, name)
		delete(k.list, name)
	}
	return err
}
