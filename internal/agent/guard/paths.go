package guard

import (
	"path"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/ralph-loop/ralph/internal/lib/pattern"
)

// resolve returns the absolute path of an operand. It is empty if that depends on a variable or an unknown folder.
func (c *check) resolve(p string) string {
	if p == "~" || strings.HasPrefix(p, "~/") {
		p = c.Home + p[1:]
	}
	switch {
	case strings.HasPrefix(p, "$"):
		return ""
	case path.IsAbs(p):
		return path.Clean(p)
	case p == "" || c.Dir == "":
		return ""
	}
	return path.Join(c.Dir, p)
}

// contains reports whether a path is the folder itself or below it. An unknown folder contains nothing.
func contains(dir, p string) bool {
	switch dir {
	case "":
		return false
	case "/", p:
		return true
	}
	return strings.HasPrefix(p, dir+"/")
}

var (
	allFilesGlob = pattern.Of(`/(?:\*|\.\*|\*\*|\*\.\*)$`)
	temporary    = pattern.Of(`^(?:/private)?/(?:tmp|var/tmp|var/folders|dev/shm)/.|` +
		`^/dev/(?:null|std(?:in|out|err)|tty|fd/)`)
	generated = pattern.Of(`/(?:node_modules|dist|build|target|coverage|__pycache__|\.cache|\.venv)(?:/|$)`)
)

// isWhole reports whether a path is the project, the home, a folder above them, or a glob for all in one of these.
func (c *check) isWhole(operand string) bool {
	p := c.resolve(operand)
	if p == "" {
		return false
	}
	if allFilesGlob.MatchString(p) {
		p = path.Clean("/" + allFilesGlob.ReplaceAllString(p, ""))
	}
	return p == "/" || contains(p, c.Root) || contains(p, c.Home)
}

// isOutside reports whether a path is outside of the project, and neither temporary nor generated.
func (c *check) isOutside(operand string) bool {
	p := c.resolve(operand)
	if p == "" || contains(c.Root, p) {
		return false
	}
	return !temporary.MatchString(p) && !generated.MatchString(p)
}

// guardedFiles may not be written. The patterns see a path as "./…" within the project, "~/…" within the home and
// "/…" elsewhere.
var guardedFiles = []struct {
	category string
	file     *pattern.Pattern
}{
	{"protected-path", pattern.Of(`^\./\.(?:git|ralph)(?:/|$)|^\./\.ralph-active$`)},
	{"persistence", pattern.Of(`^[.~]/\.(?:claude/(?:settings(?:\.local)?\.json|hooks(?:/|$))|` +
		`codex/(?:hooks|config\.toml)|gemini/settings\.json)`)},
	{"persistence", pattern.Of(`^~/\.(?:bashrc|bash_profile|profile|zshrc|zshenv|zprofile|` +
		`config/(?:autostart|systemd)/)|^~/\.ssh/|^/etc/cron|^/var/spool/cron`)},
	{"protected-path", pattern.Of(`^~/\.(?:aws|gnupg|kube|azure|docker|netrc)(?:/|$)`)},
	{"disk-destruction", pattern.Of(`^/dev/(?:sd|hd|vd|xvd|nvme|mmcblk|disk|rdisk|mapper|md|dm-|loop|mem)`)},
	{"system-configuration", pattern.Of(
		`^/(?:etc|bin|sbin|lib|lib64|boot|proc|sys|usr|var/log|System|Library)(?:/|$)`)},
}

const insteadOfWriting = "write inside the project, to files that are not protected"

// checkWrite reports a write to a file that may not be written.
func (c *check) checkWrite(file string) {
	p := c.resolve(file)
	if p == "" {
		return
	}
	if c.isProtected(p) {
		c.report("protected-path", "writing to "+file, insteadOfWriting)
		return
	}
	for _, guarded := range guardedFiles {
		if guarded.file.MatchString(c.pathForPattern(p)) {
			c.report(guarded.category, "writing to "+file, insteadOfWriting)
			return
		}
	}
}

func (c *check) isProtected(p string) bool {
	rel, ok := strings.CutPrefix(p, c.Root+"/")
	if !ok {
		return false
	}
	return slices.ContainsFunc(c.Protect, func(glob string) bool { return matchesGlob(glob, rel) })
}

// pathForPattern returns a path in the form that guardedFiles have.
func (c *check) pathForPattern(p string) string {
	switch {
	case contains(c.Root, p):
		return "." + p[len(c.Root):]
	case contains(c.Home, p):
		return "~" + p[len(c.Home):]
	}
	return p
}

func matchesGlob(glob, rel string) bool {
	glob = strings.TrimSuffix(strings.TrimPrefix(glob, "./"), "/")
	isFile, _ := doublestar.Match(glob, rel)
	isBelow, _ := doublestar.Match(glob+"/**", rel)
	return isFile || isBelow
}
