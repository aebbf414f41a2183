package git

import (
	"errors"
	"fmt"
	"strings"
	"unicode"

	"github.com/ralph-loop/ralph/internal/pattern"
)

// ErrNotFound is the error for a branch, commit or file that is not there.
var ErrNotFound = errors.New("not found")

var (
	shaForm = pattern.Of(`^(?:[0-9a-f]{40}|[0-9a-f]{64})$`)
	badRef  = pattern.Of(`[\x00-\x20\x7f~^:?*\[\\]|\.\.|@\{|//|/$|^/|\.$|^-|^@$|^HEAD$`)
)

var (
	errNoID = errors.New("no commit id")
	// errOddAnswer is the error for output that git itself would never print.
	errOddAnswer = errors.New("git's answer makes no sense")
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

// format is what git calls the names of objects that are like sha.
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

// CheckBranch says why name cannot be a branch's, by the rules of git
// check-ref-format and those of git branch.
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

// Unprintable runes have no place in a path or on a line: they control a terminal or
// turn the text around.
func Unprintable(r rune) bool { return unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) }
