package confine

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/egress"
	"github.com/ralph-loop/ralph/internal/environ"
	"github.com/ralph-loop/ralph/internal/untrusted"
	"github.com/ralph-loop/ralph/internal/workspace"
)

// AllowPackages allows the hosts from which a project gets its packages, by its
// files, where that is asked for. The package clients run inside, where no
// repository configures them. It returns what people should know of that.
func (w *Sandbox) AllowPackages(ctx context.Context, env []string, files func() ([]string, error)) ([]string, error) {
	if w == nil || !w.servers.packages {
		return nil, nil
	}
	names, err := files()
	if err != nil {
		return nil, err
	}
	hosts, notes, err := egress.Packages(ctx, egress.Run(w.Around(Access{})), w.Env(env, false), names)
	if err == nil {
		w.servers.proxy.Permit(hosts)
	}
	return notes, err
}

// NewProof gives a proof a new home, empty shared memory, and a copy of the base's caches.
func (w *Sandbox) NewProof() error {
	if w == nil {
		return nil
	}
	return errors.Join(w.base.Sweep(), w.folders.newProof())
}

// Second returns the same sandbox for a proof that runs at the same time as another: with
// folders of its own. From then on those of both have random names. It needs more than one processor, and nothing that both would
// share: the machine's memory and processes, or a project's servers.
func (w *Sandbox) Second() (*Sandbox, bool) {
	if w == nil || !w.mounts() || w.base.HostPIDs || len(w.servers.services) > 0 || runtime.GOMAXPROCS(0) < 2 {
		return nil, false
	}
	beside := &Sandbox{Level: w.Level, vars: w.vars, base: w.base, next: w.next, folders: w.folders, servers: w.servers}
	beside.folders.suffix = "-" + RandomName()
	if w.folders.rename(beside.folders.suffix) != nil {
		return nil, false
	}
	return beside, true
}

// RandomName returns a name that a program cannot know before it runs there.
func RandomName() string { return rand.Text()[:8] }

// LeaveBase keeps the caches that the base's checks filled, for every later proof to begin
// with. Other caches are not kept: what a change runs must not decide what the next proof sees.
func (w *Sandbox) LeaveBase() error {
	if w == nil {
		return nil
	}
	return w.folders.keepBaseCaches()
}

// rename removes the folders of earlier proofs, and names those of later ones. Proofs beside them use another suffix.
func (r *folders) rename(beside string) error {
	old := []string{r.suffix, r.beside}
	r.suffix, r.beside = "-"+RandomName(), beside
	var err error
	for _, suffix := range old {
		err = errors.Join(err, untrusted.RemoveAll(filepath.Join(r.dir, "cache"+suffix)), untrusted.RemoveAll(filepath.Join(r.dir, "proof"+suffix)))
	}
	return err
}

func (r *folders) newProof() error {
	if err := r.emptyFolder(filepath.Base(r.tmp(true))); err != nil {
		return err
	}
	cache := r.caches(true)
	_, none := os.Stat(r.baseCaches())
	if _, gone := os.Stat(cache); none != nil || gone != nil {
		if err := r.emptyFolder(filepath.Base(cache)); none != nil || err != nil {
			return err
		}
	}
	return errors.Join(os.Chmod(cache, 0o755), workspace.Mirror(r.baseCaches(), cache)) //nolint:gosec // another user works in it
}

// baseCaches returns the caches for each proof: an earlier job's, then the base's. No program sees this folder.
func (r *folders) baseCaches() string { return filepath.Join(r.dir, "filled") }

func (r *folders) keepBaseCaches() error {
	if r.hasBaseCaches {
		return nil
	}
	cache := r.caches(true)
	if err := errors.Join(removeToolSettings(cache), untrusted.RemoveAll(r.baseCaches()), os.Rename(cache, r.baseCaches())); err != nil {
		return fmt.Errorf("keep the caches of the base: %w", err)
	}
	r.hasBaseCaches = true
	return errors.Join(r.emptyFolder(filepath.Base(cache)), r.copyBaseCaches())
}

// copyBaseCaches copies these caches for the agent of a job. On a laptop its caches begin empty.
func (r *folders) copyBaseCaches() error {
	if r.home != "" {
		return nil
	}
	return workspace.Mirror(r.baseCaches(), r.caches(false))
}

// savedCaches returns the caches that outlive the job, beside their key.
func savedCaches(dir string) (files, key string) {
	return filepath.Join(dir, "files"), filepath.Join(dir, "key")
}

func (w *Sandbox) restoreCaches(ctx context.Context, dir string) error {
	files, _ := savedCaches(dir)
	if _, err := os.Lstat(files); dir == "" || err != nil {
		return nil //nolint:nilerr // there are none yet
	}
	return w.copyCaches(ctx, files)
}

