package git

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/ralph-loop/ralph/internal/pattern"
)

// ErrNotFound is the error for a missing branch, commit or file.
var ErrNotFound = errors.New("not found")

// ErrNoFile is the error for a link, a folder or a submodule in place of a file.
var ErrNoFile = errors.New("not a regular file")

var (
	shaForm = pattern.Of(`^(?:[0-9a-f]{40}|[0-9a-f]{64})$`)
	badRef  = pattern.Of(`[\x00-\x20\x7f~^:?*\[\\]|\.\.|@\{|//|/$|^/|\.$|^-|^@$|^HEAD$`)
)

var (
	errNoID      = errors.New("not a commit id")
	errOddAnswer = errors.New("unexpected output of git")
)

// CheckSHA returns an error unless all are complete object ids. Only these are safe in a command line.
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

// ObjectID returns the object id that git printed.
func ObjectID(out []byte, err error) (string, error) {
	if err != nil {
		return "", err
	}
	id := strings.TrimSpace(string(out))
	return id, CheckSHA(id)
}

// CheckBranch returns an error if git would refuse name as a branch.
func CheckBranch(name string) error {
	bad := name == "" || len(name) > 244 || badRef.MatchString(name)
	for part := range strings.SplitSeq(name, "/") {
		bad = bad || strings.HasPrefix(part, ".") || strings.HasSuffix(part, ".lock")
	}
	if bad {
		return fmt.Errorf("%q is not a valid branch name", OneLine(name, 80))
	}
	return nil
}

// BranchRef returns the ref of a branch.
func BranchRef(branch string) string { return "refs/heads/" + branch }

// Unprintable reports whether a rune controls a terminal or the direction of text.
func Unprintable(r rune) bool { return unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) }

// IsGitDir reports whether some file system reads a part of a path as .git.
func IsGitDir(part string) bool {
	part = FoldNTFS(part)
	return part == ".git" || part == "git~1"
}

// Escapes reports whether a path leads out of the tree or into a git folder.
func Escapes(name string) bool {
	return slices.ContainsFunc(strings.Split(strings.TrimSuffix(name, "/"), "/"), func(part string) bool {
		return name != "" && (part == "" || part == "." || part == ".." || IsGitDir(part))
	})
}

// Fold makes names equal that a file system may treat as one.
func Fold(name string) string {
	seen := strings.Map(func(r rune) rune {
		if unicode.Is(unicode.Cf, r) {
			return -1
		}
		return r
	}, name)
	return strings.ToLower(strings.ToUpper(seen))
}

// FoldNTFS is Fold without the stream, final dots and spaces, which NTFS ignores.
func FoldNTFS(name string) string {
	name, _, _ = strings.Cut(Fold(name), ":")
	return strings.TrimRight(name, ". ")
}
