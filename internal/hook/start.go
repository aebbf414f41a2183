package hook

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/ralph-loop/ralph/internal/fault"
	"github.com/ralph-loop/ralph/internal/journal"
	"github.com/ralph-loop/ralph/internal/pattern"
	"github.com/ralph-loop/ralph/internal/plan"
	"github.com/ralph-loop/ralph/internal/policy"
	"github.com/ralph-loop/ralph/internal/prompt"
	"github.com/ralph-loop/ralph/internal/verdict"
	"github.com/ralph-loop/ralph/internal/workspace"
)

// LoopRequest is a loop to begin or to resume within a session.
type LoopRequest struct {
	Session   string
	Dir       string // the session's folder
	AgentHome string // the folder in which the agent CLI keeps its sessions
	Task      string
	ApplyTo   func(policy.Policy) policy.Policy // changes the preset, or the policy of the resumed loop
	Resume    bool
	Trust     bool // goes on with a journal that is not vouched for
}

// Start begins a loop, and returns the prompt for the agent.
func (d Environment) Start(asked LoopRequest) (string, error) {
	if asked.Session == "" {
		return "", fault.Usage("no session for the loop", "begin a loop within Claude Code: /ralph-loop \"TASK\"", nil)
	}
	m, err := d.openMarks(asked.Session)
	if err != nil {
		return "", err
	}
	defer m.close()
	if d.isLoopActive(m) {
		return "", fault.Usage("a loop is already active in this session", "end it first: /cancel-ralph", nil)
	}
	if err := asked.check(); err != nil {
		return "", err
	}
	r, home, err := d.beginLoop(asked)
	if err != nil {
		return "", err
	}
	defer r.close()
	if err := m.root.WriteFile(loopMark, []byte(home.Path), 0o600); err != nil {
		return "", fmt.Errorf("remember the loop: %w", err)
	}
	return prompt.SessionStart(r.Run), nil
}

func (a LoopRequest) policy() policy.Policy { return a.ApplyTo(policy.ForPreset(policy.Session)) }

func (a LoopRequest) check() error {
	switch {
	case a.Resume && strings.TrimSpace(a.Task) != "":
		return fault.Usage("a resumed loop already has a task", "leave out the task, or --resume", nil)
	case a.Resume:
		return nil
	case strings.TrimSpace(a.Task) == "":
		return fault.Usage("there is no task", `say what is to be done: /ralph-loop "TASK" --max-iterations 10 --completion-promise DONE`, nil)
	}
	return check(a.policy())
}

// check refuses a loop that could never end, or whose end could not be detected.
func check(p policy.Policy) error {
	word := p.Word
	switch {
	case p.Limits.Iterations < 1:
		return fault.Usage("a loop needs a limit", "give a number from 1 on: --max-iterations 10", nil)
	case p.Session.MinTools < 0:
		return fault.Usage("--min-tool-calls is below zero", "give a number from 0 on: --min-tool-calls 1", nil)
	case word == "" || len(word) > 200 || strings.ContainsAny(word, "<>\r\n") || word != strings.TrimSpace(word):
		return fault.Usage(fmt.Sprintf("%q cannot be a completion promise", word),
			"take a short word or a few on one line, with no < and > in them: --completion-promise DONE", nil)
	}
	return nil
}

func (d Environment) openMarks(session string) (sessionMarks, error) {
	m, err := openMarks(d.State, session)
	if err != nil {
		return m, fault.Usage("cannot write the session data", "make it writable, or set XDG_CACHE_HOME", err)
	}
	return m, nil
}

func (d Environment) isLoopActive(m sessionMarks) bool {
	path := m.loop()
	if path == "" {
		return false
	}
	entries, err := workspace.Run{ID: filepath.Base(path), Path: path}.Entries()
	return err == nil && len(entries) > 0 && journal.Fold(journal.Run{}, entries...).Stop == nil
}

func (d Environment) beginLoop(asked LoopRequest) (*loopJournal, workspace.Run, error) {
	folder := d.folder(filepath.Join(projectOf(asked.Dir), ".ralph"))
	release, err := folder.Lock()
	if err != nil {
		return nil, workspace.Run{}, err
	}
	defer release() //nolint:errcheck // the kernel gives the lock back anyway
	home, first, err := d.loopRun(folder, asked)
	if err != nil {
		return nil, home, err
	}
	r, err := d.openLoop(home)
	if err != nil {
		return nil, home, err
	}
	if err := r.beginIteration(first, asked); err != nil {
		r.close()
		return nil, home, err
	}
	return r, home, nil
}

func (d Environment) loopRun(folder workspace.Folder, asked LoopRequest) (workspace.Run, journal.Event, error) {
	if asked.Resume {
		return d.unfinishedLoop(folder, asked)
	}
	id := workspace.RunName("run", d.Now())
	home, err := folder.NewRun(id)
	title, _, _ := strings.Cut(strings.TrimSpace(asked.Task), "\n")
	return home, journal.RunBegan{
		Run: id, Policy: asked.policy(), Level: "none",
		Task: plan.Task{Kind: plan.KindPrompt, Title: plan.Slug(title, 60), Body: strings.TrimSpace(asked.Task)},
	}, err
}

