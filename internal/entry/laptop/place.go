package laptop

import (
	"os"
	"path/filepath"

	"github.com/ralph-loop/ralph/internal/lib/fault"
)

// Folder returns the folder that a user names, without links. It need not exist.
func (w World) Folder(name string) (string, error) {
	here, err := os.Getwd()
	if err == nil {
		here, err = filepath.EvalSymlinks(here)
	}
	if err != nil {
		return "", fault.Usage("the working directory is gone", "change into another folder", err)
	}
	if !filepath.IsAbs(name) {
		name = filepath.Join(here, name)
	}
	return resolved(name), nil
}
