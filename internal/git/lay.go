package git

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/ralph-loop/ralph/internal/untrusted"
)

// lay puts the pack that was taken in last into the user's store, as their git
// does when it fetches one: to fetch what is there already takes no second git
// that packs it, and no third that reads it. Where that cannot be done, the
// pack is fetched. It has to be ended, by whether the pack is of use: what is
// not goes again.
func (t *Trusted) lay(to Place) (end func(use bool)) {
	if t.newest == "" || len(to.stores) == 0 {
		return func(bool) {}
	}
	store, err := untrusted.OpenRoot(filepath.Join(to.stores[0], "pack")) // no link leads out of it
	if err != nil {
		return func(bool) {}
	}
	l := laid{store: store, name: "pack-" + t.newest}
	if err := l.copyFrom(filepath.Join(t.objects(), "pack")); err != nil {
		l.end(false)
		return func(bool) {}
	}
	return l.end
}

// laid is a pack in somebody else's store.
type laid struct {
	store *untrusted.Root
	name  string
	made  []string // in the order in which they came into place
}

// copyFrom copies the pack. A file beside it keeps it from being tidied away
// before a branch leads to it.
func (l *laid) copyFrom(dir string) error {
	keep, err := l.store.OpenFile(l.name+".keep", os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	l.made = append(l.made, ".keep")
	if err := keep.Close(); err != nil {
		return err
	}
	for _, end := range packEnds {
		if err := l.copy(filepath.Join(dir, l.name+end), end); err != nil {
			return err
		}
	}
	return nil
}

// copy copies one file of it, under a name that git knows for a leftover until
// it is whole.
func (l *laid) copy(from, end string) error {
	if _, err := l.store.Lstat(l.name + end); err == nil {
		return fs.ErrExist
	}
	source, err := untrusted.Open(from)
	if err != nil {
		return err
	}
	defer source.Close() //nolint:errcheck // only read
	young := "tmp_" + l.name + end
	file, err := l.store.OpenFile(young, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o444)
	if err != nil {
		return err
	}
	_, err = io.Copy(file, source)
	if err := errors.Join(err, file.Sync(), file.Close()); err != nil {
		return errors.Join(err, l.store.Remove(young))
	}
	l.made = append(l.made, end)
	return l.store.Rename(young, l.name+end)
}

// end takes away what is of no use any more, the index first.
func (l *laid) end(use bool) {
	defer l.store.Close() //nolint:errcheck // only a handle
	for _, end := range slices.Backward(l.made) {
		if end == ".keep" || !use {
			_ = l.store.Remove(l.name + end) // git tidies up what stays
		}
	}
}
