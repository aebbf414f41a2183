package workspace

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/ralph-loop/ralph/internal/lib/fault"
	"github.com/ralph-loop/ralph/internal/lib/jsontree"
	"github.com/ralph-loop/ralph/internal/lib/pattern"
	"github.com/ralph-loop/ralph/internal/lib/untrusted"
)

// Task is the folder of a supervised task, with its state and its messages.
type Task struct {
	Dir     string
	Project string
	ID      string
}

// The files with which the task's command reports its state.
const (
	doneFile = "DONE"
	waitFile = "WAIT_WITHOUT_RESTART"
)

// Runs returns the folder of the supervisor's runs. It has a lock of its own, because the
// supervised command can be ralph run in the same folder.
func (t Task) Runs() Folder {
	return Folder{Path: filepath.Join(t.Dir, ".ralph"), LockName: "supervise.lock"}
}

func (t Task) folder() untrusted.Folder { return untrusted.Folder{Path: t.Dir} }

// CheckDir returns an error if dir, the value of flag, is not a folder.
func CheckDir(dir, flag string) error {
	info, err := os.Stat(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fault.Usage("no such folder: "+dir, "create it, or name another folder with "+flag, nil)
	case err != nil:
		return fault.Usage("cannot read "+dir, "make it readable, or name another folder with "+flag, err)
	case !info.IsDir():
		return fault.Usage(dir+" is not a folder", "name a folder with "+flag, nil)
	}
	return nil
}

// CheckNotHome returns an error if a project is the user's home. An agent may change all of its project, and the runs
// of the home would be those of each folder below.
func CheckNotHome(project, home string) error {
	at, err := os.Stat(project)
	if err != nil {
		return nil //nolint:nilerr // CheckDir reports it
	}
	own, err := os.Stat(home)
	if err != nil || !os.SameFile(at, own) {
		return nil //nolint:nilerr // a user without a home has nothing to lose there
	}
	return fault.Usage("your home folder cannot be a project: an agent could change all of it",
		"cd into a project, or name one with -d", nil)
}

// Done reports whether the DONE file exists, or a link of that name.
func (t Task) Done() (bool, error) {
	err := t.folder().Do(func(*untrusted.Root) error { return nil })
	if err != nil {
		return false, fmt.Errorf("look for %s: %w", doneFile, err)
	}
	info, err := os.Stat(filepath.Join(t.Dir, doneFile))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return false, nil
	case err != nil:
		return false, fmt.Errorf("look for %s: %w", doneFile, err)
	case info.IsDir():
		return false, fault.Usage(doneFile+" is a directory", "remove it: a done task has a file of this name", nil)
	}
	return true, nil
}

// HasWaitFile reports whether the file exists that asks not to restart the command.
func (t Task) HasWaitFile() bool {
	info, err := t.folder().Lstat(waitFile)
	return err == nil && !info.IsDir()
}

// RemoveWaitFile removes that file.
func (t Task) RemoveWaitFile() error {
	if err := t.folder().Remove(waitFile); err != nil {
		return fmt.Errorf("remove %s: %w", waitFile, err)
	}
	return nil
}

// The message bus of the task is in its folder, the project's bus in the folder above.
const (
	taskBus    = "TASK-MESSAGE-BUS.md"
	projectBus = "PROJECT-MESSAGE-BUS.md"
)

const waitType = "wait_without_restart"

// Message is an entry of a bus: a header between lines of dashes, and a text.
type Message struct {
	Type string
	At   time.Time
	Run  string
	Text string
}

// BusSize returns the length of the task's bus, or 0 if there is none.
func (t Task) BusSize() int64 {
	info, err := t.folder().Lstat(taskBus)
	if err != nil || !info.Mode().IsRegular() {
		return 0
	}
	return info.Size()
}

// WaitMessage returns the first message after an offset of the bus that asks not to
// restart the command. A bus that became shorter was replaced, so all of it is read.
func (t Task) WaitMessage(since int64) (text string, found bool) {
	size := t.BusSize()
	if size < since {
		since = 0
	}
	messages, err := t.readBus(max(since, size-maxAgentFile))
	if err != nil {
		return "", false
	}
	return findWaitMessage(messages)
}

func (t Task) readBus(offset int64) (messages string, err error) {
	err = t.folder().Do(func(root *untrusted.Root) error {
		file, err := root.Open(taskBus)
		if err != nil {
			return err
		}
		defer file.Close() //nolint:errcheck // only read
		data, err := io.ReadAll(io.NewSectionReader(file, offset, maxAgentFile))
		messages = string(data)
		return err
	})
	return messages, err
}

const dashes = "---"

var (
	headerLine   = pattern.Of(`^[A-Za-z][A-Za-z0-9_-]*:( |$)`)
	waitTypeLine = pattern.Of(`(?i)^type: *["']?` + waitType + `["']?$`)
)

// findWaitMessage looks for waitType in a header, which follows dashes or an empty line.
func findWaitMessage(messages string) (text string, found bool) {
	lines := strings.Split(strings.ReplaceAll(messages, "\r\n", "\n"), "\n")
	inHeader := false
	canBegin := true
	for i, line := range lines {
		line = strings.TrimRight(line, " \t")
		inHeader = (inHeader || canBegin) && headerLine.MatchString(line)
		if inHeader && waitTypeLine.MatchString(line) {
			return textAfterHeader(lines[i+1:]), true
		}
		canBegin = line == "" || line == dashes
	}
	return "", false
}

func textAfterHeader(lines []string) string {
	for len(lines) > 0 && headerLine.MatchString(lines[0]) {
		lines = lines[1:]
	}
	if len(lines) > 0 && strings.TrimSpace(lines[0]) == dashes {
		lines = lines[1:]
	}
	var text []string
	for _, line := range lines {
		line = strings.TrimSpace(line)
		if line == dashes || (line == "" && len(text) > 0) {
			break
		}
		text = append(text, line)
	}
	return jsontree.Clip(strings.TrimSpace(strings.Join(text, " ")), 301)
}

// PostTask appends a message to the task's bus.
func (t Task) PostTask(m Message) error { return t.post(t.Dir, taskBus, m) }

// PostProject appends a message to the project's bus.
func (t Task) PostProject(m Message) error { return t.post(filepath.Dir(t.Dir), projectBus, m) }

// post appends a message in one write, so that concurrent messages do not mix.
func (t Task) post(dir, name string, m Message) error {
	err := untrusted.Folder{Path: dir}.Do(func(root *untrusted.Root) error {
		file, err := root.OpenFile(name, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o644)
		if err != nil {
			return err
		}
		_, err = io.WriteString(file, t.format(m))
		return errors.Join(err, file.Close())
	})
	if err != nil {
		return fmt.Errorf("write to %s: %w", name, err)
	}
	return nil
}

// format returns the text of a message. It begins with a line break, because the last line may lack one.
func (t Task) format(m Message) string {
	oneLine := func(text string) string { return strings.Join(strings.Fields(text), " ") }
	return fmt.Sprintf("\n---\ntype: %s\ntime: %s\nproject_id: %s\ntask_id: %s\nrun_id: %s\n---\n%s\n", oneLine(m.Type),
		m.At.UTC().Format(time.RFC3339), oneLine(t.Project), oneLine(t.ID), oneLine(m.Run), strings.TrimSpace(m.Text))
}
