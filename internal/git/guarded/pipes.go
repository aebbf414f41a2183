package guarded

import (
	"io/fs"
	"os"
	"path"
	"path/filepath"

	"github.com/ralph-loop/ralph/internal/untrusted"
)

func (s Search) isPipe(e untrusted.Entry) bool {
	mode := e.Info.Mode().Type()
	if mode == fs.ModeSymlink {
		if to, err := os.Stat(filepath.Join(s.Top, e.Path)); err == nil {
			mode = to.Mode().Type()
		}
	}
	return mode == fs.ModeNamedPipe
}

// RemovePipes removes pipes, and links to them: git and others would open one, by any path, and
// wait for a program that writes to it. git commits none.
func (s Search) RemovePipes(names []string) {
	root, err := untrusted.OpenRoot(s.Top)
	if err != nil {
		return
	}
	defer root.Close() //nolint:errcheck // only a handle
	for _, name := range names {
		_ = root.Chmod(path.Dir(name), 0o700) // those inside may have closed the folder
		_ = root.Remove(name)
	}
}
