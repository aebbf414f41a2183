package workspace

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/ralph-loop/ralph/internal/plan"
)

// The files an agent finds in its tree, and the program reads back.
const (
	MemoryDir    = "ralph"
	planFile     = "ralph/prd.json"
	progressFile = "ralph/progress.txt"
)

// Books are the files of the memory that an agent writes.
func Books() []string { return []string{planFile, progressFile} }

// largest is how much of a file an agent wrote is read.
const largest = 1 << 20

// Memory is the loop's memory in the tree of an agent, who may have put
// anything there: links out of the tree are not followed.
type Memory struct{ Tree string }

// Write puts the plan as the program believes it, and a progress log if there
// is none.
func (m Memory) Write(p plan.Plan, progress []byte) error {
	root, err := os.OpenRoot(m.Tree)
	if err != nil {
		return fmt.Errorf("open the agent's tree: %w", err)
	}
	defer root.Close() //nolint:errcheck // only a handle
	data, err := p.Marshal()
	if err != nil {
		return err
	}
	if err := makeDir(root); err != nil {
		return fmt.Errorf("make %s: %w", MemoryDir, err)
	}
	if err := replace(root, planFile, data); err != nil {
		return fmt.Errorf("write %s: %w", planFile, err)
	}
	if _, err := root.Lstat(progressFile); errors.Is(err, fs.ErrNotExist) {
		return root.WriteFile(progressFile, progress, 0o644)
	}
	return nil
}

// makeDir sees to it that the memory's folder is a folder of its own and no
// link to another.
func makeDir(root *os.Root) error {
	info, err := root.Lstat(MemoryDir)
	if err == nil && !info.IsDir() {
		err = root.Remove(MemoryDir)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return root.MkdirAll(MemoryDir, 0o755)
}

// replace writes a new file in the place of whatever is there, a link or a
// folder included.
func replace(root *os.Root, name string, data []byte) error {
	if err := root.RemoveAll(name); err != nil {
		return err
	}
	return root.WriteFile(name, data, 0o644)
}

// Read is the plan as the agent left it.
func (m Memory) Read() (plan.Plan, error) {
	root, err := os.OpenRoot(m.Tree)
	if err != nil {
		return plan.Plan{}, fmt.Errorf("open the agent's tree: %w", err)
	}
	defer root.Close() //nolint:errcheck // only a handle
	data, err := regular(root, planFile)
	if err != nil {
		return plan.Plan{}, fmt.Errorf("read %s: %w", planFile, err)
	}
	return plan.Read(planFile, data)
}

// regular reads a plain file; a pipe would hang the program, a link could lead
// to another file of the tree that was never meant.
func regular(root *os.Root, name string) ([]byte, error) {
	info, err := root.Lstat(name)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, errors.New("it is not a plain file")
	}
	file, err := root.Open(name)
	if err != nil {
		return nil, err
	}
	defer file.Close() //nolint:errcheck // only read
	data, err := io.ReadAll(io.LimitReader(file, largest+1))
	if err == nil && len(data) > largest {
		err = errors.New("it is larger than 1 MiB")
	}
	return data, err
}
