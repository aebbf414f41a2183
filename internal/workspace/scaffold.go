package workspace

import (
	"bytes"
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

	"github.com/ralph-loop/ralph/internal/fault"
	"github.com/ralph-loop/ralph/internal/plan"
	"github.com/ralph-loop/ralph/internal/untrusted"
)

// NewFile is a file to lay out in a project: its path there, by slashes, and
// what it holds.
type NewFile struct {
	Path string
	Data []byte
}

// Scaffold writes new files into a project: all of them, or none. Existing
// files are never overwritten.
func Scaffold(project string, sheets []NewFile) error {
	root, err := openProject(project)
	if err != nil {
		return err
	}
	defer root.Close() //nolint:errcheck // only a handle
	var there []string
	for _, sheet := range sheets {
		if _, err := root.Lstat(sheet.Path); err == nil {
			there = append(there, sheet.Path)
		}
	}
	if len(there) > 0 {
		fix := "remove or rename these files first"
		if !strings.HasPrefix(there[0], ".github/") {
			fix += "; ralph archive moves a finished loop away"
		}
		return fault.Usage("files already exist: "+strings.Join(there, ", ")+"; nothing was written", fix, nil)
	}
	return writeNewFiles(root, sheets)
}

// openProject is the project's folder, and no way out of it.
func openProject(project string) (*untrusted.Root, error) {
	root, err := untrusted.OpenRoot(project)
	if err != nil {
		return nil, fault.Usage("cannot open the project "+project, "name a folder with -d", err)
	}
	return root, nil
}

// writeNewFiles writes the sheets, and takes back those it wrote when one cannot be.
func writeNewFiles(root *untrusted.Root, sheets []NewFile) error {
	for i, sheet := range sheets {
		if err := createFile(root, sheet); err != nil {
			for _, written := range sheets[:i] {
				_ = root.Remove(written.Path) // the disk is at fault, what more could be said
			}
			return cannotWrite(filepath.Join(root.Name(), filepath.FromSlash(sheet.Path)), err)
		}
	}
	return nil
}

func createFile(root *untrusted.Root, sheet NewFile) error {
	if err := root.MkdirAll(path.Dir(sheet.Path), 0o755); err != nil {
		return err
	}
	// Exclusive: a file that came since we looked is not ours either.
	file, err := root.OpenFile(sheet.Path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	_, err = file.Write(sheet.Data)
	if err = errors.Join(err, file.Close()); err != nil {
		_ = root.Remove(sheet.Path) // half of it is nothing
	}
	return err
}

// AddIgnored adds to a project's .gitignore the patterns that it has not, and
// gives those it added.
func AddIgnored(project string, patterns ...string) (added []string, err error) {
	const name = ".gitignore"
	root, err := openProject(project)
	if err != nil {
		return nil, err
	}
	defer root.Close() //nolint:errcheck // only a handle
	old, err := root.ReadFile(name, maxAgentFile)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fault.Usage("cannot read "+name, "make it a plain file", err)
	}
	added = missingPatterns(old, patterns)
	if len(added) == 0 {
		return nil, nil
	}
	text := strings.Join(added, "\n") + "\n"
	if len(old) > 0 && !bytes.HasSuffix(old, []byte("\n")) {
		text = "\n" + text
	}
	file, err := root.OpenFile(name, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return nil, cannotWrite(name, err)
	}
	_, err = file.WriteString(text)
	if err = errors.Join(err, file.Close()); err != nil {
		return nil, cannotWrite(name, err)
	}
	return added, nil
}

// missingPatterns are the patterns that no line says, with or without the slashes
// that git makes little of.
func missingPatterns(ignored []byte, patterns []string) []string {
	said := map[string]bool{}
	for line := range strings.Lines(string(ignored)) {
		said[strings.Trim(strings.TrimSpace(line), "/")] = true
	}
	var fresh []string
	for _, pattern := range patterns {
		if !said[strings.Trim(pattern, "/")] {
			fresh = append(fresh, pattern)
		}
	}
	return fresh
}

// SettingsFile holds the settings of a project.
const SettingsFile = ".ralph/settings.json"

