package job

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/ralph-loop/ralph/internal/egress"
	"github.com/ralph-loop/ralph/internal/journal"
	"github.com/ralph-loop/ralph/internal/untrusted"
	"github.com/ralph-loop/ralph/internal/workspace"
)

// permit allows the hosts from which the project gets its packages, by its files
// at the base. The package clients run inside, where no repository configures
// them.
func (s *site) permit(ctx context.Context) error {
	if s.Wall == nil || !s.Wall.doors.packages || s.trusted == nil {
		return nil
	}
	files, err := s.trusted.Files(ctx, s.Run().Base)
	if err != nil {
		return err
	}
	names, notes, err := egress.Packages(ctx, egress.Run(s.Wall.Around(Place{})), s.Wall.Env(s.CheckEnv, false), files)
	if err != nil {
		return err
	}
	s.Wall.doors.permit(names)
	for _, note := range notes {
		err = errors.Join(err, s.Append(journal.Noted{What: note}))
	}
	return err
}

// anew gives a proof a new home, shared memory without anything of earlier
// programs, and its own copy of the caches that the base left.
func (w *Wall) anew() error {
	if w == nil {
		return nil
	}
	return errors.Join(w.base.Sweep(), w.rooms.anew())
}

// vacate removes the checkout of a proof. Caches are kept of the base alone, for
// every later proof to begin with: what a change runs must not decide what the
// next proof sees.
func (w *Wall) vacate(dir string, base bool) error {
	err := untrusted.RemoveAll(dir)
	if w == nil || !base {
		return err
	}
	return errors.Join(err, w.rooms.keep())
}

func (r *rooms) anew() error {
	if err := r.clear("proof"); err != nil {
		return err
	}
	cache := filepath.Join(r.dir, "cache")
	if _, err := os.Stat(r.filled()); err != nil {
		return r.clear("cache")
	}
	return errors.Join(os.Chmod(cache, 0o755), workspace.Mirror(r.filled(), cache)) //nolint:gosec // another user works in it
}

// filled are the caches as the base left them. No program sees this folder.
func (r *rooms) filled() string { return filepath.Join(r.dir, "filled") }

func (r *rooms) keep() error {
	if _, err := os.Stat(r.filled()); err == nil {
		return nil
	}
	cache := filepath.Join(r.dir, "cache")
	if err := errors.Join(unconfigured(cache), os.Rename(cache, r.filled())); err != nil {
		return fmt.Errorf("keep the caches of the base: %w", err)
	}
	return r.clear("cache")
}

// caching are the folders of tools' homes that hold what was fetched; the rest of
// such a home configures the tool.
var caching = map[string][]string{"cargo": {"registry", "git"}, "gradle": {"caches", "wrapper", "jdks"}}

// unconfigured removes what configures tools from caches.
func unconfigured(cache string) error {
	root, err := untrusted.OpenRoot(cache)
	if err != nil {
		return err
	}
	defer root.Close() //nolint:errcheck // only a handle
	for home, fetched := range caching {
		entries, _ := root.ReadDir(home) // most projects have none
		for _, entry := range entries {
			if !slices.Contains(fetched, entry.Name()) {
				err = errors.Join(err, root.RemoveAll(home+"/"+entry.Name()))
			}
		}
	}
	return err
}
