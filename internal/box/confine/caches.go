package confine

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/box/egress"
	"github.com/ralph-loop/ralph/internal/git/workspace"
	"github.com/ralph-loop/ralph/internal/lib/untrusted"
)

// AllowPackages allows the hosts from which a project gets its packages, by its files, where that is asked for.
func (w *Sandbox) AllowPackages(env []string, files func() ([]string, error)) error {
	if w == nil || !w.servers.packages {
		return nil
	}
	names, err := files()
	if err != nil {
		return err
	}
	w.servers.proxy.Permit(egress.Packages(env, names))
	return nil
}

// NewProof gives a proof a new home, empty shared memory, and a copy of the base's caches.
func (w *Sandbox) NewProof() error {
	if w == nil {
		return nil
	}
	r := &w.folders
	if err := w.base.Sweep(); err != nil {
		return err
	}
	if err := r.emptyFolder("proof"); err != nil {
		return err
	}
	if err := r.makeLayers(true); err != nil {
		return err
	}
	if !exists(r.baseCaches()) {
		return r.emptyFolder("cache")
	}
	cache := r.caches(true)
	if !exists(cache) {
		if err := r.emptyFolder("cache"); err != nil {
			return err
		}
	}
	if err := os.Chmod(cache, 0o755); err != nil { //nolint:gosec // another user works in it
		return err
	}
	return workspace.Mirror(r.baseCaches(), cache)
}

// LeaveBase keeps the caches that the base's checks filled, for every later proof to begin
// with. Other caches are not kept: what a change runs must not decide what the next proof sees.
func (w *Sandbox) LeaveBase() error {
	if w == nil || w.folders.hasBaseCaches {
		return nil
	}
	r := &w.folders
	if err := r.keepBaseCaches(); err != nil {
		return fmt.Errorf("keep the caches of the base: %w", err)
	}
	r.hasBaseCaches = true
	if err := r.emptyFolder("cache"); err != nil {
		return err
	}
	return r.copyBaseCaches()
}

func (r *folders) keepBaseCaches() error {
	cache := r.caches(true)
	if err := removeToolSettings(cache); err != nil {
		return err
	}
	if err := untrusted.RemoveAll(r.baseCaches()); err != nil {
		return err
	}
	if err := os.Rename(cache, r.baseCaches()); err != nil {
		return err
	}
	if len(r.warm) == 0 {
		return nil
	}
	layers := filepath.Dir(r.upper(true, 0))
	if err := os.Rename(layers, filepath.Join(r.dir, baseLayers)); err != nil {
		return err
	}
	return r.makeLayers(true)
}

// baseCaches returns the caches for each proof: an earlier job's, then the base's. No program sees this folder.
func (r *folders) baseCaches() string { return filepath.Join(r.dir, "filled") }

// copyBaseCaches copies these caches for the agent of a job. On a laptop its caches begin empty.
func (r *folders) copyBaseCaches() error {
	if r.home != "" {
		return nil
	}
	return workspace.Mirror(r.baseCaches(), r.caches(false))
}

const savedFiles = "files" // in the folder that outlives the job

// restoreCaches has proofs and the agent begin with the caches of an earlier job: with all of them, or with none.
func (w *Sandbox) restoreCaches(ctx context.Context, dir string) error {
	files := filepath.Join(dir, savedFiles)
	if _, err := os.Lstat(files); dir == "" || err != nil {
		return nil //nolint:nilerr // there are none yet
	}
	err := w.copyCaches(ctx, files)
	if err != nil {
		return errors.Join(err, untrusted.RemoveAll(w.folders.baseCaches()), w.folders.emptyFolder("caches"))
	}
	return nil
}

func (w *Sandbox) copyCaches(ctx context.Context, files string) error {
	r := &w.folders
	if err := r.emptyFolder("filled"); err != nil {
		return err
	}
	if err := workspace.Mirror(files, r.baseCaches()); err != nil {
		return err
	}
	if err := removeToolSettings(r.baseCaches()); err != nil {
		return err
	}
	if err := w.Lend(ctx, r.baseCaches(), "."); err != nil {
		return err
	}
	return r.copyBaseCaches()
}

// SaveCaches saves for later jobs what LeaveBase kept. The key tells what that depends on: caches of the same key are
// saved already. No program inside can write to the folder.
func (w *Sandbox) SaveCaches(ctx context.Context, key string) error {
	if w == nil || w.cache == "" {
		return nil
	}
	files := filepath.Join(w.cache, savedFiles)
	name := filepath.Join(w.cache, "key")
	if old, err := untrusted.ReadFile(name, 1<<10); err == nil && string(old) == key {
		return nil
	}
	if err := os.MkdirAll(files, 0o755); err != nil {
		return fmt.Errorf("save the caches: %w", err)
	}
	if err := workspace.Mirror(w.folders.baseCaches(), files); err != nil {
		return fmt.Errorf("save the caches: %w", err)
	}
	if err := untrusted.WriteFile(name, []byte(key), 0o644); err != nil {
		return fmt.Errorf("save the caches: %w", err)
	}
	return w.Saved(ctx, key)
}

// Saved gives what was saved for later jobs to the user whose later step reads it, and sets its key.
func (w *Sandbox) Saved(ctx context.Context, key string) error {
	if w == nil || w.cache == "" {
		return nil
	}
	w.savedKey = key
	if os.Geteuid() != 0 {
		return nil
	}
	uid, gid := workspace.Owner(filepath.Dir(w.cache))
	return chown(ctx, w.cache, ".", uid, gid)
}

// SavedCaches returns the key of the caches that were saved; empty where none were.
func (w *Sandbox) SavedCaches() string {
	if w == nil {
		return ""
	}
	return w.savedKey
}

// Lend gives dir/name, with all in it, to the sandbox's user. No link leads out of dir.
func (w *Sandbox) Lend(ctx context.Context, dir, name string) error {
	if w == nil || w.base.UID == 0 {
		return nil
	}
	return chown(ctx, dir, name, w.base.UID, w.base.GID)
}

func chown(ctx context.Context, dir, name string, uid, gid int) error {
	root, err := untrusted.OpenRoot(dir)
	if err != nil {
		return fmt.Errorf("lend a folder: %w", err)
	}
	defer root.Close() //nolint:errcheck // only a handle
	err = root.Walk(ctx, name, func(e untrusted.Entry, err error) error {
		switch {
		case errors.Is(err, untrusted.ErrTooDeep):
			return nil // nothing of ours lies so deep
		case err != nil:
			return err
		}
		return e.In.Lchown(e.Name, uid, gid)
	})
	if err != nil {
		return fmt.Errorf("lend %s: %w", dir, err)
	}
	return nil
}

// removeToolSettings removes from caches what configures a tool, and Go's results of tests, which may be of other code.
func removeToolSettings(cache string) error {
	root, err := untrusted.OpenRoot(cache)
	if err != nil {
		return err
	}
	defer root.Close() //nolint:errcheck // only a handle
	for _, c := range toolCaches {
		if c.parts == "" {
			continue
		}
		entries, _ := root.ReadDir(c.folder) // most projects have none
		for _, entry := range entries {
			if !slices.Contains(strings.Fields(c.parts), entry.Name()) {
				err = errors.Join(err, root.RemoveAll(c.folder+"/"+entry.Name()))
			}
		}
	}
	if info, none := root.Lstat(goCache); none == nil && info.IsDir() {
		const name = goCache + "/" + testsExpire
		err = errors.Join(err, root.RemoveAll(name), root.WriteFile(name, []byte(never), 0o644))
	}
	return err
}