// unfinishedLoop is the newest unfinished loop of the project. It has to be one
// that ralph wrote here: the text of a journal in a commit would count as the
// user's.
func (d Environment) unfinishedLoop(folder workspace.Folder, asked LoopRequest) (workspace.Run, journal.Event, error) {
	undone := func(run journal.Run) bool {
		return run.Policy.Done == policy.ByPromise && (run.Stop == nil || run.Stop.Reason.Status() != policy.StatusCompleted)
	}
	home, old := folder.NewestVouched(undone)
	if home.ID == "" || asked.Trust {
		home, old = folder.Newest(undone)
	}
	switch {
	case home.ID == "":
		return home, nil, fault.Usage("no loop to resume", `begin one: /ralph-loop "TASK"`, nil)
	case asked.Trust:
		home = home.Accept()
	case !folder.IsVouched(home):
		return home, nil, workspace.UnvouchedError(home.ID, "/ralph-loop --resume --trust")
	}
	p := asked.ApplyTo(old.Policy)
	return home, journal.Resumed{Why: "/ralph-loop --resume", Policy: &p}, check(p)
}

func (r *loopJournal) beginIteration(first journal.Event, asked LoopRequest) error {
	if err := r.Append(first); err != nil {
		return err
	}
	step, err := r.takeSteps()
	if err != nil {
		return err
	}
	next, is := step.(verdict.Iterate)
	if !is {
		return fmt.Errorf("the loop %s cannot be resumed", r.Run.ID)
	}
	return r.Append(journal.IterationBegan{Number: next.Number, Session: asked.Session, Heard: asked.transcriptSize()})
}

// transcriptSize is 0 if the transcript does not exist yet.
func (a LoopRequest) transcriptSize() int64 {
	if !plainID.MatchString(a.Session) {
		return 0
	}
	found, err := filepath.Glob(filepath.Join(a.AgentHome, "projects", "*", a.Session+".jsonl")) //nolint:forbidigo // only folders in the user's home
	if err != nil || len(found) == 0 {
		return 0
	}
	info, err := os.Stat(found[0])
	if err != nil {
		return 0
	}
	return info.Size()
}

// Cancel ends the loop of a session, and returns a message for the agent.
func (d Environment) Cancel(session string) (string, error) {
	m, err := d.openMarks(session)
	if err != nil {
		return "", err
	}
	defer m.close()
	done, err := m.lockLoop(d.Pause)
	if err != nil {
		return "", err
	}
	defer done() //nolint:errcheck // the kernel gives it back anyway
	if !d.isLoopActive(m) {
		m.endLoop()
		return "There is no Ralph loop in this session. Tell the user.", nil
	}
	r, err := d.openLoop(d.at(m.loop()))
	if err != nil {
		return "", err
	}
	defer r.close()
	if err := r.Append(journal.CancelAsked{Why: "/cancel-ralph"}); err != nil {
		return "", err
	}
	if _, err := r.takeSteps(); err != nil {
		return "", err
	}
	m.endLoop()
	return fmt.Sprintf("The Ralph loop was cancelled after %d continuations. Tell the user, and stop working on its task.", max(r.Run.UsedIterations()-1, 0)), nil
}

func (d Environment) project(in input) string {
	if dir := d.Env("CLAUDE_PROJECT_DIR"); filepath.IsAbs(dir) {
		return filepath.Clean(dir)
	}
	return projectOf(in.Dir)
}

// projectOf is the nearest folder above with a .ralph, else a .git, else the folder itself.
func projectOf(dir string) string {
	for _, name := range []string{".ralph", ".git"} {
		for at := dir; filepath.IsAbs(at); at = filepath.Dir(at) {
			if _, err := os.Lstat(filepath.Join(at, name)); err == nil {
				return at
			}
			if at == filepath.Dir(at) {
				break
			}
		}
	}
	return dir
}

// Words splits the text after a slash command as a shell splits words, with quotes
// and backslashes. Nothing is expanded or run: a task can contain $HOME, `id` and
// #12.
func Words(line string) (words []string, err error) {
	word, begun := "", false
	for _, m := range wordPart.FindAllStringSubmatch(line, -1) {
		switch {
		case m[6] != "":
			return nil, errors.New("a " + m[6] + " is opened and never closed")
		case m[5] == "":
			word, begun = word+escaped.ReplaceAllString(m[1], "$1")+m[2]+m[3]+m[4], true
		case begun:
			words, word, begun = append(words, word), "", false
		}
	}
	if begun {
		words = append(words, word)
	}
	return words, nil
}

var (
	// wordPart is text in double or single quotes, an escaped character, plain text, blanks, or a quote that stays open.
	wordPart = pattern.Of(`(?s)"((?:\\.|[^"\\])*)"|'([^']*)'|\\(.)|([^\s"'\\]+|\\$)|(\s+)|(.)`)
	escaped  = pattern.Of("\\\\([$`\"\\\\])") // in double quotes
)
