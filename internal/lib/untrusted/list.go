package untrusted

import (
	"cmp"
	"errors"
	"io"
	"io/fs"
	"os"
	"slices"
)

// ErrCrowded says that a folder has more entries than are looked at.
var ErrCrowded = errors.New("there are too many names in the folder, or in it and those above")

const (
	perEntry = 100 // bytes that an entry takes besides its name
	perRead  = 1024
)

// MostListed is how many bytes of names are kept at a time. It changes in tests only.
var MostListed = 128 << 20

func sizeOf(e fs.DirEntry) int { return len(e.Name()) + perEntry }

// ReadDir lists the folder at a path, sorted by name.
func ReadDir(dir string) ([]fs.DirEntry, error) {
	root, err := OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	defer root.Close() //nolint:errcheck // only a handle
	return root.ReadDir(".")
}

// ReadDir lists a folder, sorted by name.
func (r *Root) ReadDir(name string) ([]fs.DirEntry, error) {
	left := MostListed
	return r.list(name, &left)
}

// Each visits what is in the folder, sorted by name. Calls within each other share what is left of MostListed.
func (r *Root) Each(left *int, visit func(fs.FileInfo) error) error {
	defer func(before int) { *left = before }(*left)
	list, err := r.list(".", left)
	for i, entry := range list {
		*left += sizeOf(entry)
		list[i] = nil
		info, infoErr := entry.Info()
		if infoErr != nil {
			continue // it is gone
		}
		err = errors.Join(err, visit(info))
	}
	return err
}

// list lists a folder, sorted by name, and subtracts what that takes from what is left.
func (r *Root) list(name string, left *int) ([]fs.DirEntry, error) {
	folder, err := r.Root.OpenFile(name+within, os.O_RDONLY, 0)
	if err != nil {
		return nil, shortened(err)
	}
	defer folder.Close() //nolint:errcheck // only read
	var list []fs.DirEntry
	for err == nil {
		var some []fs.DirEntry
		some, err = folder.ReadDir(perRead)
		for _, entry := range some {
			if *left < sizeOf(entry) {
				err = ErrCrowded
				break
			}
			*left -= sizeOf(entry)
			list = append(list, entry)
		}
	}
	if errors.Is(err, io.EOF) {
		err = nil
	}
	slices.SortFunc(list, func(a, b fs.DirEntry) int { return cmp.Compare(a.Name(), b.Name()) })
	return list, err
}
