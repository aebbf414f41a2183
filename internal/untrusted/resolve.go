package untrusted

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// ErrTheirLink says that a path is not followed any farther.
var ErrTheirLink = errors.New("it leads through a link that a sandboxed program may have made")

// mostLinks is how many links a path has in Linux.
const mostLinks = 40

// Resolve returns an absolute path without its links. It follows no link that is theirs.
// With an error it returns where the path leads as far as that can be told.
func Resolve(path string, theirs func(link string) bool) (string, error) {
	if !filepath.IsAbs(path) {
		return "", errors.New("not absolute")
	}
	at, rest := "/", strings.Split(path, "/")
	for links := 0; len(rest) > 0; {
		name := rest[0]
		rest = rest[1:]
		if name == ".." {
			at = filepath.Dir(at)
			continue
		}
		next := filepath.Join(at, name)
		to, err := os.Readlink(next)
		if errors.Is(err, syscall.EINVAL) { // no link
			at = next
			continue
		}
		switch links++; {
		case err != nil:
			return filepath.Join(append([]string{next}, rest...)...), err
		case links > mostLinks:
			return "", &fs.PathError{Op: "open", Path: path, Err: syscall.ELOOP}
		case theirs(next):
			return "", ErrTheirLink
		case filepath.IsAbs(to):
			at = "/"
		}
		rest = append(strings.Split(to, "/"), rest...)
	}
	return at, nil
}

// Place returns where an absolute path leads, as far as it is there. It follows every link.
func Place(path string) string {
	place, _ := Resolve(path, func(string) bool { return false })
	return place
}
