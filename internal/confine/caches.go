package confine

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/ralph-loop/ralph/internal/egress"
	"github.com/ralph-loop/ralph/internal/untrusted"
	"github.com/ralph-loop/ralph/internal/workspace"
)

// AllowPackages allows the hosts from which a project gets its packages, by its
// files, where that is asked for. The package clients run inside, where no
// repository configures them. It returns what people should know of that.
func (w *Sandbox) AllowPackages(ctx context.Context, env []string, files func() ([]string, error)) ([]string, error) {
	if w == nil || !w.doors.packages {
		return nil, nil
	}
	names, err := files()
	if err != nil {
		return nil, err
	}
	hosts, notes, err := egress.Packages(ctx, egress.Run(w.Around(Access{})), w.Env(env, false), names)
	if err == nil {
		w.doors.permit(hosts)
	}
	return notes, err
}

// Renew gives a proof a new home, shared memory without anything of earlier
// programs, and its own copy of the caches that the base left.
func (w *Sandbox) Renew() error {
	if w == nil {
		return nil
	}
	return errors.Join(w.base.Sweep(), w.rooms.anew())
}

// Vacate removes the checkout of a proof. Caches are kept of the base alone, for
// every later proof to begin with: what a change runs must not decide what the
// next proof sees.
func (w *Sandbox) Vacate(dir string, base bool) error {
	err := untrusted.RemoveAll(dir)
	if w == nil || !base {
		return err
	}
	return errors.Join(err, w.rooms.keep())
}

func (r *folders) anew() error {
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
func (r *folders) filled() string { return filepath.Join(r.dir, "filled") }

func (r *folders) keep() error {
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

// cached are the variables by which tools keep in dir what they fetch and build.
func cached(dir string) []string {
	env := []string{"XDG_CACHE_HOME=" + dir}
	for name, folder := range map[string]string{
		"GOCACHE": "go-build", "GOMODCACHE": "go-mod", "npm_config_cache": "npm", "npm_config_store_dir": "pnpm", "YARN_CACHE_FOLDER": "yarn",
		"YARN_GLOBAL_FOLDER": "yarn-berry", "BUN_INSTALL_CACHE_DIR": "bun", "CARGO_HOME": "cargo", "GRADLE_USER_HOME": "gradle", "NUGET_PACKAGES": "nuget",
		"BUNDLE_USER_CACHE": "bundle", "DENO_DIR": "deno",
	} {
		env = append(env, name+"="+filepath.Join(dir, folder))
	}
	return env
}
