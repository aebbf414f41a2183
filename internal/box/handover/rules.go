package handover

import (
	"context"
	"fmt"
	"path"
	"strings"
	"unicode/utf8"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/ralph-loop/ralph/internal/git/git"
	"github.com/ralph-loop/ralph/internal/git/guarded"
	"github.com/ralph-loop/ralph/internal/lib/pattern"
)

const maxTarget = 4 << 10 // of a symbolic link

type protected struct {
	names map[string]bool // file or folder names in any folder, from globs of the form **/NAME
	globs []string
	paths []string // targets of protected links
}

func protect(globs []string) (protected, error) {
	p := protected{names: map[string]bool{".gitattributes": true}}
	for _, glob := range globs {
		folded := strings.Trim(guarded.Fold(glob), "/")
		if !doublestar.ValidatePattern(folded) {
			return protected{}, fmt.Errorf("protect %q: malformed pattern", glob)
		}
		name, isAnywhere := strings.CutPrefix(strings.TrimSuffix(folded, "/**"), "**/")
		isName := name != "" && !strings.ContainsAny(name, `*?[]{}\/`)
		switch {
		case isAnywhere && isName:
			p.names[name] = true
		case folded != "":
			p.globs = append(p.globs, folded)
		}
	}
	return p, nil
}

// covers reports whether a change of name has to be dropped: a glob matches it or a folder above it, or it puts a file
// or a link where a glob expects a folder. Every .gitattributes is covered.
func (p protected) covers(name string) bool {
	return p.covered(guarded.Fold(name)) || p.covered(foldNTFS(name))
}

func (p protected) covered(name string) bool {
	for part := range strings.SplitSeq(name, "/") {
		if p.names[part] {
			return true
		}
	}
	for _, to := range p.paths {
		if strings.HasPrefix(name+"/", to+"/") || strings.HasPrefix(to, name+"/") {
			return true
		}
	}
	for _, glob := range p.globs {
		if matchesPathOrFolder(glob, name) {
			return true
		}
		if root, _ := doublestar.SplitPattern(glob); root == name || strings.HasPrefix(root, name+"/") {
			return true
		}
	}
	return false
}

// Protected returns which paths the globs protect, as the commit has links. Without a repository t is nil.
func Protected(ctx context.Context, t *git.Trusted, commit string, globs []string) (func(name string) bool, error) {
	p, err := protectIn(ctx, t, commit, globs)
	if err != nil {
		return nil, err
	}
	p.names[".gitmodules"] = true // a commit that changes it is refused
	return p.covers, nil
}

func matchesPathOrFolder(glob, name string) bool {
	for _, part := range append(parents(name), name) {
		if matched, err := doublestar.Match(glob, part); err == nil && matched {
			return true
		}
	}
	return false
}

func wrongPath(name string) string {
	switch {
	case !utf8.ValidString(name):
		return "its name is not UTF-8"
	case len(name) > 4096:
		return "its name is too long"
	case strings.ContainsFunc(name, git.Unprintable):
		return "its name contains control characters"
	case strings.Contains(name, `\`):
		return "its name contains a backslash"
	}
	for part := range strings.SplitSeq(name, "/") {
		if part == "" || part == "." || part == ".." || guarded.IsGitDir(part) {
			return "it would be in a git folder or outside the tree"
		}
	}
	return ""
}

func foldNTFS(name string) string {
	parts := strings.Split(name, "/")
	for i, part := range parts {
		parts[i] = guarded.FoldNTFS(part)
	}
	return path.Join(parts...)
}

var moduleFile = pattern.Of(`^(?:\.gitmodules|gitmod~[1-4]|gi7eba~[1-9])$`)

func wrongChange(c git.Change) string {
	switch {
	case c.Mode == git.ModeGitlink || c.OldMode == git.ModeGitlink:
		return "a repository within the repository"
	case moduleFile.MatchString(guarded.FoldNTFS(path.Base(c.Path))):
		return "submodules may not be changed"
	case c.Mode == git.ModeNone:
		return ""
	case c.Mode != git.ModeFile && c.Mode != git.ModeProgram && c.Mode != git.ModeSymlink:
		return "it has the invalid mode " + c.Mode
	case c.Was() && c.Mode != git.ModeSymlink && !guarded.Escapes(c.Path):
		return "" // people chose the name, as of a systemd unit
	default:
		return wrongPath(c.Path)
	}
}

// wrongTarget returns why a link may not have a target. A ".." after a name is refused: it could lead anywhere.
func wrongTarget(name, target string) string {
	switch {
	case target == "" || strings.ContainsFunc(target, git.Unprintable) || !utf8.ValidString(target):
		return "the link's target is malformed"
	case path.IsAbs(target) || strings.ContainsAny(target, `\:`):
		return "the link leads out of the tree: it is absolute"
	}
	up := 0
	down := false
	for part := range strings.SplitSeq(target, "/") {
		switch {
		case part == "..":
			up++
			if down || up > strings.Count(name, "/") {
				return "the link leads out of the tree"
			}
		case part == "" || part == ".":
		case guarded.IsGitDir(part):
			return "the link leads into a git folder"
		default:
			down = true
		}
	}
	return ""
}

func parents(p string) []string {
	var found []string
	for d := path.Dir(p); d != "." && d != "/"; d = path.Dir(d) {
		found = append([]string{d}, found...)
	}
	return found
}

// Guarded returns the protected files that To changed or deleted since the merge base with From.
func Guarded(ctx context.Context, t *git.Trusted, span git.Span, globs []string) ([]string, error) {
	touched, err := t.ChangedPaths(ctx, span)
	if err != nil {
		return nil, err
	}
	return Covered(ctx, t, span.From, globs, touched)
}

// Covered returns the names that globs protect. Protected links of the commit count.
func Covered(ctx context.Context, t *git.Trusted, commit string, globs, names []string) ([]string, error) {
	if len(names) == 0 {
		return nil, nil // a list of all files takes long in a large repository
	}
	guarded, err := protectIn(ctx, t, commit, globs)
	if err != nil {
		return nil, err
	}
	var found []string
	for _, name := range names { // a deep one takes milliseconds
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if guarded.covers(name) {
			found = append(found, name)
		}
	}
	return found, nil
}
