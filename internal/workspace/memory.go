package workspace

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"

	"github.com/ralph-loop/ralph/internal/fault"
	"github.com/ralph-loop/ralph/internal/plan"
	"github.com/ralph-loop/ralph/internal/untrusted"
)

// MemoryDir is where the memory lies unless a run says otherwise.
const MemoryDir = "ralph"

// The files an agent finds there, and the program reads back.
const (
	planFile     = "prd.json"
	progressFile = "progress.txt"
	promptFile   = "prompt.md"
)

// maxAgentFile is how much of a file an agent wrote is read.
const maxAgentFile = 1 << 20

// Memory is the loop's memory in the tree of an agent, who may have put
// anything there: links out of the tree are not followed.
type Memory struct {
	Tree string
	Dir  string // within the tree; MemoryDir where empty
}

func (m Memory) path(name string) string { return path.Join(cmp.Or(m.Dir, MemoryDir), name) }

// MemoryPath is the folder of PRD and progress log, from the project on; named is
// what --ralph-dir says.
func MemoryPath(project, named string) (string, error) {
	memory := filepath.Clean(cmp.Or(named, MemoryDir))
	if filepath.IsAbs(memory) {
		if within, err := filepath.Rel(project, memory); err == nil {
			memory = within
		}
	}
	if !filepath.IsLocal(memory) {
		return "", fault.Usage("--ralph-dir "+named+" is not within the project", "name a folder of the project", nil)
	}
	return memory, nil
}

// Files are the files of it that an agent writes.
func (m Memory) Files() []string { return []string{m.path(planFile), m.path(progressFile)} }

// PromptFile is where a project's own prompt lies in it.
func (m Memory) PromptFile() string { return m.path(promptFile) }

func (m Memory) open() (*untrusted.Root, error) {
	root, err := untrusted.OpenRoot(m.Tree)
	if err != nil {
		return nil, fmt.Errorf("open the agent's tree: %w", err)
	}
	return root, nil
}

// Write puts the plan as the program believes it, and a progress log if there
// is none.
func (m Memory) Write(p plan.Plan, progress []byte) error {
	if err := m.WritePlan(p); err != nil {
		return err
	}
	root, err := m.open()
	if err != nil {
		return err
	}
	defer root.Close() //nolint:errcheck // only a handle
	if _, err := root.Lstat(m.path(progressFile)); errors.Is(err, fs.ErrNotExist) {
		return root.WriteFile(m.path(progressFile), progress, 0o644)
	}
	return nil
}

// readFile is a file of the memory. What the agent put in its place is an error.
func (m Memory) readFile(name string) ([]byte, error) {
	root, err := m.open()
	if err != nil {
		return nil, err
	}
	defer root.Close() //nolint:errcheck // only a handle
	data, err := root.ReadFile(m.path(name), maxAgentFile)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", m.path(name), err)
	}
	return data, nil
}

// Log is the progress log as it stands; empty where there is none.
func (m Memory) Log() (string, error) {
	data, err := m.readFile(progressFile)
	return string(data), ignoreNotExist(err)
}

// WriteLog puts the progress log in the place of whatever is there.
func (m Memory) WriteLog(log string) error { return m.WriteFile(progressFile, []byte(log)) }

// WriteFile puts a file in the place of whatever is there.
func (m Memory) WriteFile(name string, data []byte) error {
	root, err := m.open()
	if err != nil {
		return err
	}
	defer root.Close() //nolint:errcheck // only a handle
	if err := m.makeDir(root); err != nil {
		return fmt.Errorf("make %s: %w", m.path(""), err)
	}
	if err := replaceFile(root, m.path(name), data); err != nil {
		return fmt.Errorf("write %s: %w", m.path(name), err)
	}
	return nil
}

// WritePlan puts the plan alone. One that stands there already is left as its people
// formatted it.
func (m Memory) WritePlan(p plan.Plan) error {
	root, err := m.open()
	if err != nil {
		return err
	}
	defer root.Close() //nolint:errcheck // only a handle
	data, err := p.Marshal()
	if err != nil {
		return err
	}
	if err := m.makeDir(root); err != nil {
		return fmt.Errorf("make %s: %w", m.path(""), err)
	}
	if m.hasPlan(data) {
		return nil
	}
	if err := replaceFile(root, m.path(planFile), data); err != nil {
		return fmt.Errorf("write %s: %w", m.path(planFile), err)
	}
	return nil
}

// hasPlan tells whether the plan file says what data says.
func (m Memory) hasPlan(data []byte) bool {
	found, err := m.ReadPlan()
	if err != nil {
		return false
	}
	same, err := found.Marshal()
	return err == nil && bytes.Equal(same, data)
}

// makeDir sees to it that the memory's folder is a folder of its own and no
// link to another.
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

// replaceFile writes a new file in the place of whatever is there, a link or a
// folder included.
func replaceFile(root *untrusted.Root, name string, data []byte) error {
	if err := root.RemoveAll(name); err != nil {
		return err
	}
	return root.WriteFile(name, data, 0o644)
}

// ReadPlan is the plan as the agent left it.
func (m Memory) ReadPlan() (plan.Plan, error) {
	data, err := m.readFile(planFile)
	if err != nil {
		return plan.Plan{}, err
	}
	return plan.Read(m.path(planFile), data)
}

// Audit says what is wrong with the plan as a loop should leave it behind.
func (m Memory) Audit() error {
	data, err := m.readFile(planFile)
	if err == nil {
		_, err = plan.Audit(m.path(planFile), data)
	}
	return err
}

// Prompt is the project's own prompt for its stories; empty where it has none.
func (m Memory) Prompt() (string, error) {
	data, err := m.readFile(promptFile)
	return string(data), ignoreNotExist(err)
}

// ReadFile reads a file that people wrote; anything but a plain file is an error.
func ReadFile(name string) ([]byte, error) { return untrusted.ReadFile(name, 10*maxAgentFile) }

// ReadText reads a text that people wrote, such as a prompt. What can be read
// once only would be empty the second time, and an agent that is asked nothing
// is paid for nothing.
func ReadText(name string) (string, error) { return checkedText(name, ReadFile) }

// TextFile is the resolved path of such a text.
func TextFile(name string) (string, error) {
	if _, err := ReadText(name); err != nil {
		return "", err
	}
	return filepath.EvalSymlinks(name)
}

// ReadTextIn is ReadText for the resolved path of a file. In a project an agent may have
// put a link in its place, or in that of a folder.
func ReadTextIn(project, name string) (string, error) {
	top, err := filepath.EvalSymlinks(project)
	way, strange := filepath.Rel(top, name)
	if err != nil || strange != nil || !filepath.IsLocal(way) {
		return ReadText(name)
	}
	return checkedText(way, func(way string) ([]byte, error) {
		root, err := untrusted.OpenRoot(top)
		if err != nil {
			return nil, err
		}
		defer root.Close() //nolint:errcheck // only a handle
		return root.ReadFile(way, 10*maxAgentFile)
	})
}

func checkedText(name string, read func(string) ([]byte, error)) (string, error) {
	data, err := read(name)
	switch {
	case err != nil:
	case len(bytes.TrimSpace(data)) == 0:
		err = fmt.Errorf("there is nothing in %s", name)
	default:
		err = CheckText(data)
	}
	return string(data), err
}

// CheckText is why data is nothing that people have written as plain text.
func CheckText(data []byte) error {
	if bytes.IndexByte(data, 0) >= 0 {
		return errors.New("it is no plain text: a program's own format, or UTF-16")
	}
	return nil
}
