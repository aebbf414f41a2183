package hook

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/ralph-loop/ralph/internal/journal"
	"github.com/ralph-loop/ralph/internal/pattern"
	"github.com/ralph-loop/ralph/internal/policy"
	"github.com/ralph-loop/ralph/internal/prompt"
	"github.com/ralph-loop/ralph/internal/untrusted"
	"github.com/ralph-loop/ralph/internal/workspace"
)

// sessionMarks is a folder with data about one session: small files, which only the user
// can read. Hooks of one session can run at the same time, but only one of them can
// create a mark.
type sessionMarks struct{ root *untrusted.Root }

// plainID matches session ids, which name folders.
var plainID = pattern.Of(`^[A-Za-z0-9][A-Za-z0-9_-]{0,99}$`)

func openMarks(state, session string) (sessionMarks, error) {
	switch {
	case !plainID.MatchString(session):
		return sessionMarks{}, fmt.Errorf("%q is not the id of a session", session)
	case state == "":
		return sessionMarks{}, errors.New("no folder for session data: set HOME or XDG_CACHE_HOME")
	}
	if err := makePrivate(state); err != nil {
		return sessionMarks{}, err
	}
	dir := filepath.Join(state, session)
	if err := os.Mkdir(dir, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return sessionMarks{}, err
	}
	root, err := untrusted.OpenRoot(dir)
	return sessionMarks{root}, err
}

func makePrivate(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	info, err := os.Lstat(dir)
	switch {
	case err != nil:
		return err
	case !info.IsDir():
		return fmt.Errorf("%s is not a folder", dir)
	case info.Mode().Perm() != 0o700:
		return os.Chmod(dir, 0o700) //nolint:gosec // a folder needs the x
	}
	return nil
}

func (m sessionMarks) close() { _ = m.root.Close() }

func (m sessionMarks) set(name string) (first bool, err error) {
	file, err := m.root.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	return true, file.Close()
}

// count creates the next mark with a prefix, and returns the number of these marks, at most limit+1.
func (m sessionMarks) count(prefix string, limit int) (int, error) {
	for n := 1; n <= limit; n++ {
		first, err := m.set(fmt.Sprintf("%s%d", prefix, n))
		if first || err != nil {
			return n, err
		}
	}
	return limit + 1, nil
}

func (m sessionMarks) clear(prefix string) error {
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

const lockTimeout = 10 * time.Second

func (m sessionMarks) lockLoop(pause func(time.Duration)) (done func() error, err error) {
	for waited := time.Duration(0); waited < lockTimeout; waited += pollInterval {
		done, err = workspace.Folder{Path: m.root.Name(), LockName: loopLock}.Lock()
		if err == nil {
			return done, nil
		}
		pause(pollInterval)
	}
	return nil, err
}

// loop returns the folder of the active loop's run, or an empty path.
func (m sessionMarks) loop() string {
	path, err := m.root.ReadFile(loopMark, 4096)
	if err != nil || !filepath.IsAbs(string(path)) {
		return ""
	}
	return string(path)
}

func (m sessionMarks) endLoop() { _ = m.root.Remove(loopMark) }

const maxAge = 30 * 24 * time.Hour

func removeOldSessions(state string, now time.Time) {
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
		if info, err := session.Info(); err == nil && now.Sub(info.ModTime()) > maxAge {
			_ = root.RemoveAll(session.Name()) // the next session tries again
		}
	}
}

// maxStops is how often in a row ralph prevents a session from stopping.
const maxStops = 3

// stop answers for the loop in the session, or for the run that started the session.
func (d Environment) stop(ctx context.Context, in input) answer {
	if reply, looping := d.answerInLoop(in); looping {
		return reply
	}
	project := d.project(in)
	if !d.belongsToRun(project) {
		return answer{}
	}
	problems, err := d.problems(ctx, project)
	if len(problems) == 0 {
		if err != nil {
			return tellUser(fmt.Sprintf("ralph: cannot check for uncommitted changes: %v", err))
		}
		return answer{}
	}
	return d.keepWorking(in, strings.Join(problems, "\n\n"))
}

// belongsToRun reports whether an active run started the session.
func (d Environment) belongsToRun(project string) bool {
	active, alive := workspace.ReadActive(project)
	switch {
	case active.PID == 0:
		return false
	case d.Env("RALPH_SANDBOX") == "docker": // it shows no processes and locks of the host
		return true
	}
	// In a process namespace the run's process is invisible, but its lock is not.
	alive = alive || workspace.Folder{Path: filepath.Join(project, ".ralph")}.CheckUnlocked() != nil
	return alive && d.Env("RALPH_ITERATION") != ""
}

func (d Environment) problems(ctx context.Context, project string) (problems []string, err error) {
	folder := workspace.Folder{Path: filepath.Join(project, ".ralph")}
	_, run := folder.Newest(func(run journal.Run) bool { return run.Policy.Done == policy.ByStories })
	memory := workspace.Memory{Tree: project, Dir: run.Policy.Memory}
	files := memory.Files()
	if err := memory.Audit(); err != nil {
		problems = append(problems, prompt.Fill("session/prd.md", "{name}", files[0], "{problems}", err.Error()))
	}
	dirty, err := d.Dirty(ctx, project)
	if len(dirty) > 0 {
		problems = append(problems, prompt.Fill("session/uncommitted.md", "{files}", journal.ShortList(dirty), "{prd}", files[0], "{progress}", files[1]))
	}
	return problems, err
}

func (d Environment) keepWorking(in input, why string) answer {
	m, err := openMarks(d.State, in.Session)
	if err != nil {
		if in.StopHookActive { // without marks, only once
			return tellUser(fmt.Sprintf("ralph: the session ends with these problems:\n\n%s", why))
		}
		return block(why, "")
	}
	defer m.close()
	if !in.StopHookActive {
		_ = m.clear("stop-") // with old marks the agent can only stop sooner
	}
	n, err := m.count("stop-", maxStops)
	if err != nil || n > maxStops {
		return tellUser(fmt.Sprintf("ralph: the session may end now, after it was continued %d times. These problems are left:\n\n%s", maxStops, why))
	}
	return block(why, "")
}
