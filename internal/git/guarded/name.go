package guarded

import (
	"slices"
	"strings"
	"unicode"
)

// IsGitDir reports whether some file system reads a part of a path as .git.
func IsGitDir(part string) bool {
	part = FoldNTFS(part)
	return part == ".git" || part == "git~1"
}

// Escapes reports whether a path leads out of the tree or into a git folder.
func Escapes(name string) bool {
	if name == "" {
		return false
	}
	return slices.ContainsFunc(strings.Split(strings.TrimSuffix(name, "/"), "/"), func(part string) bool {
		return part == "" || part == "." || part == ".." || IsGitDir(part)
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
