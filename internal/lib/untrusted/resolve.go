package untrusted

import (
	"cmp"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
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
	var missing error
	at := "/"
	rest := strings.Split(path, "/")
	for links := 0; len(rest) > 0; {
		name := rest[0]
		rest = rest[1:]
		if name == ".." {
			at = filepath.Dir(at)
			continue
		}
		next := filepath.Join(at, name)
		to, err := os.Readlink(next)
		if err != nil {
			if !errors.Is(err, syscall.EINVAL) { // else it is no link
				missing = cmp.Or(missing, err)
			}
			at = next
			continue
		}
		links++
		switch {
		case links > mostLinks:
			return "", &fs.PathError{Op: "open", Path: path, Err: syscall.ELOOP}
		case theirs(next):
			return "", ErrTheirLink
		case filepath.IsAbs(to):
			at = "/"
		}
		rest = append(strings.Split(to, "/"), rest...)
	}
	return at, missing
}

// ResolveWithin is Resolve, but a link that strays to where the path leads is theirs, too. Then it returns both.
func ResolveWithin(path string, theirs func(link string) bool, strays func(link, place string) bool) (string, error) {
	var links []string
	place, err := Resolve(path, func(link string) bool {
		links = append(links, link)
		return theirs(link)
	})
	if err != nil {
		return place, err
	}
	if slices.ContainsFunc(links, func(link string) bool { return strays(link, place) }) {
		return place, ErrTheirLink
	}
	return place, nil
}

// Place returns where an absolute path leads, as far as it is there. It follows every link.
func Place(path string) string {
	place, _ := Resolve(path, func(string) bool { return false })
	return place
}
