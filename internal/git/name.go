package git

import (
	"errors"
	"fmt"
	"path"
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

// checkSHA lets nothing but a whole object name into a command line.
func checkSHA(shas ...string) error {
	for _, sha := range shas {
		if !shaForm.MatchString(sha) {
			return fmt.Errorf("%q: %w", tidy(sha, 80), errNoID)
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

// object is the name of an object that git printed.
func object(out []byte, err error) (string, error) {
	if err != nil {
		return "", err
	}
	id := strings.TrimSpace(string(out))
	return id, checkSHA(id)
}

// CheckBranch says why name cannot be a branch's, by the rules of git
// check-ref-format and those of git branch.
func CheckBranch(name string) error {
	bad := name == "" || len(name) > 244 || badRef.MatchString(name)
	for part := range strings.SplitSeq(name, "/") {
		bad = bad || strings.HasPrefix(part, ".") || strings.HasSuffix(part, ".lock")
	}
	if bad {
		return fmt.Errorf("%q is no name for a branch", tidy(name, 80))
	}
	return nil
}

func heads(branch string) string { return "refs/heads/" + branch }

// odd runes have no place in a path or on a line: they control a terminal or
// turn the text around.
func odd(r rune) bool { return unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) }

// fold makes spellings alike that a file system may take for one: some tell no
// large letter from a small one, some skip what cannot be seen.
func fold(name string) string {
	seen := strings.Map(func(r rune) rune {
		if unicode.Is(unicode.Cf, r) {
			return -1
		}
		return r
	}, name)
	return strings.ToLower(strings.ToUpper(seen))
}

// bare is a folded name without what NTFS leaves out or takes for a stream.
func bare(name string) string {
	name, _, _ = strings.Cut(fold(name), ":")
	return strings.TrimRight(name, ". ")
}

// parents are the folders above p, from the top.
func parents(p string) []string {
	var found []string
	for d := path.Dir(p); d != "." && d != "/"; d = path.Dir(d) {
		found = append([]string{d}, found...)
	}
	return found
}
