package box

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
)

// delivered is a path before its first delivery, and as each delivery made it, or was about to when ralph was killed.
type delivered struct {
	Was version
	Now []version
}

// deliveredLine is one of the list. A path need not be valid UTF-8.
type deliveredLine struct{ Path, Was, Now []byte }

// before is a folder with the user's files as they were before their first delivery, and a list of all deliveries. Both are
// written before the user's file is.
type before struct {
	files folderOf
	list  map[string]delivered
	log   *os.File
}

func (b Box) openBefore() (before, error) {
	kept := before{list: map[string]delivered{}}
	if err := os.MkdirAll(filepath.Join(b.Before, "files"), 0o755); err != nil {
		return kept, err
	}
	dir, err := openFolder(b.Before)
	if err != nil {
		return kept, err
	}
	defer dir.Close() //nolint:errcheck // only a handle
	if kept.log, err = dir.OpenFile("list.jsonl", os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o600); err != nil {
		return kept, err
	}
	for lines := json.NewDecoder(kept.log); err == nil; {
		var l deliveredLine
		if err = lines.Decode(&l); err == nil {
			kept.note(l)
		}
	}
	if !errors.Is(err, io.EOF) {
		return kept, errors.Join(fmt.Errorf("read what was delivered: %w", err), kept.log.Close())
	}
	kept.files, err = openFolder(filepath.Join(b.Before, "files"))
	return kept, err
}

func (k before) note(l deliveredLine) {
	one, known := k.list[string(l.Path)]
	if !known {
		one.Was = version(l.Was)
	}
	one.Now = append(one.Now, version(l.Now))
	k.list[string(l.Path)] = one
}

// keep copies the user's version of a path, unless an earlier delivery did, and lists what the path is about to become.
func (k before) keep(user folderOf, name string, was, now version) error {
	if _, known := k.list[name]; !known && was != none {
		if _, err := user.copyTo(k.files, name); err != nil {
			return err
		}
	}
	l := deliveredLine{[]byte(name), []byte(was), []byte(now)}
	text, err := json.Marshal(l)
	if err == nil {
		_, err = k.log.Write(append(text, '\n'))
	}
	k.note(l)
	return err
}

func (k before) close() error { return errors.Join(k.log.Close(), k.files.Close()) }

// Undo makes the delivered files of the user's folder what they were, where they are still as they were delivered.
func (b Box) Undo(ctx context.Context) (done Brought, err error) {
	kept, err := b.openBefore()
	if err != nil {
		return done, err
	}
	user, err := openFolder(b.User)
	if err != nil {
		return done, errors.Join(err, kept.close())
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
	case users == one.Was: // it never came, or is taken back
		return nil
	case !slices.Contains(one.Now, users), !user.isFree(name):
		done.Left = append(done.Left, Left{name, "it was changed since"})
		return nil
	case isMade:
		err = user.remove(name)
	default:
		_, err = k.files.copyTo(user, name)
	}
	if err == nil {
		done.Paths = append(done.Paths, name)
	}
	return err
}
