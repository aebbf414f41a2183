package workspace

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/ralph-loop/ralph/internal/lib/untrusted"
)

// Limits for the files of a run on another machine. Only the journal is needed to
// continue the run; its report shows the other files.
const (
	maxJournal    = 32 << 20  // of the journal
	maxExtraFile  = 256 << 10 // of another file
	maxExtraFiles = 4 << 20   // of all other files
)

// Pack reads the journal and small files beside it, without trees and transcripts.
func (r Run) Pack() (map[string][]byte, error) {
	files := map[string][]byte{}
	if err := r.folder().Do(func(root *untrusted.Root) error { return readFiles(root, files) }); err != nil {
		return nil, fmt.Errorf("read the run's files: %w", err)
	}
	if files[JournalFile] == nil {
		return nil, fmt.Errorf("the journal is missing or longer than %d MiB", maxJournal>>20)
	}
	return files, nil
}

func readFiles(root *untrusted.Root, files map[string][]byte) error {
	entries, err := root.ReadDir(".")
	left := maxExtraFiles
	for _, entry := range entries {
		name := entry.Name()
		if name == PageFile || name == ProgressFile { // they can be generated
			continue
		}
		if strings.HasPrefix(name, "transcript_") || strings.HasPrefix(name, logPrefix) {
			continue
		}
		most := int64(min(maxExtraFile, left))
		if name == JournalFile {
			most = maxJournal
		}
		text, err := root.ReadFile(name, most)
		switch {
		case errors.Is(err, untrusted.ErrNotPlain), errors.Is(err, untrusted.ErrLarger), errors.Is(err, fs.ErrNotExist):
			continue
		case err != nil:
			return err
		}
		files[name] = text
		if name != JournalFile {
			left -= len(text)
		}
	}
	return err
}

func ignoreNotExist(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// Unpack writes a run's files from another machine. Older trees are removed.
func (f Folder) Unpack(id string, files map[string][]byte) (Run, error) {
	if id == "" || id != filepath.Base(id) || strings.HasPrefix(id, ".") {
		return Run{}, fmt.Errorf("%q is not a valid run id", id)
	}
	for name := range files {
		if name != filepath.Base(name) {
			return Run{}, fmt.Errorf("%q is not a valid file name", name)
		}
	}
	run := f.Run(id)
	return run, f.within(func(root *untrusted.Root) error {
		if err := writeRun(root, filepath.Join(runs, id), files); err != nil {
			return cannotWrite(run.Path, err)
		}
		return nil
	})
}

func writeRun(root *untrusted.Root, home string, files map[string][]byte) error {
	if err := ignoreAll(root); err != nil {
		return err
	}
	if err := root.MkdirAll(home, 0o755); err != nil {
		return err
	}
	if err := root.RemoveAll(filepath.Join(home, "work")); err != nil {
		return err
	}
	for name, text := range files {
		at := filepath.Join(home, name)
		if err := root.RemoveAll(at); err != nil {
			return err
		}
		if err := root.WriteFile(at, text, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// Limits for a fingerprint. Larger folders, such as a home, have none.
const (
	maxFiles   = 50_000
	maxContent = 64 << 20
)

var errTooLarge = errors.New("too many files")

// Fingerprint detects changes in a folder that is not a repository: by the content
// of files, or by size and time if there is too much content. It ignores ralph's
// own files. The result is empty if the folder is too large or unreadable.
func Fingerprint(ctx context.Context, dir string) string {
	root, err := untrusted.OpenRoot(dir)
	if err != nil {
		return ""
	}
	defer root.Close() //nolint:errcheck // only a handle
	p := fingerprint{sum: sha256.New(), left: maxContent}
	if err := root.Walk(ctx, ".", p.visit); err != nil {
		return ""
	}
	return hex.EncodeToString(p.sum.Sum(nil))
}

type fingerprint struct {
	sum   hash.Hash
	files int
	left  int64 // bytes that may still be read
}

func (p *fingerprint) visit(e untrusted.Entry, err error) error {
	p.files++
	switch {
	case p.files > maxFiles:
		return errTooLarge
	case err != nil && (e.Path == "." || errors.Is(err, untrusted.ErrTooDeep)):
		return err
	case err != nil:
		return nil //nolint:nilerr // an unreadable file is not the agent's work
	// The state folder of a home within the project.
	case e.Path == activeFile, e.Path == ".ralph", strings.HasSuffix("/"+e.Path, "/"+stateDir):
		return fs.SkipDir
	}
	fmt.Fprintf(p.sum, "%q %v", e.Path, e.Info.Mode())
	switch {
	case e.Info.Mode()&fs.ModeSymlink != 0:
		to, _ := e.In.Readlink(e.Name)
		fmt.Fprintf(p.sum, " %q", to)
	case e.Info.Mode().IsRegular() && !p.addContent(e):
		fmt.Fprintf(p.sum, " %d %d", e.Info.Size(), e.Info.ModTime().UnixNano())
	}
	return nil
}

func (p *fingerprint) addContent(e untrusted.Entry) bool {
	size := e.Info.Size()
	if size > maxAgentFile || size > p.left {
		return false
	}
	p.left -= size
	content, err := e.In.ReadFile(e.Name, maxAgentFile)
	if err != nil {
		return false
	}
	fmt.Fprintf(p.sum, " %d %s", len(content), content)
	return true
}
