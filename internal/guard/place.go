package guard

import (
	"path"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/pattern"
)

// area is what kind of place a path is in.
type area int

const (
	somewhere area = iota // cannot be told
	inside                // in the project
	project               // the whole project
	gitFolder             // in the project's .git
	temporary
	system   // from here on it is none of the project's: folders of the operating system
	root     // everything
	home     // the whole home, or somebody else's
	homeFile // something of the user's, outside the project
	outside  // none of these
)

func isSystem(first string) bool {
	return slices.Contains([]string{
		"bin", "boot", "dev", "etc", "lib", "lib32", "lib64", "opt", "proc", "root", "run", "sbin", "snap", "srv",
		"sys", "usr", "var", "System", "Library", "Applications", "private", "Windows", "cygdrive",
	}, first)
}

// resolve makes a path absolute. It is "" where that cannot be told.
func (j *judge) resolve(p string, sc *scope) string {
	if p == "" || strings.HasPrefix(p, dark) {
		return ""
	}
	if i := strings.Index(p, dark); i >= 0 {
		known := p[:strings.LastIndex(p[:i], "/")+1]
		if known == "" || known == "/" {
			return ""
		}
		p = known + "unknown"
		if j.narrowed(known) {
			return ""
		}
	}
	if rest, ok := strings.CutPrefix(p, "~"); ok && (rest == "" || rest[0] == '/') {
		p = j.place.Home + rest
	}
	if path.IsAbs(p) {
		return path.Clean(p)
	}
	if sc.dir == "" {
		return ""
	}
	return path.Join(sc.dir, p)
}

// narrowed: an unknown name right under the home or above it may be anything,
// the project itself among others.
func (j *judge) narrowed(dir string) bool {
	dir = strings.TrimSuffix(dir, "/")
	return dir == j.place.Home || above(dir, j.place.Root) || above(dir, j.place.Home) || dir == "~"
}

func above(dir, p string) bool { return dir == "/" || dir == p || strings.HasPrefix(p, dir+"/") }

var all = pattern.Of(`/(?:\*|\.\*|\.\[\^?!?\.\]\*|\*\*(?:/\*)?|\*\.\*|\.\?\*)$`)

// contents takes /* off: all that is in a folder is the folder.
func contents(p string) string {
	if cut := all.ReplaceAllString(p, ""); cut != p {
		return path.Clean("/" + cut)
	}
	return p
}

// where says what an absolute path is.
func (j *judge) where(p string) area {
	r, h := j.place.Root, j.place.Home
	if p == "" {
		return somewhere
	}
	p = contents(p)
	first, rest, _ := strings.Cut(strings.TrimPrefix(p, "/"), "/")
	switch {
	case p == "/" || strings.ContainsAny(first, "?*["):
		return root
	case p == r:
		return project
	case p == r+"/.git" || strings.HasPrefix(p, r+"/.git/"):
		return gitFolder
	case strings.HasPrefix(p, r+"/"):
		return inside
	case above(p, h) || above(p, r):
		return home
	case isTemporary(p):
		return temporary
	case strings.HasPrefix(p, h+"/"):
		return homeFile
	case isSystem(first):
		return system
	case (first == "home" || first == "Users") && !strings.Contains(rest, "/"):
		return home
	}
	return outside
}

func isTemporary(p string) bool {
	for _, t := range []string{"/tmp", "/var/tmp", "/private/tmp", "/var/folders", "/dev/shm", "/private/var/folders"} {
		if p == t || strings.HasPrefix(p, t+"/") {
			return true
		}
	}
	return false
}

// What is made again by a build or a download may go, wherever it lies.
var derived = pattern.Of(`(?i)(?:/|^)(?:node_modules|dist|build|target|out|coverage|__pycache__|\.next|\.nuxt|\.turbo|\.parcel-cache|\.pytest_cache|\.mypy_cache|\.ruff_cache|\.tox|\.venv|venv|\.?caches?|_cacache|_logs|\.npm|\.gradle|DerivedData|tmp|temp|registry|\.terraform|[^/]*\.egg-info)(?:/|$)`)

var refetched = pattern.Of(`^/var/(?:lib/apt/lists|cache)/`)

// deletes judges that a tree, or a file, goes away. It returns why not.
func (j *judge) deletes(target string, sc *scope, tree bool) (Category, string) {
	p := j.resolve(target, sc)
	if cat, ok := j.guarded(p); ok {
		return cat, "deleting " + target
	}
	a := j.where(p)
	switch {
	case a == root || a == system:
		if !refetched.MatchString(p) && (!sc.far || !derived.MatchString(p)) {
			return FileDestruction, "deleting " + target + " of the system"
		}
	case a == homeFile || a == outside:
		return j.deletesOutside(target, p, sc, tree)
	case !tree:
	case a == gitFolder && !strings.HasSuffix(p, ".lock"):
		return GitDestruction, "deleting " + target
	case a == home:
		return FileDestruction, "deleting " + target + ", a home or a folder that the project is in"
	case a == project:
		return FileDestruction, "deleting the whole project (" + target + ")"
	}
	return "", ""
}

func (j *judge) deletesOutside(target, p string, sc *scope, tree bool) (Category, string) {
	if tree && !derived.MatchString(p) {
		return FileDestruction, "deleting " + target + " outside the project"
	}
	if j.secretFile(target, sc) != "" || j.startup(p) {
		return FileDestruction, "deleting " + target
	}
	return "", ""
}

// guarded are ralph's own files and those that the project protects.
func (j *judge) guarded(p string) (Category, bool) {
	rel, ok := strings.CutPrefix(p, j.place.Root+"/")
	if !ok {
		return "", false
	}
	if rel == ".ralph-active" || rel == ".ralph" || strings.HasPrefix(rel, ".ralph/") {
		return ProtectedPath, true
	}
	if agentSettings.MatchString("/" + rel) {
		return Persistence, true
	}
	for _, glob := range j.place.Protect {
		if matches(glob, rel) {
			return ProtectedPath, true
		}
	}
	return "", false
}

var agentSettings = pattern.Of(`/\.(?:claude/(?:settings(?:\.local)?\.json|hooks(?:/|$))|cursor/hooks|codex/(?:hooks(?:\.json|/|$)|config\.toml)|gemini/settings\.json)`)
