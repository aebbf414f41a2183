package git

import (
	"context"
	"io/fs"
	"strings"

	"github.com/ralph-loop/ralph/internal/untrusted"
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
func (s *Sight) Huge(ctx context.Context) []string {
	if s.weighed {
		return s.huge
	}
	s.weighed = true
	root, err := untrusted.OpenRoot(s.tree.Dir)
	if err != nil {
		return nil
	}
	defer root.Close() //nolint:errcheck // only a handle
	scales := scales{left: mostWeighed}
	for _, e := range s.found {
		if e.path != "" && e.counts() {
			_ = root.Walk(ctx, strings.TrimSuffix(e.path, "/"), scales.weigh) // what cannot be looked at is not huge
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

func (w *scales) weigh(e untrusted.Entry, err error) error {
	w.left--
	switch {
	case w.left < 0 || len(w.huge) == mostHuge:
		return fs.SkipAll
	case err != nil:
		return nil //nolint:nilerr // what cannot be read is not huge
	case e.Info.IsDir() && e.Info.Name() == ".git":
		return fs.SkipDir
	case e.Info.Mode().IsRegular() && e.Info.Size() > largest:
		w.huge = append(w.huge, e.Path)
	}
	return nil
}
