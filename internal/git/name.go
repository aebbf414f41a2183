package git

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/ralph-loop/ralph/internal/pattern"
)

// ErrNotFound is the error for a branch, commit or file that is not there.
var ErrNotFound = errors.New("not found")

// ErrNoFile is the error for a link, a folder or a module in a file's place.
var ErrNoFile = errors.New("not a regular file")

var (
	shaForm = pattern.Of(`^(?:[0-9a-f]{40}|[0-9a-f]{64})$`)
	badRef  = pattern.Of(`[\x00-\x20\x7f~^:?*\[\\]|\.\.|@\{|//|/$|^/|\.$|^-|^@$|^HEAD$`)
)

var (
	errNoID      = errors.New("no commit id")
	errOddAnswer = errors.New("unexpected output of git")
)

// CheckSHA lets nothing but a whole object name into a command line.
func CheckSHA(shas ...string) error {
	for _, sha := range shas {
		if !shaForm.MatchString(sha) {
			return fmt.Errorf("%q: %w", OneLine(sha, 80), errNoID)
		}
	}
	return nil
}

func format(sha string) string {
	if len(sha) == 64 {
		return "sha256"
	}
	return "sha1"
}

// ObjectID is the name of an object that git printed.
func ObjectID(out []byte, err error) (string, error) {
	if err != nil {
		return "", err
	}
	id := strings.TrimSpace(string(out))
	return id, CheckSHA(id)
}

// CheckBranch says why name cannot be a branch, by the rules of git.
func CheckBranch(name string) error {
	bad := name == "" || len(name) > 244 || badRef.MatchString(name)
	for part := range strings.SplitSeq(name, "/") {
		bad = bad || strings.HasPrefix(part, ".") || strings.HasSuffix(part, ".lock")
	}
	if bad {
		return fmt.Errorf("%q is no name for a branch", OneLine(name, 80))
	}
	return nil
}

// BranchRef is the ref of a branch.
func BranchRef(branch string) string { return "refs/heads/" + branch }

// Unprintable runes control a terminal or turn the text around.
func Unprintable(r rune) bool { return unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) }

// IsFolder tells whether some file system takes a part of a path for .git.
func IsFolder(part string) bool {
	part = Bare(part)
	return part == ".git" || part == "git~1"
}

// Escapes reports a name that leads out of the tree or into a git folder.
func Escapes(name string) bool {
	return slices.ContainsFunc(strings.Split(strings.TrimSuffix(name, "/"), "/"), func(part string) bool {
		return name != "" && (part == "" || part == "." || part == ".." || IsFolder(part))
	})
}

// Fold makes spellings equal that a file system may take for one name.
func Fold(name string) string {
	seen := strings.Map(func(r rune) rune {
		if unicode.Is(unicode.Cf, r) {
			return -1
		}
		return r
	}, name)
	return strings.ToLower(strings.ToUpper(seen))
}

// Bare is a folded name without what NTFS leaves out or takes for a stream.
func Bare(name string) string {
	name, _, _ = strings.Cut(Fold(name), ":")
	return strings.TrimRight(name, ". ")
}
