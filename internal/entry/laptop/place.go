package laptop

import (
	"os"
	"path/filepath"

	"github.com/ralph-loop/ralph/internal/core/journal"
	"github.com/ralph-loop/ralph/internal/lib/fault"
)

// Folder returns the folder that a user names, without links. It need not exist.
func (w World) Folder(name string) (string, error) {
	dir, err := workingDir()
	if err != nil {
		return "", fault.Usage("the working directory is gone", "change into another folder", err)
	}
	if !filepath.IsAbs(name) {
		name = filepath.Join(dir, name)
	}
	return resolved(name), nil
}

// Continuation names a run of the project for the command that continues it; no ID: the newest.
func (l Flags) Continuation(id string) journal.Resume { return continuation(l.ProjectDir, id) }

func continuation(project, id string) journal.Resume {
	named := journal.Resume{Dir: project, ID: id}
	dir, err := workingDir()
	if err != nil {
		return named
	}
	if path, err := filepath.Rel(dir, project); err == nil {
		named.Dir = path
	}
	if named.Dir == "." {
		named.Dir = ""
	}
	return named
}

// workingDir returns the working directory without links.
func workingDir() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	return filepath.EvalSymlinks(dir)
}
