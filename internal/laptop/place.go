package laptop

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/ralph-loop/ralph/internal/fault"
	"github.com/ralph-loop/ralph/internal/git"
	"github.com/ralph-loop/ralph/internal/process"
)

// Folder returns the folder that a user names, without links. It need not exist.
func (w World) Folder(name string) (string, error) {
	here, err := standing()
	if err != nil || filepath.Clean(name) == "." {
		return here, err
	}
	if !filepath.IsAbs(name) {
		name = filepath.Join(here, name)
	}
	return resolved(name), nil
}

// standing returns the working directory without links.
func standing() (string, error) {
	here, err := os.Stat(".")
	if err != nil {
		return "", fmt.Errorf("find the working directory: %w", err)
	}
	dir, err := os.Getwd()
	if err == nil {
		dir, err = filepath.EvalSymlinks(dir)
	}
	there, failed := os.Lstat(dir)
	if err = errors.Join(err, failed); err != nil || !os.SameFile(here, there) {
		return "", errMoved(dir, err)
	}
	return dir, nil
}

var errReplaced = errors.New("another folder is in its place")

func errMoved(dir string, err error) error {
	return fault.Usage("the folder was moved or replaced: "+dir, "change into the folder again", err)
}

// PlaceOf returns the repository that a folder lies in, which Folder found.
func PlaceOf(ctx context.Context, tool git.Git, dir string) (git.Place, error) {
	place, err := tool.Inspect(ctx, dir)
	if err == nil && !process.Under(place.Top, dir) {
		err = errMoved(dir, errReplaced)
	}
	return place, err
}
