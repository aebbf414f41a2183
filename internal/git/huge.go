package git

import (
	"io/fs"
	"os"
	"strings"
)

// largest is the largest file that counts as work before somebody has committed
// it. GitHub takes none above, and git is busy with one for minutes.
const largest = 100 << 20

// How much is looked at for them.
const (
	mostWeighed = 200_000
	mostHuge    = 100
)

// Huge are files that are new or changed and larger than that. No snapshot has
// them.
func (s *Sight) Huge() []string {
	if s.weighed {
		return s.huge
	}
	s.weighed = true
	root, err := os.OpenRoot(s.tree.Dir)
	if err != nil {
		return nil
	}
	defer root.Close() //nolint:errcheck // only a handle
	scales := scales{left: mostWeighed}
	for _, e := range s.found {
		if e.path != "" && e.counts() {
			_ = fs.WalkDir(root.FS(), strings.TrimSuffix(e.path, "/"), scales.weigh)
		}
	}
	s.huge = scales.huge
	return s.huge
}

// scales collect what is huge.
type scales struct {
	left int
	huge []string
}

func (w *scales) weigh(path string, file fs.DirEntry, err error) error {
	w.left--
	switch {
	case w.left < 0 || len(w.huge) == mostHuge:
		return fs.SkipAll
	case err != nil:
		return nil //nolint:nilerr // what nobody can read is not huge
	case file.IsDir() && file.Name() == ".git":
		return fs.SkipDir
	case !file.Type().IsRegular():
		return nil
	}
	if info, err := file.Info(); err == nil && info.Size() > largest {
		w.huge = append(w.huge, path)
	}
	return nil
}
