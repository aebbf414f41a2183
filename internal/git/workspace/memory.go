package workspace

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"

	"github.com/google/renameio/v2"

	"github.com/ralph-loop/ralph/internal/core/plan"
	"github.com/ralph-loop/ralph/internal/lib/fault"
	"github.com/ralph-loop/ralph/internal/lib/process"
	"github.com/ralph-loop/ralph/internal/lib/untrusted"
)

// MemoryDir is the default folder of the memory.
const MemoryDir = "ralph"

// The files of the memory that the agent edits and the program reads.
const (
	planFile     = "prd.json"
	progressFile = "progress.txt"
	promptFile   = "prompt.md"
)

const maxAgentFile = 1 << 20

// Memory is the loop's memory in an agent's tree. Links out of the tree are not followed.
type Memory struct {
	Tree string
	Dir  string // within the tree (default: MemoryDir)
}

func (m Memory) path(name string) string { return path.Join(cmp.Or(m.Dir, MemoryDir), name) }

func (m Memory) tree() untrusted.Folder { return untrusted.Folder{Path: m.Tree} }

// MemoryPath returns the folder of PRD and progress log in the project; flag is the value of --ralph-dir.
func MemoryPath(project, flag string) (string, error) {
	memory := filepath.Clean(cmp.Or(flag, MemoryDir))
	if filepath.IsAbs(memory) {
		if within, err := filepath.Rel(project, memory); err == nil {
			memory = within
		}
	}
	if !filepath.IsLocal(memory) {
		return "", fault.Usage("--ralph-dir "+flag+" is not within the project", "name a folder of the project", nil)
	}
	for at := filepath.Dir(memory); at != "."; at = filepath.Dir(at) {
		if info, err := os.Lstat(filepath.Join(project, at)); err == nil && info.Mode().Type() == fs.ModeSymlink {
			return "", fault.Usage("--ralph-dir "+flag+": "+at+" is a link", "name the folder that it leads to", nil)
		}
	}
	return memory, nil
}

// Files returns the paths of the files that an agent writes.
func (m Memory) Files() []string { return []string{m.path(planFile), m.path(progressFile)} }

// PromptFile returns the path of the project's own prompt.
func (m Memory) PromptFile() string { return m.path(promptFile) }

// Write writes the plan, and a progress log if there is none.
func (m Memory) Write(p plan.Plan, progress []byte) error {
	if err := m.WritePlan(p); err != nil {
		return err
	}
	if _, err := m.tree().Lstat(m.path(progressFile)); errors.Is(err, fs.ErrNotExist) {
		return m.tree().WriteFile(m.path(progressFile), progress, 0o644)
	}
	return nil
}

func (m Memory) readFile(name string) ([]byte, error) {
	data, err := m.tree().ReadFile(m.path(name), maxAgentFile)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", m.path(name), err)
	}
	return data, nil
}

// Log returns the progress log. It is empty if there is no file.
func (m Memory) Log() (string, error) {
	data, err := m.readFile(progressFile)
	return string(data), ignoreNotExist(err)
}

// WriteLog replaces the progress log.
func (m Memory) WriteLog(log string) error { return m.WriteFile(progressFile, []byte(log)) }

// WriteFile replaces a file of the memory.
func (m Memory) WriteFile(name string, data []byte) error {
	err := m.tree().Do(func(root *untrusted.Root) error {
		if err := m.makeDir(root); err != nil {
			return err
		}
		if info, err := root.Lstat(m.path(name)); err == nil && info.IsDir() { // the agent's
			if err := root.RemoveAll(m.path(name)); err != nil {
				return err
			}
		}
		// It is atomic: a full disk loses nothing.
		return renameio.WriteFile(m.path(name), data, 0o644, renameio.WithRoot(root.Root))
	})
	if err != nil {
		return fmt.Errorf("write %s: %w", m.path(name), err)
	}
	return nil
}

// WritePlan writes the plan. A file with the same plan keeps its formatting.
func (m Memory) WritePlan(p plan.Plan) error {
	data, err := p.Marshal()
	if err != nil {
		return err
	}
	if err := m.tree().Do(m.makeDir); err != nil {
		return fmt.Errorf("make %s: %w", m.path(""), err)
	}
	if m.HasPlan(p) {
		return nil
	}
	return m.WriteFile(planFile, data)
}

