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
	Original version
	Made     []version
}

// deliveredLine is one of the list. A path need not be valid UTF-8.
type deliveredLine struct{ Path, Was, Now []byte }

// before is a folder with the user's files as they were before their first delivery, and a list of all deliveries. Both
// are written before the user's file is.
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
	kept.log, err = dir.OpenFile("list.jsonl", os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return kept, err
	}
	if err := kept.read(); err != nil {
		return kept, errors.Join(fmt.Errorf("read what was delivered: %w", err), kept.log.Close())
	}
	kept.files, err = openFolder(filepath.Join(b.Before, "files"))
	if err != nil {
		return kept, errors.Join(err, kept.log.Close())
	}
	return kept, nil
}

func (k before) read() error {
	lines := json.NewDecoder(k.log)
	for {
		var l deliveredLine
		err := lines.Decode(&l)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		k.add(l)
	}
}

func (k before) add(l deliveredLine) {
	d, ok := k.list[string(l.Path)]
	if !ok {
		d.Original = version(l.Was)
	}
	d.Made = append(d.Made, version(l.Now))
	k.list[string(l.Path)] = d
}

// keep copies the user's version of a path, unless an earlier delivery did, and lists what the path is about to become.
func (k before) keep(user folderOf, name string, users, boxes version) error {
	if _, ok := k.list[name]; !ok && users != none {
		if _, err := user.copyTo(k.files, name); err != nil {
			return err
		}
	}
	l := deliveredLine{Path: []byte(name), Was: []byte(users), Now: []byte(boxes)}
	text, err := json.Marshal(l)
	if err != nil {
		return err
	}
	if _, err := k.log.Write(append(text, '\n')); err != nil {
		return err
	}
	k.add(l)
	return nil
}

func (k before) close() error { return errors.Join(k.log.Close(), k.files.Close()) }

// Undo makes the delivered files of the user's folder what they were, where they are still as they were delivered.
func (b Box) Undo(ctx context.Context) (Brought, error) {
	kept, err := b.openBefore()
	if err != nil {
		return Brought{}, err
	}
	user, err := openFolder(b.User)
	if err != nil {
		return Brought{}, errors.Join(err, kept.close())
	}
	defer user.Close() //nolint:errcheck // only a handle
	done, err := kept.undoAll(ctx, user)
	return done, errors.Join(err, kept.close())
}

func (k before) undoAll(ctx context.Context, user folderOf) (Brought, error) {
	var done Brought
	for _, isMade := range []bool{true, false} { // what was made goes before the rest comes back
		for _, name := range slices.Sorted(maps.Keys(k.list)) {
			if err := ctx.Err(); err != nil {
				return done, fmt.Errorf("take back %s: %w", name, err)
			}
			if err := k.undo(user, name, isMade, &done); err != nil {
				return done, fmt.Errorf("take back %s: %w", name, err)
			}
		}
	}
	return done, nil
}

func (k before) undo(user folderOf, name string, isMade bool, done *Brought) error {
	d := k.list[name]
	if (d.Original == none) != isMade {
		return nil
	}
	users, err := user.version(name)
	switch {
	case err != nil:
		return err
	case users == d.Original: // it never came, or is taken back
		return nil
	case !slices.Contains(d.Made, users), !user.isFree(name):
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
