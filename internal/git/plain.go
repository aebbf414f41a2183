package git

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"

	"github.com/ralph-loop/ralph/internal/untrusted"
)

// plain tells of a tree whose configuration cannot hold a filter, as there is
// neither the word in it nor one that would have git read more: then git need
// not be asked. Whatever is odd about it is for git to say.
func (t *Tree) plain() bool {
	at := t.lair()
	if shared, ok := commonOf(at.dir); !ok || shared != at.common {
		return false
	}
	text, ok := readInside(at.common, "config", 64<<10)
	if !ok {
		return false
	}
	text = bytes.ToLower(text)
	for _, word := range []string{"filter", "include", "worktreeconfig"} {
		if bytes.Contains(text, []byte(word)) {
			return false
		}
	}
	return true
}

// commonOf is where git takes the configuration of a repository from.
func commonOf(dir string) (string, bool) {
	if _, err := os.Lstat(filepath.Join(dir, "commondir")); os.IsNotExist(err) {
		return dir, true
	}
	text, ok := readInside(dir, "commondir", 4<<10)
	if !ok {
		return "", false
	}
	name := strings.TrimRight(string(text), "\r\n")
	if !filepath.IsAbs(name) {
		name = filepath.Join(dir, name)
	}
	return filepath.Clean(name), true
}

// readInside reads a regular file of a folder, if it is not longer than limit.
func readInside(dir, name string, limit int64) ([]byte, bool) {
	inside, err := untrusted.OpenRoot(dir) // no link leads out of it
	if err != nil {
		return nil, false
	}
	defer inside.Close() //nolint:errcheck // nothing was written through it
	text, err := inside.ReadFile(name, limit)
	return text, err == nil
}
