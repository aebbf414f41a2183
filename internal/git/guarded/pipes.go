package guarded

import (
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/ralph-loop/ralph/internal/untrusted"
)

// blocksGit reports whether git would open a pipe, and wait for a program that writes to it.
func (s Search) blocksGit(root *untrusted.Root, e untrusted.Entry) bool {
	mode := e.Info.Mode().Type()
	if mode == fs.ModeSymlink {
		if to, err := os.Stat(filepath.Join(s.Top, e.Path)); err == nil {
			mode = to.Mode().Type()
		}
	}
	opened := e.Name == "HEAD" || e.Name == index || strings.HasPrefix(e.Name, "sharedindex.") || strings.Contains("/"+e.Path, "/.")
	return mode == fs.ModeNamedPipe && (opened || inBare(root, e.Path))
}

func inBare(root *untrusted.Root, file string) bool {
	for at := path.Dir(file); ; at = path.Dir(at) {
		folder, err := root.OpenRoot(at)
		if err != nil {
			return true
		}
		is := isBare(folder)
		if _ = folder.Close(); is || at == "." {
			return is
		}
	}
}