// ReadSettings is a settings file as it stands, nil where there is none.
func ReadSettings(project, name string) ([]byte, error) {
	root, err := openProject(project)
	if err != nil {
		return nil, err
	}
	defer root.Close() //nolint:errcheck // only a handle
	data, err := root.ReadFile(name, maxAgentFile)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fault.Usage("cannot read "+name, "make it a plain file that you may read", err)
	}
	return data, nil
}

// WriteSettings puts the settings in the place of those that were: who reads
// them sees the old or the new, and never half of one.
func WriteSettings(project string, data []byte) error {
	root, err := Folder{Path: filepath.Join(project, ".ralph")}.open()
	if err != nil {
		return err
	}
	defer root.Close() //nolint:errcheck // only a handle
	path := filepath.Join(project, filepath.FromSlash(SettingsFile))
	if err := renameio.WriteFile(path, data, 0o644); err != nil {
		return cannotWrite(path, fmt.Errorf("nothing was changed: %w", err))
	}
	return nil
}

const archiveDir = "ralph-archive"

// Loop is the memory of a loop, as people and agents left it.
type Loop struct {
	memory   Memory
	Plan     plan.Plan
	PRD      []byte
	Progress []byte // nil where there is none
}

// ReadLoop reads the loop of a project, or says that there is nothing in it. A PRD
// that no run would take can still be put away, if only it is JSON.
func ReadLoop(from Memory) (Loop, error) {
	l := Loop{memory: from}
	root, err := openProject(from.Tree)
	if err != nil {
		return l, err
	}
	defer root.Close() //nolint:errcheck // only a handle
	prd := from.path(planFile)
	l.PRD, err = root.ReadFile(prd, maxAgentFile)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return l, fault.Usage("nothing to archive: there is no "+prd, "name the project with -d", nil)
	case err != nil:
		return l, fault.Usage("cannot read "+prd, "make it a plain file that you may read", err)
	}
	if err := json.Unmarshal(l.PRD, &l.Plan); err != nil {
		return l, fault.Usage("the PRD cannot be read", "fix "+prd, err)
	}
	if !l.hasStories() {
		return l, fault.Usage("nothing to archive: "+prd+" tells of no story yet", "fill it in, and work on it: ralph run", nil)
	}
	l.Progress, err = root.ReadFile(from.path(progressFile), maxAgentFile)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return l, fault.Usage("cannot read the progress log", "make it a plain file that you may read", err)
	}
	return l, nil
}

// hasStories tells a PRD that somebody filled in from the one that init lays out.
func (l Loop) hasStories() bool {
	return slices.ContainsFunc(l.Plan.UserStories, func(s plan.Story) bool {
		return strings.TrimSpace(s.Title+s.Description) != "" || len(s.AcceptanceCriteria) > 0 || s.Passes
	})
}

// Started is the date that the progress log begins with, if it has one.
func (l Loop) Started() string {
	for line := range strings.Lines(string(l.Progress)) {
		if date, found := strings.CutPrefix(line, "Started:"); found {
			return strings.TrimSpace(date)
		}
	}
	return ""
}

// Archive writes the loop and its summary into a new folder of the archive,
// called name or name-2 and so on, and fresh files in the place of the loop's.
// The old ones are overwritten only once the archive holds them.
func (l Loop) Archive(name string, summary []byte, fresh []NewFile) (folder string, err error) {
	root, err := openProject(l.memory.Tree)
	if err != nil {
		return "", err
	}
	defer root.Close() //nolint:errcheck // only a handle
	if folder, err = makeArchiveDir(root, name); err != nil {
		return "", cannotWrite(archiveDir, err)
	}
	if err := writeNewFiles(root, l.files(folder, summary)); err != nil {
		return "", errors.Join(err, root.Remove(folder))
	}
	for _, sheet := range fresh {
		if err := replaceByRename(root, sheet); err != nil {
			return folder, cannotWrite(sheet.Path, err)
		}
	}
	return folder, nil
}

// makeArchiveDir makes the folder, one that was not there.
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

// replaceByRename puts a file in the place of another by a rename, so that a full disk
// costs neither.
func replaceByRename(root *untrusted.Root, sheet NewFile) error {
	aside := NewFile{Path: sheet.Path + ".new", Data: sheet.Data}
	if err := createFile(root, aside); err != nil {
		return err
	}
	if err := root.Rename(aside.Path, sheet.Path); err != nil {
		return errors.Join(err, root.Remove(aside.Path))
	}
	return nil
}