// Joined returns a plan with the stories that people added to the file since, and what else they changed there.
func (m Memory) Joined(p plan.Plan) (joined plan.Plan, rest []string) {
	found, err := m.ReadPlan()
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return p, nil
	case err != nil:
		return p, []string{"the whole plan, for it could not be read: " + err.Error()}
	}
	merged := plan.Merge(p, found)
	return merged.Plan, merged.Undone
}

// Keep copies the file into the run's folder, before ralph writes another over it, and returns the name of the copy.
func (m Memory) Keep(run Run) (string, error) {
	data, err := m.readFile(planFile)
	if err != nil {
		return "", err
	}
	for n := 1; ; n++ {
		name := fmt.Sprintf("put_back_%d.json", n)
		if _, err := run.folder().Lstat(name); errors.Is(err, fs.ErrNotExist) {
			return name, run.WriteFile(name, data)
		}
	}
}

// HasPlan reports whether the file has this plan, in any formatting.
func (m Memory) HasPlan(p plan.Plan) bool {
	found, err := m.ReadPlan()
	if err != nil {
		return false
	}
	got, unread := found.Marshal()
	want, unwritten := p.Marshal()
	return unread == nil && unwritten == nil && bytes.Equal(got, want)
}

// HasLog reports whether the progress log has this SHA-256 digest.
func (m Memory) HasLog(digest string) bool {
	data, err := m.readFile(progressFile)
	return err == nil && fmt.Sprintf("%x", sha256.Sum256(data)) == digest
}

// makeDir makes the memory's folder, and replaces a link in its place.
func (m Memory) makeDir(root *untrusted.Root) error {
	info, err := root.Lstat(m.path(""))
	if err == nil && !info.IsDir() {
		err = root.Remove(m.path(""))
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return root.MkdirAll(m.path(""), 0o755)
}

// ReadPlan reads the plan that the agent left.
func (m Memory) ReadPlan() (plan.Plan, error) {
	data, err := m.readFile(planFile)
	if err != nil {
		return plan.Plan{}, err
	}
	return plan.Read(m.path(planFile), data)
}

// Audit returns an error that lists the problems of the plan at the end of a loop.
func (m Memory) Audit() error {
	data, err := m.readFile(planFile)
	if err != nil {
		return err
	}
	_, err = plan.Audit(m.path(planFile), data)
	return err
}

// Prompt returns the project's own prompt for its stories. It is empty if there is no file.
func (m Memory) Prompt() (string, error) {
	data, err := m.readFile(promptFile)
	return string(data), ignoreNotExist(err)
}

// ReadFile reads a file that people wrote. Pipes and devices are errors.
func ReadFile(name string) ([]byte, error) { return untrusted.ReadFile(name, 10*maxAgentFile) }

// TextFile checks a text that people wrote, such as a prompt, and returns its resolved path. A pipe is an error: it
// would be empty at the second read. An empty text is an error: an agent without a task only costs money. So is a link
// out of the project, which a commit can bring: the agent would read what the sandbox hides.
func TextFile(project, name string) (string, error) {
	top, err := filepath.EvalSymlinks(project)
	if err != nil {
		return "", err
	}
	place, err := untrusted.ResolveWithin(name, func(string) bool { return false }, func(link, place string) bool {
		return !process.Under(top, place) && process.Under(top, link)
	})
	if errors.Is(err, untrusted.ErrTheirLink) {
		return "", errors.New("it is a link out of the project, to " + place)
	}
	if _, unread := ReadText(name); unread != nil {
		return "", unread
	}
	return place, err
}

// ReadText reads such a text by its resolved path.
func ReadText(name string) (string, error) {
	data, err := ReadFile(name)
	if err != nil {
		return string(data), err
	}
	if len(bytes.TrimSpace(data)) == 0 {
		return string(data), fmt.Errorf("%s is empty", name)
	}
	return string(data), CheckText(data)
}

// CheckText returns an error if data is not plain text.
func CheckText(data []byte) error {
	if bytes.IndexByte(data, 0) >= 0 {
		return errors.New("it is not plain text in UTF-8")
	}
	return nil
}
