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

	"github.com/ralph-loop/ralph/internal/fault"
	"github.com/ralph-loop/ralph/internal/pattern"
	"github.com/ralph-loop/ralph/internal/untrusted"
)

// Task is the folder of a supervised task: by files in it an agent says how
// the task stands, and learns who else works on it.
type Task struct {
	Dir     string
	Project string
	ID      string
}

// The files by which an agent speaks.
const (
	doneFile = "DONE"
	waitFile = "WAIT_WITHOUT_RESTART"
)

// Runs is where the runs of the task lie. Their lock is their own: what is
// supervised may well be a ralph run in the very same folder.
func (t Task) Runs() Folder {
	return Folder{Path: filepath.Join(t.Dir, ".ralph"), LockName: "supervise.lock"}
}

// CheckDir tells what keeps the folder from being one of a task.
func (t Task) CheckDir() error { return CheckDir(t.Dir, "--task-dir") }

// CheckDir is a fault where dir is no folder; flag is how another one is named.
func CheckDir(dir, flag string) error {
	info, err := os.Stat(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fault.Usage("no such folder: "+dir, "make it, or name another with "+flag, nil)
	case err != nil:
		return fault.Usage("cannot look into "+dir, "make it readable, or name another with "+flag, err)
	case !info.IsDir():
		return fault.Usage(dir+" is no folder", "name a folder with "+flag, nil)
	}
	return nil
}

// Done tells whether the task is done. That the file is there is all that is
// looked at, so a link may lead anywhere.
func (t Task) Done() (bool, error) {
	info, err := os.Stat(filepath.Join(t.Dir, doneFile))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return false, nil
	case err != nil:
		return false, fmt.Errorf("look for %s: %w", doneFile, err)
	case info.IsDir():
		return false, fault.Usage(doneFile+" is a directory", "remove it: what says that the task is done is a file", nil)
	}
	return true, nil
}

// HasWaitFile tells whether the file lies there that asks not to be started again.
func (t Task) HasWaitFile() bool {
	info, err := os.Lstat(filepath.Join(t.Dir, waitFile))
	return err == nil && !info.IsDir()
}

// RemoveWaitFile removes that file: it was obeyed.
func (t Task) RemoveWaitFile() error {
	err := os.Remove(filepath.Join(t.Dir, waitFile))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("remove %s: %w", waitFile, err)
	}
	return nil
}

// The message buses: of a task in its folder, of its project beside that.
const (
	taskBus    = "TASK-MESSAGE-BUS.md"
	projectBus = "PROJECT-MESSAGE-BUS.md"
)

// waitType is the type of a message that asks not to be started again.
const waitType = "wait_without_restart"

// Message is an entry of a message bus: lines of names and values between two
// lines of dashes, and a text.
type Message struct {
	Type string
	At   time.Time
	Run  string
	Text string
}

// BusSize is how long the task's bus is; 0 where there is none.
func (t Task) BusSize() int64 {
	info, err := os.Lstat(filepath.Join(t.Dir, taskBus))
	if err != nil || !info.Mode().IsRegular() {
		return 0
	}
	return info.Size()
}

// WaitMessage tells whether a message after the first since bytes of the bus asks
// not to be started again, and its text. A bus that has become shorter was
// written anew: all of it is news.
func (t Task) WaitMessage(since int64) (text string, asked bool) {
	size := t.BusSize()
	if size < since {
		since = 0
	}
	news, err := t.busFrom(max(since, size-maxAgentFile))
	if err != nil {
		return "", false
	}
	return findWaitMessage(news)
}

func (t Task) busFrom(offset int64) (string, error) {
	root, err := untrusted.OpenRoot(t.Dir)
	if err != nil {
		return "", err
	}
	defer root.Close() //nolint:errcheck // only a handle
	file, err := root.Open(taskBus)
	if err != nil {
		return "", err
	}
	defer file.Close() //nolint:errcheck // only read
	data, err := io.ReadAll(io.NewSectionReader(file, offset, maxAgentFile))
	return string(data), err
}

// dashes close and open the head of a message.
const dashes = "---"

var (
	headerLine   = pattern.Of(`^[A-Za-z][A-Za-z0-9_-]*:( |$)`)
	waitTypeLine = pattern.Of(`(?i)^type: *["']?` + waitType + `["']?$`)
)

// findWaitMessage looks for a head with the type that asks to wait. A head stands
// where a message begins, behind dashes or an empty line; the same words within
// a text are talk of it.
func findWaitMessage(news string) (text string, asked bool) {
	lines := strings.Split(strings.ReplaceAll(news, "\r\n", "\n"), "\n")
	head, begins := false, true
	for i, line := range lines {
		line = strings.TrimRight(line, " \t")
		head = (head || begins) && headerLine.MatchString(line)
		if head && waitTypeLine.MatchString(line) {
			return textAfterHeader(lines[i+1:]), true
		}
		begins = line == "" || line == dashes
	}
	return "", false
}

// textAfterHeader is the first paragraph after what is left of a head.
func textAfterHeader(lines []string) string {
	for len(lines) > 0 && headerLine.MatchString(lines[0]) {
		lines = lines[1:]
	}
	if len(lines) > 0 && strings.TrimSpace(lines[0]) == dashes {
		lines = lines[1:]
	}
	var text []string
	for _, line := range lines {
		if line = strings.TrimSpace(line); line == dashes || line == "" && len(text) > 0 {
			break
		}
		text = append(text, line)
	}
	return clip(strings.TrimSpace(strings.Join(text, " ")))
}

func clip(text string) string {
	const most = 300
	if runes := []rune(text); len(runes) > most {
		return string(runes[:most]) + "…"
	}
	return text
}

// PostTask appends a message to the task's bus.
func (t Task) PostTask(m Message) error { return t.post(t.Dir, taskBus, m) }

// PostProject appends a message to the project's bus.
func (t Task) PostProject(m Message) error { return t.post(filepath.Dir(t.Dir), projectBus, m) }

// post appends in one write, so that what others append at the same time stays
// whole.
func (t Task) post(dir, name string, m Message) (err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("write to %s: %w", name, err)
		}
	}()
	root, err := untrusted.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close() //nolint:errcheck // only a handle
	file, err := root.OpenFile(name, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o644)
	if err != nil {
		return err
	}
	_, err = io.WriteString(file, t.format(m))
	return errors.Join(err, file.Close())
}

// format is a message in a bus. It begins with an empty line, because the last
// writer may have left no line's end.
func (t Task) format(m Message) string {
	var text strings.Builder
	text.WriteString("\n" + dashes + "\n")
	for _, pair := range [][2]string{
		{"type", m.Type},
		{"time", m.At.UTC().Format(time.RFC3339)},
		{"project_id", t.Project},
		{"task_id", t.ID},
		{"run_id", m.Run},
	} {
		fmt.Fprintf(&text, "%s: %s\n", pair[0], strings.Join(strings.Fields(pair[1]), " "))
	}
	fmt.Fprintf(&text, "%s\n%s\n", dashes, strings.TrimSpace(m.Text))
	return text.String()
}
