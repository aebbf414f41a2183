package guard

import (
	"path"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/ralph-loop/ralph/internal/lib/pattern"
)

// resolve returns a whole path; empty: it is unknown.
func (c *check) resolve(p string) string {
	if rest, ok := strings.CutPrefix(p, "~"); ok && (rest == "" || rest[0] == '/') {
		p = c.Home + rest
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

func contains(dir, p string) bool {
	return dir == "/" || dir != "" && (dir == p || strings.HasPrefix(p, dir+"/"))
}

var (
	everythingIn = pattern.Of(`/(?:\*|\.\*|\*\*|\*\.\*)$`)
	temporary    = pattern.Of(`^(?:/private)?/(?:tmp|var/tmp|var/folders|dev/shm)/.|^/dev/(?:null|std(?:in|out|err)|tty|fd/)`)
	products     = pattern.Of(`/(?:node_modules|dist|build|target|coverage|__pycache__|\.cache|\.venv)(?:/|$)`)
)

// isWhole reports whether a path is the project, a home, a folder above them, or all that is in one of these.
func (c *check) isWhole(operand string) bool {
	p := c.resolve(operand)
	if p == "" {
		return false
	}
	if cut := everythingIn.ReplaceAllString(p, ""); cut != p {
		p = path.Clean("/" + cut)
	}
	return p == "/" || contains(p, c.Root) || contains(p, c.Home)
}

// isOutside reports whether a path is outside of the project, and neither temporary nor made by a tool.
func (c *check) isOutside(operand string) bool {
	p := c.resolve(operand)
	if p == "" || contains(c.Root, p) {
		return false
	}
	return !temporary.MatchString(p) && !products.MatchString(p)
}

// guardedFiles may not be written. The patterns see a path as "./…" within the project, "~/…" within the home and "/…"
// elsewhere.
var guardedFiles = []struct {
	category string
	file     *pattern.Pattern
}{
	{"protected-path", pattern.Of(`^\./\.(?:git|ralph)(?:/|$)|^\./\.ralph-active$`)},
	{"persistence", pattern.Of(`^[.~]/\.(?:claude/(?:settings(?:\.local)?\.json|hooks(?:/|$))|codex/(?:hooks|config\.toml)|gemini/settings\.json)`)},
	{"persistence", pattern.Of(`^~/\.(?:bashrc|bash_profile|profile|zshrc|zshenv|zprofile|config/(?:autostart|systemd)/)|^~/\.ssh/|^/etc/cron|^/var/spool/cron`)},
	{"protected-path", pattern.Of(`^~/\.(?:aws|gnupg|kube|azure|docker|netrc)(?:/|$)`)},
	{"remote-access", pattern.Of(`^/dev/(?:tcp|udp)/`)},
	{"disk-destruction", pattern.Of(`^/dev/(?:sd|hd|vd|xvd|nvme|mmcblk|disk|rdisk|mapper|md|dm-|loop|mem)`)},
	{"system-configuration", pattern.Of(`^/(?:etc|bin|sbin|lib|lib64|boot|proc|sys|usr|var/log|System|Library)(?:/|$)`)},
}

const insteadOfWriting = "write inside the project, to files that are not protected"

// write reports a file that may not be written.
func (c *check) write(file string) {
	p := c.resolve(file)
	if p == "" {
		return
	}
	if rel, inside := strings.CutPrefix(p, c.Root+"/"); inside && slices.ContainsFunc(c.Protect, func(glob string) bool { return matchesGlob(glob, rel) }) {
		c.report("protected-path", "writing to "+file, insteadOfWriting)
		return
	}
	for _, guarded := range guardedFiles {
		if guarded.file.MatchString(c.short(p)) {
			c.report(guarded.category, "writing to "+file, insteadOfWriting)
			return
		}
	}
}

func (c *check) short(p string) string {
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
	file, _ := doublestar.Match(glob, rel)
	below, _ := doublestar.Match(glob+"/**", rel)
	return file || below
}
