package workspace

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/google/renameio/v2"

	"github.com/ralph-loop/ralph/internal/core/plan"
	"github.com/ralph-loop/ralph/internal/lib/fault"
	"github.com/ralph-loop/ralph/internal/lib/untrusted"
)

// NewFile is a file to create: its path, with slashes, and its content.
type NewFile struct {
	Path string
	Data []byte
}

// Scaffold creates all files in a project, or none. It never overwrites a file.
func Scaffold(project string, files []NewFile) error {
	return inProject(project, func(root *untrusted.Root) error {
		var existing []string
		for _, file := range files {
			if _, err := root.Lstat(file.Path); err == nil {
				existing = append(existing, file.Path)
			}
		}
		if len(existing) == 0 {
			return writeNewFiles(root, files)
		}
		fix := "remove or rename these files first"
		if !strings.HasPrefix(existing[0], ".github/") {
			fix += "; ralph archive moves a finished loop away"
		}
		return fault.Usage("files already exist: "+strings.Join(existing, ", ")+"; nothing was written", fix, nil)
	})
}

// inProject opens a project for the call of do.
func inProject(project string, do func(*untrusted.Root) error) error {
	root, err := untrusted.OpenRoot(project)
	if err != nil {
		return fault.Usage("cannot open the project "+project, "name a folder with -d", err)
	}
	defer root.Close() //nolint:errcheck // only a handle
	return do(root)
}

// writeNewFiles writes files, and removes the written ones if one fails.
func writeNewFiles(root *untrusted.Root, files []NewFile) error {
	for i, file := range files {
		if err := createFile(root, file); err != nil {
			for _, written := range files[:i] {
				_ = root.Remove(written.Path) // the first error is reported
			}
			return cannotWrite(filepath.Join(root.Name(), filepath.FromSlash(file.Path)), err)
		}
	}
	return nil
}

func createFile(root *untrusted.Root, wanted NewFile) error {
	if err := root.MkdirAll(path.Dir(wanted.Path), 0o755); err != nil {
		return err
	}
	// Another program can have created it in the meantime.
	file, err := root.OpenFile(wanted.Path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	_, err = file.Write(wanted.Data)
	err = errors.Join(err, file.Close())
	if err != nil {
		_ = root.Remove(wanted.Path) // it may be incomplete
	}
	return err
}

// SettingsFile is the path of a project's settings.
const SettingsFile = ".ralph/settings.json"

// ReadSettings returns a settings file, or nil if there is none.
func ReadSettings(project, name string) ([]byte, error) {
	var data []byte
	err := inProject(project, func(root *untrusted.Root) error {
		var err error
		data, err = root.ReadFile(name, maxAgentFile)
		if ignoreNotExist(err) != nil {
			return fault.Usage("cannot read "+name, "make it a plain file that you may read", err)
		}
		return nil
	})
	return data, err
}

// WriteSettings replaces the settings atomically.
func WriteSettings(project string, data []byte) error {
	return Folder{Path: filepath.Join(project, ".ralph")}.within(func(*untrusted.Root) error {
		path := filepath.Join(project, filepath.FromSlash(SettingsFile))
		if err := renameio.WriteFile(path, data, 0o644); err != nil {
			return cannotWrite(path, fmt.Errorf("nothing was changed: %w", err))
		}
		return nil
	})
}

const archiveDir = "ralph-archive"

// Loop is the memory of a loop.
type Loop struct {
	memory   Memory
	Plan     plan.Plan
	PRD      []byte
	Progress []byte // nil if there is none
}

// ReadLoop reads a project's loop. A PRD that is not a valid plan can be archived if it is valid JSON.
func ReadLoop(from Memory) (Loop, error) {
	l := Loop{memory: from}
	prd := from.path(planFile)
	var err error
	l.PRD, err = from.tree().ReadFile(prd, maxAgentFile)
	if errors.Is(err, fs.ErrNotExist) {
		return l, fault.Usage("nothing to archive: there is no "+prd, "name the project with -d", nil)
	}
	if err != nil {
		return l, fault.Usage("cannot read "+prd, "make it a plain file that you may read", err)
	}
	if err := json.Unmarshal(l.PRD, &l.Plan); err != nil {
		return l, fault.Usage("the PRD cannot be read", "fix "+prd, err)
	}
	if !l.hasStories() {
		return l, fault.Usage("nothing to archive: "+prd+" has no stories yet",
			"add stories, then start a run: ralph run", nil)
	}
	l.Progress, err = from.tree().ReadFile(from.path(progressFile), maxAgentFile)
	if ignoreNotExist(err) != nil {
		return l, fault.Usage("cannot read the progress log", "make it a plain file that you may read", err)
	}
	return l, nil
}

// hasStories reports whether the PRD has more than the one that init writes.
func (l Loop) hasStories() bool {
	return slices.ContainsFunc(l.Plan.UserStories, func(s plan.Story) bool {
		return strings.TrimSpace(s.Title+s.Description) != "" || len(s.AcceptanceCriteria) > 0 || s.Passes
	})
}

// Started returns the date at the beginning of the progress log, or an empty text.
func (l Loop) Started() string {
	for line := range strings.Lines(string(l.Progress)) {
		if date, ok := strings.CutPrefix(line, "Started:"); ok {
			return strings.TrimSpace(date)
		}
	}
	return ""
}

// Archive saves the loop and its summary in a new folder, and writes the files of a new loop. It returns the folder.
func (l Loop) Archive(name string, summary []byte, newLoop []NewFile) (string, error) {
	var folder string
	err := inProject(l.memory.Tree, func(root *untrusted.Root) error {
		var err error
		folder, err = makeArchiveDir(root, name)
		if err != nil {
			return cannotWrite(archiveDir, err)
		}
		if err := writeNewFiles(root, l.files(folder, summary)); err != nil {
			return errors.Join(err, root.Remove(folder))
		}
		for _, file := range newLoop {
			// It is atomic: a full disk loses nothing.
			err := renameio.WriteFile(file.Path, file.Data, 0o644, renameio.WithRoot(root.Root))
			if err != nil {
				return cannotWrite(file.Path, err)
			}
		}
		return nil
	})
	return folder, err
}

func makeArchiveDir(root *untrusted.Root, name string) (string, error) {
	if err := root.MkdirAll(archiveDir, 0o755); err != nil {
		return "", err
	}
	folder := path.Join(archiveDir, name)
	for n := 2; ; n++ {
		err := root.Mkdir(folder, 0o755)
		if !errors.Is(err, fs.ErrExist) {
			return folder, err
		}
		folder = fmt.Sprintf("%s/%s-%d", archiveDir, name, n)
	}
}

func (l Loop) files(folder string, summary []byte) []NewFile {
	all := []NewFile{
		{Path: path.Join(folder, planFile), Data: l.PRD},
		{Path: path.Join(folder, "summary.md"), Data: summary},
	}
	if l.Progress != nil {
		all = append(all, NewFile{Path: path.Join(folder, progressFile), Data: l.Progress})
	}
	return all
}
