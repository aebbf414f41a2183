package agent

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/ralph-loop/ralph/internal/process"
)

// Find gives the path of the program that a child with that environment, in
// that directory, would mean by it. Relative entries of PATH are passed over:
// there a repository could put a program of its own in the agent's place.
func Find(program string, env []string, dir string) (string, error) {
	if strings.ContainsRune(program, filepath.Separator) {
		if !filepath.IsAbs(program) {
			program = filepath.Join(dir, program)
		}
		return program, runnable(program)
	}
	for _, folder := range filepath.SplitList(Lookup(env, "PATH")) {
		path := filepath.Join(folder, program)
		if filepath.IsAbs(folder) && runnable(path) == nil {
			return path, nil
		}
	}
	return "", fmt.Errorf("find %s in PATH: %w", program, fs.ErrNotExist)
}

func runnable(path string) error {
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	if info.IsDir() {
		return &fs.PathError{Op: "run", Path: path, Err: process.ErrFolder}
	}
	if info.Mode()&0o111 == 0 {
		return &fs.PathError{Op: "run", Path: path, Err: fs.ErrPermission}
	}
	return nil
}
