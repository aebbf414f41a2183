package confine

import (
	"cmp"
	"context"
	"net/url"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/ralph-loop/ralph/internal/box/sandbox"
	"github.com/ralph-loop/ralph/internal/lib/environ"
	"github.com/ralph-loop/ralph/internal/lib/untrusted"
)

// toolCaches are the folders in which tools keep what they fetch and build.
var toolCaches = []struct {
	variable string // names it for the tool
	folder   string // in the folder of caches
	user     string // the user's: in the home, or below a variable
	parts    string // its folders without settings; the rest, which may be logins, stays outside
}{
	{"GOCACHE", goCache, "$XDG_CACHE_HOME/go-build", ""},
	{"GOMODCACHE", "go-mod", "$GOPATH/pkg/mod", ""},
	{"GOLANGCI_LINT_CACHE", "golangci-lint", "$XDG_CACHE_HOME/golangci-lint", ""},
	{"npm_config_cache", "npm", ".npm", ""},
	{"npm_config_store_dir", "pnpm", ".local/share/pnpm/store", ""},
	{"YARN_CACHE_FOLDER", "yarn", "$XDG_CACHE_HOME/yarn", ""},
	{"YARN_GLOBAL_FOLDER", "yarn-berry", ".yarn/berry", ""},
	{"BUN_INSTALL_CACHE_DIR", "bun", ".bun/install/cache", ""},
	{"DENO_DIR", "deno", "$XDG_CACHE_HOME/deno", ""},
	{"PLAYWRIGHT_BROWSERS_PATH", "ms-playwright", "$XDG_CACHE_HOME/ms-playwright", ""},
	{"PIP_CACHE_DIR", "pip", "$XDG_CACHE_HOME/pip", ""},
	{"UV_CACHE_DIR", "uv", "$XDG_CACHE_HOME/uv", ""},
	{"POETRY_CACHE_DIR", "pypoetry", "$XDG_CACHE_HOME/pypoetry", ""},
	{"BUNDLE_USER_CACHE", "bundle", ".bundle/cache", ""},
	{"NUGET_PACKAGES", "nuget", ".nuget/packages", ""},
	{"CARGO_HOME", "cargo", ".cargo", "registry git"},
	{"GRADLE_USER_HOME", "gradle", ".gradle", "caches wrapper jdks"},
	{"MAVEN_USER_HOME", "maven", ".m2", "repository wrapper"},
}

const goCache = "go-build"

// warmCache is a cache of the user's, which has a layer inside: what is written there is dropped.
type warmCache struct {
	variable string // empty: it is part of one
	path     string // inside: the user's own, as Go builds anew what lies elsewhere; or in the folder of caches
	lower    string
}

// warmCaches returns those that the user has. One in the project is the box's.
func warmCaches(asked Options) (found []warmCache) {
	usual := []string{
		"XDG_CACHE_HOME=" + filepath.Join(asked.Home, ".cache"),
		"GOPATH=" + filepath.Join(asked.Home, "go"),
	}
	env := slices.Concat(usual, asked.Env)
	add := func(variable, path, user string) {
		if at := resolved([]string{user}); len(at) > 0 && !anyHolds(resolved(asked.Private), at[0]) {
			found = append(found, warmCache{variable, path, at[0]})
		}
	}
	for _, c := range toolCaches {
		users := existingPaths(asked.Home, []string{"$" + c.variable, c.user}, env)
		if len(users) == 0 {
			continue
		}
		if c.parts == "" {
			add(c.variable, users[0], users[0])
		}
		for part := range strings.FieldsSeq(c.parts) {
			add("", filepath.Join(c.folder, part), filepath.Join(users[0], part))
		}
	}
	return found
}

// warm makes layers over the user's caches. Where there are none, Go finds the user's modules by GOPROXY.
func (w *Sandbox) warm(ctx context.Context, asked Options) error {
	r := &w.folders
	if r.home == "" {
		return nil
	}
	r.warm = warmCaches(asked)
	if err := r.makeLayers(false); err != nil {
		return err
	}
	if err := r.makeLayers(true); err != nil {
		return err
	}
	if w.HasLayers(ctx, Access{Layers: r.layers(true)}) {
		return nil
	}
	settings, _ := untrusted.ReadFile(filepath.Join(asked.Home, ".config/go/env"), 1<<20) // most users have none
	for _, c := range r.warm {
		if c.variable == "GOMODCACHE" && !strings.Contains(string(settings), "GOPROXY=") {
			r.goModules = filepath.Join(c.lower, "cache/download")
			w.base.Read = append(w.base.Read, r.goModules)
		}
	}
	r.warm = nil
	return nil
}

// The layers of proofs lie over that of the base's checks, which is kept here.
const baseLayers = "layers-base"

func (r *folders) upper(proof bool, n int) string {
	name := "layers-agent"
	if proof {
		name = "layers"
	}
	return filepath.Join(r.dir, name, strconv.Itoa(n))
}

func (r *folders) layers(proof bool) []sandbox.Layer {
	var all []sandbox.Layer
	for n, c := range r.warm {
		l := sandbox.Layer{Path: c.path, Lower: []string{c.lower}, Upper: r.upper(proof, n)}
		if c.variable == "" {
			l.Path = filepath.Join(r.caches(proof), c.path)
		}
		if proof {
			base := filepath.Join(r.dir, baseLayers, strconv.Itoa(n), sandbox.Written)
			l.Lower = append(existing([]string{base}), c.lower)
		}
		all = append(all, l)
	}
	return all
}

// makeLayers makes them empty. A proof takes no results of tests from Go's cache.
func (r *folders) makeLayers(proof bool) error {
	for n, c := range r.warm {
		if err := sandbox.MakeUpper(r.upper(proof, n)); err != nil {
			return err
		}
		if !proof || c.variable != "GOCACHE" {
			continue
		}
		expires := filepath.Join(r.upper(proof, n), sandbox.Written, testsExpire)
		if err := untrusted.WriteFile(expires, []byte(never), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// Go takes no results of tests from before a time in nanoseconds.
const testsExpire, never = "testexpire.txt", "9223372036854775807\n"

// cacheVariables returns the variables by which tools find their caches.
func (r *folders) cacheVariables(env []string, proof bool) []string {
	dir := r.caches(proof)
	all := []string{"XDG_CACHE_HOME=" + dir}
	for _, c := range toolCaches {
		all = append(all, c.variable+"="+filepath.Join(dir, c.folder))
	}
	for _, c := range r.warm {
		if c.variable != "" {
			all = append(all, c.variable+"="+c.path)
		}
	}
	if r.goModules != "" {
		modules := url.URL{Scheme: "file", Path: r.goModules}
		others := cmp.Or(environ.Get(env, "GOPROXY"), "https://proxy.golang.org,direct")
		all = append(all, "GOPROXY="+modules.String()+","+others)
	}
	return all
}
