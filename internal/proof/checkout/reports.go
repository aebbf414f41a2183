package checkout

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"path"
	"path/filepath"
	"slices"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/ralph-loop/ralph/internal/core/journal"
	"github.com/ralph-loop/ralph/internal/lib/untrusted"
	"github.com/ralph-loop/ralph/internal/proof/results"
)

// readReports reads the JUnit XML files of a checkout: those in the folder for reports, and those that build tools or
// the settings name. One that cannot be read is left out: the exit code decides.
func (c *Clean) readReports(ctx context.Context, run journal.Run) (results.Results, error) {
	r := reports{every: true, dir: []byte(c.Dir + string(filepath.Separator))}
	checkout := untrusted.Folder{Path: c.Dir}
	if err := checkout.Walk(ctx, reportsFolder, r.visit); err != nil {
		return r.found, err
	}
	r.every = false
	r.globs = slices.Clone(run.Policy.Reports)
	base := c.reader(ctx, run.Base)
	for file, glob := range reportsOf {
		if base.file(path.Join(run.Policy.Subfolder, file)) != nil {
			r.globs = append(r.globs, glob)
		}
	}
	if len(r.globs) == 0 {
		return r.found, base.err
	}
	err := checkout.Walk(ctx, path.Join(".", run.Policy.Subfolder), r.visit)
	return r.found, errors.Join(err, base.err)
}

// reports are the files that were found.
type reports struct {
	every bool // all XML files count
	globs []string
	dir   []byte // the checkout, which names of files leave out
	read  int
	found results.Results
}

func (r *reports) visit(e untrusted.Entry, err error) error {
	if err != nil {
		return nil //nolint:nilerr // a check may remove what it made
	}
	if e.Info.IsDir() {
		if e.Path == ".git" || slices.Contains(dependencyFolders, path.Base(e.Path)) {
			return fs.SkipDir
		}
		return nil
	}
	if !r.isReport(e.Path) {
		return nil
	}
	r.read++
	if r.read > mostReports {
		r.found.Cut = true
		return fs.SkipAll
	}
	data, err := e.In.ReadFile(e.Name, largestReport)
	if err != nil || r.found.AddJUnit(bytes.ReplaceAll(data, r.dir, nil)) != nil {
		r.found.Cut = true
	}
	return nil
}

func (r *reports) isReport(name string) bool {
	if path.Ext(name) != ".xml" {
		return false
	}
	return r.every || slices.ContainsFunc(r.globs, func(glob string) bool {
		ok, err := doublestar.Match(glob, name)
		return ok && err == nil
	})
}
