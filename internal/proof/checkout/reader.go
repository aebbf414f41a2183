package checkout

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"path"
	"path/filepath"
	"strings"

	"github.com/ralph-loop/ralph/internal/core/journal"
	"github.com/ralph-loop/ralph/internal/git/git"
	"github.com/ralph-loop/ralph/internal/git/workspace"
	"github.com/ralph-loop/ralph/internal/lib/untrusted"
	"github.com/ralph-loop/ralph/internal/proof/checkdef"
	"github.com/ralph-loop/ralph/internal/proof/results"
	"github.com/ralph-loop/ralph/internal/proof/suite"
)

// reader reads the files of a commit. Links and files that are too large count as missing. If git fails, err is set.
// Most names that are looked for are missing, so git is asked for all names at once.
type reader struct {
	ctx     context.Context //nolint:containedctx // lives as long as a call
	trusted *git.Trusted
	commit  string
	entries map[string]git.TreeEntry // by path; a folder has no mode
	texts   map[string][]byte
	err     error
}

// reader returns the reader of a commit, which keeps what it read.
func (c *Clean) reader(ctx context.Context, commit string) *reader {
	if c.readers == nil || len(c.readers) > 20 {
		c.readers = map[string]*reader{}
	}
	r := c.readers[commit]
	if r == nil || r.err != nil {
		r = &reader{trusted: c.Trusted, commit: commit, texts: map[string][]byte{}}
		c.readers[commit] = r
	}
	r.ctx = ctx
	return r
}

// readError returns what git failed with.
func (c *Clean) readError() error {
	var err error
	for _, r := range c.readers {
		err = errors.Join(err, r.err)
	}
	return err
}

func (r *reader) file(name string) []byte {
	if text, known := r.texts[name]; known {
		return text
	}
	text, err := r.read(name)
	if _, ok := errors.AsType[*git.Error](err); ok {
		r.err = errors.Join(r.err, err)
	}
	r.texts[name] = text
	return text
}

func (r *reader) read(name string) ([]byte, error) {
	if r.entries == nil {
		if err := r.list(); err != nil {
			return nil, err
		}
	}
	entry, found := r.entries[name]
	if !found || entry.Mode == "" {
		return nil, git.ErrNotFound
	}
	text, err := r.trusted.ReadEntry(r.ctx, entry, largestSurveyed)
	if err != nil {
		return nil, err
	}
	return append([]byte{}, text...), nil // not nil for an empty file
}

func (r *reader) list() error {
	all, err := r.trusted.ListAll(r.ctx, r.commit)
	if err != nil {
		return err
	}
	r.entries = make(map[string]git.TreeEntry, len(all))
	for _, entry := range all {
		r.entries[entry.Path] = entry
		for folder := path.Dir(entry.Path); r.entries[folder].Path == ""; folder = path.Dir(folder) {
			r.entries[folder] = git.TreeEntry{Path: folder}
		}
	}
	return nil
}

// Text returns a file of a commit, or nil.
func (c *Clean) Text(ctx context.Context, commit, name string) ([]byte, error) {
	r := c.reader(ctx, commit)
	return r.file(name), r.err
}

// With returns a commit with some files replaced.
func (c *Clean) With(ctx context.Context, commit string, texts map[string][]byte) (string, error) {
	return c.Trusted.Overlay(ctx, git.Overlay{Onto: commit, From: commit, Texts: texts})
}

// Call finds the runner of a check's command, by the files of the base.
func (c *Clean) Call(ctx context.Context, run journal.Run, command string) (suite.Call, error) {
	base := c.reader(ctx, run.Base)
	folder := cmp.Or(run.Policy.Subfolder, ".")
	script := func(name string) string {
		return checkdef.Script(base.file(path.Join(folder, "package.json")), name)
	}
	reads := func(variable string) bool {
		if strings.Contains(command, variable) {
			return true
		}
		commands := checkdef.Commands{Within: run.Policy.Subfolder, Checks: []string{command}}
		for _, name := range checkdef.Of(commands, base.file).Files() {
			if bytes.Contains(base.file(name), []byte(variable)) {
				return true
			}
		}
		return false
	}
	call := suite.CallOf(command, suite.Source{Script: script, Reads: reads})
	return call, base.err
}

// Results returns all tests that a check reported, from the file beside its log. A job goes on with runs of other
// machines, which left these files there; no agent reaches its own.
func (c *Clean) Results(check journal.CheckEnded) (results.Results, error) {
	if check.Tests == nil || check.Tests.All.Path == "" {
		return results.Results{}, nil
	}
	text, err := c.Logs.Read(filepath.Base(check.Tests.All.Path), check.Tests.All.Digest)
	switch {
	case err != nil && c.InJob:
		return results.Results{}, nil
	case err != nil:
		return results.Results{}, fmt.Errorf("the record of the tests of %s cannot be read: %w", check.Name, err)
	}
	return results.Parse(text), nil
}

// reportsOf are where build tools write reports by themselves, by a file of the project.
var reportsOf = map[string]string{
	"pom.xml":              "**/target/surefire-reports/TEST-*.xml",
	"build.gradle":         "**/build/test-results/**/*.xml",
	"build.gradle.kts":     "**/build/test-results/**/*.xml",
	".config/nextest.toml": "**/target/nextest/**/*.xml",
}

const (
	reportsFolder = ".git/ralph-reports"
	largestReport = 16 << 20
	mostReports   = 2000
)

// reports makes a folder for the reports of a check, and returns what reads them.
func (c *Clean) reports(
	ctx context.Context, run journal.Run,
) (folder string, read func() (results.Results, error), err error) {
	checkout := untrusted.Folder{Path: c.Dir}
	err = checkout.Do(func(root *untrusted.Root) error {
		if err := root.RemoveAll(reportsFolder); err != nil {
			return err
		}
		return root.MkdirAll(reportsFolder, 0o755)
	})
	if err != nil {
		return "", nil, err
	}
	if err := c.Sandbox.Lend(ctx, c.Dir, reportsFolder); err != nil {
		return "", nil, err
	}
	read = func() (results.Results, error) { return c.readReports(ctx, run) }
	return filepath.Join(c.Dir, filepath.FromSlash(reportsFolder)), read, nil
}

// memory returns the folder with ralph's own files.
func memory(run journal.Run) workspace.Memory {
	return workspace.Memory{Dir: cmp.Or(run.Policy.Memory, workspace.MemoryDir)}
}

// ownFiles returns the files that ralph writes in its folder.
func ownFiles(run journal.Run) []string { return memory(run).Files() }