// TakeCaches has proofs begin with the caches that KeepCaches left in a folder.
func (w *Sandbox) TakeCaches(ctx context.Context, dir string) error {
	if w == nil {
		return nil
	}
	if err := w.copyCaches(ctx, dir); err != nil {
		return errors.Join(err, untrusted.RemoveAll(w.folders.baseCaches())) // half of them would seem to be all
	}
	w.folders.hasBaseCaches = true
	return nil
}

// KeepCaches copies to a folder what the checks of the base left in the caches.
func (w *Sandbox) KeepCaches(dir string) error {
	if w == nil {
		return nil
	}
	return errors.Join(os.Mkdir(dir, 0o700), workspace.Mirror(w.folders.baseCaches(), dir))
}

func (w *Sandbox) copyCaches(ctx context.Context, files string) error {
	r := &w.folders
	if err := r.emptyFolder("filled"); err != nil {
		return err
	}
	return errors.Join(workspace.Mirror(files, r.baseCaches()), removeToolSettings(r.baseCaches()), w.Lend(ctx, r.baseCaches(), "."), r.copyBaseCaches())
}

// SaveCaches saves for later jobs what the setup commands of a proof fetched. The
// key tells what that depends on: caches of the same key are saved already. No
// program inside can write to the folder.
func (w *Sandbox) SaveCaches(ctx context.Context, key string) error {
	if w == nil || w.cache == "" {
		return nil
	}
	files, name := savedCaches(w.cache)
	if old, err := untrusted.ReadFile(name, 1<<10); err == nil && string(old) == key {
		return nil
	}
	if err := os.MkdirAll(files, 0o755); err != nil {
		return fmt.Errorf("save the caches: %w", err)
	}
	err := errors.Join(workspace.Mirror(w.folders.caches(true), files), removeToolSettings(files), untrusted.WriteFile(name, []byte(key), 0o644))
	if err != nil {
		return fmt.Errorf("save the caches: %w", err)
	}
	return w.Saved(ctx, key)
}

// Saved gives what was saved for later jobs to the user whose later step reads it, and sets its key.
// Where no folder outlives the job it does nothing.
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

// downloadFolders are the folders of tools' homes with downloads; the rest configures the tool.
var downloadFolders = map[string][]string{"cargo": {"registry", "git"}, "gradle": {"caches", "wrapper", "jdks"}, maven: {"repository", "wrapper"}}

const poetry = "pypoetry/virtualenvs"

// poetryEnvironments returns those that it made for the user's project: their names have a hash of its path.
func poetryEnvironments(asked Options) (found []string) {
	from := filepath.Join(cmp.Or(environ.Get(asked.Env, "XDG_CACHE_HOME"), filepath.Join(asked.Home, ".cache")), poetry)
	entries, _ := untrusted.ReadDir(from) // most users have none
	for _, project := range resolved(asked.Private) {
		sum := sha256.Sum256([]byte(project))
		mark := "-" + base64.URLEncoding.EncodeToString(sum[:])[:8] + "-py"
		for _, entry := range entries {
			if strings.Contains(entry.Name(), mark) {
				found = append(found, filepath.Join(from, entry.Name()))
			}
		}
	}
	return found
}

// linkFolders makes links to folders in another, which it makes. Those inside look there.
func linkFolders(folders []string, in string, lend func(string) error) error {
	if len(folders) == 0 {
		return nil
	}
	err := os.MkdirAll(in, 0o755)
	for _, folder := range folders {
		err = errors.Join(err, os.Symlink(folder, filepath.Join(in, filepath.Base(folder))))
	}
	return errors.Join(err, lend(filepath.Dir(in)))
}

// removeToolSettings removes from caches what configures a tool, and Go's results of tests, which may be of other code.
func removeToolSettings(cache string) error {
	root, err := untrusted.OpenRoot(cache)
	if err != nil {
		return err
	}
	defer root.Close() //nolint:errcheck // only a handle
	for home, fetched := range downloadFolders {
		entries, _ := root.ReadDir(home) // most projects have none
		for _, entry := range entries {
			if !slices.Contains(fetched, entry.Name()) {
				err = errors.Join(err, root.RemoveAll(home+"/"+entry.Name()))
			}
		}
	}
	if info, none := root.Lstat(goCache); none == nil && info.IsDir() { // results from before a time in ns do not count
		const name, never = goCache + "/testexpire.txt", "9223372036854775807\n"
		err = errors.Join(err, root.RemoveAll(name), root.WriteFile(name, []byte(never), 0o644))
	}
	return err
}

const goCache = "go-build"
