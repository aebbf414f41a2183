package hook

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/core/journal"
	"github.com/ralph-loop/ralph/internal/core/policy"
	"github.com/ralph-loop/ralph/internal/core/prompt"
	"github.com/ralph-loop/ralph/internal/git/workspace"
	"github.com/ralph-loop/ralph/internal/lib/pattern"
	"github.com/ralph-loop/ralph/internal/lib/untrusted"
)

// session is what is kept of one session, in a file that only the user can read. Hooks of one
// session can run at the same time: while one of them has it open, the others wait.
type session struct {
	sessionData

	file   *os.File
	before sessionData
}

type sessionData struct {
	Loop    string `json:"loop,omitempty"`    // the folder of the active loop's run
	Context int    `json:"context,omitempty"` // the highest level that the agent was warned at
	Stops   int    `json:"stops,omitempty"`   // how often in a row the session was kept from stopping
	Warned  bool   `json:"told,omitempty"`    // the user knows that the settings cannot be read
}

// plainID matches session ids, which name files.
var plainID = pattern.Of(`^[A-Za-z0-9][A-Za-z0-9_-]{0,99}$`)

func openSession(state, id string) (*session, error) {
	switch {
	case !plainID.MatchString(id):
		return nil, fmt.Errorf("%q is not the id of a session", id)
	case state == "":
		return nil, errors.New("no folder for session data: set HOME or XDG_CACHE_HOME")
	}
	if err := os.MkdirAll(state, 0o700); err != nil {
		return nil, err
	}
	root, err := untrusted.OpenRoot(state)
	if err != nil {
		return nil, err
	}
	defer root.Close() //nolint:errcheck // only a handle
	file, err := root.OpenFile(id+".json", os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	s := &session{file: file}
	if err := untrusted.WaitForLock(file); err != nil {
		return nil, errors.Join(err, file.Close())
	}
	text, err := untrusted.ReadAll(file, 64<<10)
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	// A new file has none. Behind it may be the rest of a longer one: save was killed.
	_ = json.NewDecoder(bytes.NewReader(text)).Decode(&s.sessionData)
	s.before = s.sessionData
	return s, nil
}

func (s *session) save() error {
	if s.sessionData == s.before {
		return nil
	}
	text, err := json.Marshal(s.sessionData)
	if err != nil {
		return err
	}
	if _, err := s.file.WriteAt(text, 0); err != nil {
		return err
	}
	return s.file.Truncate(int64(len(text))) // last: a full disk must not lose the old data
}

func (s *session) close() {
	_ = s.save() // without it, a warning comes again, or the session stops sooner
	_ = s.file.Close()
}

// maxStops is how often in a row ralph prevents a session from stopping.
const maxStops = 3

// stop answers for the loop in the session, or for the run that started the session.
func (d Environment) stop(ctx context.Context, in input) answer {
	if reply, looping := d.answerInLoop(ctx, in); looping {
		return reply
	}
	project := d.project(in)
	if !d.belongsToRun(project) {
		return answer{}
	}
	problems, err := d.problems(ctx, project)
	if len(problems) > 0 {
		return d.keepWorking(in, strings.Join(problems, "\n\n"))
	}
	if err != nil {
		return tellUser(fmt.Sprintf("ralph: cannot check for uncommitted changes: %v", err))
	}
	return answer{}
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
	return (alive || isBox(project)) && d.Env("RALPH_ITERATION") != ""
}

// isBox reports the box of a run, which has neither its lock nor its journal.
func isBox(project string) bool {
	active, _ := workspace.ReadActive(project)
	return active.Mode == workspace.InBox
}

// problems returns what the agent has to do before its session ends: correct the PRD, and commit its changes.
func (d Environment) problems(ctx context.Context, project string) ([]string, error) {
	var problems []string
	folder := workspace.Folder{Path: filepath.Join(project, ".ralph")}
	_, run := folder.Newest(func(run journal.Run) bool { return run.Policy.Done == policy.ByStories })
	memory := workspace.Memory{Tree: project, Dir: run.Policy.Memory}
	files := memory.Files()
	if err := memory.Audit(); err != nil {
		problems = append(problems, prompt.Fill("session/prd.md", "{name}", files[0], "{problems}", err.Error()))
	}
	dirty, err := d.Dirty(ctx, project)
	if isBox(project) { // ralph writes the plan there, too
		dirty = slices.DeleteFunc(dirty, func(name string) bool { return slices.Contains(files, name) })
	}
	dirty = changedByAgent(dirty, memory, run)
	if len(dirty) > 0 {
		problems = append(problems, prompt.Fill("session/uncommitted.md",
			"{files}", journal.ShortList(dirty), "{prd}", files[0], "{progress}", files[1]))
	}
	return problems, err
}

// changedByAgent leaves out the PRD and the progress log if they are as ralph wrote them before the turn.
func changedByAgent(dirty []string, memory workspace.Memory, run journal.Run) []string {
	files := memory.Files()
	var changed []string
	for _, name := range dirty {
		if name == files[0] && memory.HasPlan(run.Plan) {
			continue
		}
		if name == files[1] && memory.HasLog(run.Box.Log.Digest) {
			continue
		}
		changed = append(changed, name)
	}
	return changed
}

func (d Environment) keepWorking(in input, why string) answer {
	s, err := openSession(d.State, in.Session)
	if err != nil {
		if in.StopHookActive { // without a count, only once
			return tellUser(fmt.Sprintf("ralph: the session ends with these problems:\n\n%s", why))
		}
		return block(why, "")
	}
	defer s.close()
	if !in.StopHookActive {
		s.Stops = 0
	}
	if s.Stops >= maxStops {
		return tellUser(fmt.Sprintf("ralph: the session may end now, after it was continued %d times. "+
			"These problems are left:\n\n%s", maxStops, why))
	}
	s.Stops++
	return block(why, "")
}
