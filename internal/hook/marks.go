package hook

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/ralph-loop/ralph/internal/pattern"
	"github.com/ralph-loop/ralph/internal/untrusted"
	"github.com/ralph-loop/ralph/internal/workspace"
)

// marks is what is known of one session: small files in a folder that belongs
// to the user alone. Hooks of one session can run side by side; a mark is made
// by one of them only.
type marks struct{ root *untrusted.Root }

// plain is a session's id as programs make them; any other is replaced by its
// digest before it becomes the name of a folder.
var plain = pattern.Of(`^[A-Za-z0-9][A-Za-z0-9_-]{0,99}$`)

func folderOf(session string) string {
	if plain.MatchString(session) {
		return session
	}
	sum := sha256.Sum256([]byte(session))
	return "x-" + hex.EncodeToString(sum[:])
}

// openMarks opens the folder of a session, made where it is not there yet.
func openMarks(state, session string) (marks, error) {
	switch {
	case session == "":
		return marks{}, errors.New("the session has no id")
	case state == "":
		return marks{}, errors.New("there is no folder for what is known of sessions: set HOME or XDG_CACHE_HOME")
	}
	if err := private(state); err != nil {
		return marks{}, err
	}
	dir := filepath.Join(state, folderOf(session))
	if err := os.Mkdir(dir, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return marks{}, err
	}
	root, err := untrusted.OpenRoot(dir)
	return marks{root}, err
}

// private makes a folder and sees to it that it is nobody else's: the mode can
// be changed by its owner only.
func private(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	info, err := os.Lstat(dir)
	switch {
	case err != nil:
		return err
	case !info.IsDir():
		return fmt.Errorf("%s is no folder of its own", dir)
	case info.Mode().Perm() != 0o700:
		return os.Chmod(dir, 0o700) //nolint:gosec // a folder needs the x
	}
	return nil
}

func (m marks) close() { _ = m.root.Close() }

// set makes a mark; first tells whether it was not there yet.
func (m marks) set(name string) (first bool, err error) {
	file, err := m.root.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	return true, file.Close()
}

// count sets the next of the marks that begin with prefix, and tells how many
// there are now.
func (m marks) count(prefix string, most int) (int, error) {
	for n := 1; n <= most; n++ {
		first, err := m.set(fmt.Sprintf("%s%d", prefix, n))
		if first || err != nil {
			return n, err
		}
	}
	return most + 1, nil
}

// clear takes away the marks that begin with prefix.
func (m marks) clear(prefix string) error {
	names, err := m.root.ReadDir(".")
	if err != nil {
		return err
	}
	for _, name := range names {
		if strings.HasPrefix(name.Name(), prefix) {
			err = errors.Join(err, m.root.RemoveAll(name.Name()))
		}
	}
	return err
}

const (
	loopMark = "loop"
	loopLock = "looping"
)

// queue is how long a hook waits for another one of the same session.
const queue = 10 * time.Second

// turn waits until no other hook of the session is at its loop. Who dies gives
// it back.
func (m marks) turn(pause func(time.Duration)) (done func() error, err error) {
	for waited := time.Duration(0); waited < queue; waited += look {
		done, err = workspace.Folder{Path: m.root.Name(), Key: loopLock}.Lock()
		if err == nil {
			return done, nil
		}
		pause(look)
	}
	return nil, err
}

// loop is the folder of the run that loops in this session; empty where none
// does.
func (m marks) loop() string {
	path, err := m.root.ReadFile(loopMark, 4096)
	if err != nil || !filepath.IsAbs(string(path)) {
		return ""
	}
	return string(path)
}

func (m marks) setLoop(path string) error { return m.root.WriteFile(loopMark, []byte(path), 0o600) }
func (m marks) endLoop()                  { _ = m.root.Remove(loopMark) }

// kept is how long what is known of a session outlives its last use.
const kept = 30 * 24 * time.Hour

// prune forgets sessions of long ago.
func prune(state string, now time.Time) {
	root, err := untrusted.OpenRoot(state)
	if err != nil {
		return
	}
	defer root.Close() //nolint:errcheck // only a handle
	sessions, err := root.ReadDir(".")
	if err != nil {
		return
	}
	for _, session := range sessions {
		if info, err := session.Info(); err == nil && now.Sub(info.ModTime()) > kept {
			_ = root.RemoveAll(session.Name()) // the next session tries again
		}
	}
}
