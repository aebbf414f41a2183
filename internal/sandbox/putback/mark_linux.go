package putback

import (
	"bytes"
	"encoding/gob"
	"errors"
	"io/fs"
)

// mark is what Recover needs of a guarded folder, or of a path where nothing stands.
type mark struct {
	Dir, Name string
	Links     map[string]string
	Folder    guardedFolder
}

func noMark(bool) error { return nil }

// mark tells keep what a program can add to. Where there are mounts, all else is closed to it.
func (all Kept) mark(keep func([]byte) func(bool) error) (unmark func(bool) error, err error) {
	var marks []mark
	for _, g := range all.guards {
		marks = append(marks, mark{g.dir, g.name, g.links, g})
	}
	for _, k := range all.kept {
		if len(k.content) == 0 && k.fields == nil {
			marks = append(marks, mark{k.dir, k.name, k.links, guardedFolder{Absent: true}})
		}
	}
	if keep == nil || len(marks) == 0 {
		return noMark, nil
	}
	var text bytes.Buffer
	err = gob.NewEncoder(&text).Encode(marks)
	return keep(text.Bytes()), err
}

// Recover moves aside what was added since Mark got a text.
func Recover(text []byte) (moved []string, err error) {
	var marks []mark
	if err := gob.NewDecoder(bytes.NewReader(text)).Decode(&marks); err != nil {
		marks = nil // it was cut off before any program ran
	}
	all := Kept{unmark: noMark}
	for _, m := range marks {
		k, failed := openKept(m.Dir, m.Name)
		switch {
		case failed == nil:
			k.links = m.Links
			m.Folder.keptPath = k
			all.guards = append(all.guards, m.Folder)
		case !errors.Is(failed, fs.ErrNotExist): // then the project is gone
			err = errors.Join(err, failed)
		}
	}
	err = errors.Join(err, all.PutBack(func(names []string) { moved = names }))
	return moved, err
}
