package git

import (
	"errors"
	"fmt"
	"strings"
	"unicode"

	"github.com/ralph-loop/ralph/internal/lib/pattern"
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
