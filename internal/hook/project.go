package hook

import (
	"os"
	"path/filepath"
)

// project is the folder that a session is about.
func (d Door) project(in input) string {
	if dir := d.Env("CLAUDE_PROJECT_DIR"); filepath.IsAbs(dir) {
		return filepath.Clean(dir)
	}
	return above(in.Dir)
}

// above is the project that a folder lies in: the nearest with a .ralph, else
// the nearest repository, else the folder itself.
func above(dir string) string {
	for _, name := range []string{".ralph", ".git"} {
		for at := dir; filepath.IsAbs(at); at = filepath.Dir(at) {
			if _, err := os.Lstat(filepath.Join(at, name)); err == nil {
				return at
			}
			if at == filepath.Dir(at) {
				break
			}
		}
	}
	return dir
}

// ours tells that the session is one of an agent that a loop of ralph's has
// started.
func (d Door) ours() bool { return d.Env("RALPH_ITERATION") != "" }
