package hook

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/ralph-loop/ralph/internal/core/journal"
	"github.com/ralph-loop/ralph/internal/core/plan"
	"github.com/ralph-loop/ralph/internal/core/policy"
	"github.com/ralph-loop/ralph/internal/core/prompt"
	"github.com/ralph-loop/ralph/internal/core/verdict"
	"github.com/ralph-loop/ralph/internal/git/workspace"
	"github.com/ralph-loop/ralph/internal/lib/fault"
	"github.com/ralph-loop/ralph/internal/lib/pattern"
	"github.com/ralph-loop/ralph/internal/show/view"
)

// LoopRequest asks to begin or resume a loop in a session.
type LoopRequest struct {
	Session   string
	Dir       string // the session's folder
	AgentHome string // the folder in which the agent CLI keeps its sessions
	Task      string
	ApplyTo   func(policy.Policy) policy.Policy // changes the preset, or the policy of the resumed loop
	Resume    bool
}

// Start begins a loop, and returns the prompt for the agent.
func (d Environment) Start(request LoopRequest) (string, error) {
	if request.Session == "" {
		return "", fault.Usage("no session for the loop", "begin a loop in Claude Code: /ralph-loop \"TASK\"", nil)
	}
	s, err := d.openSession(request.Session)
	if err != nil {
		return "", err
	}
	defer s.close()
	if isLoopActive(s.Loop) {
		return "", fault.Usage("a loop is already active in this session", "end it first: /cancel-ralph", nil)
	}
	if err := request.check(); err != nil {
		return "", err
	}
	r, home, err := d.beginLoop(request)
	if err != nil {
		return "", err
	}
	defer r.close()
	s.Loop = home.Path
	if err := s.save(); err != nil {
		return "", fmt.Errorf("save the loop of the session: %w", err)
	}
	return prompt.SessionStart(r.Run), nil
}

func (a LoopRequest) check() error {
	switch {
	case a.Resume && strings.TrimSpace(a.Task) != "":
		return fault.Usage("a resumed loop already has a task", "leave out the task, or --resume", nil)
	case a.Resume:
		return nil
	case strings.TrimSpace(a.Task) == "":
		return fault.Usage("the loop has no task",
			`describe the work: /ralph-loop "TASK" --max-iterations 10 --completion-promise DONE`, nil)
	}
	return checkPolicy(a.ApplyTo(policy.ForPreset(policy.ByPromise)))
}

// checkPolicy refuses a loop that could never end, or whose end could not be detected.
func checkPolicy(p policy.Policy) error {
	switch {
	case p.Limits.Iterations < 1:
		return fault.Usage("a loop needs a limit", "set a number from 1: --max-iterations 10", nil)
	case p.Session.MinTools < 0:
		return fault.Usage("--min-tool-calls is below zero", "set a number from 0: --min-tool-calls 1", nil)
	case !isPromise(p.Word):
		return fault.Usage(fmt.Sprintf("%q cannot be a completion promise", p.Word),
			"use one or a few words on one line, without < and >: --completion-promise DONE", nil)
	}
	return nil
}

// isPromise reports words that can stand in a tag on one line.
func isPromise(words string) bool {
	if words == "" || len(words) > 200 {
		return false
	}
	return words == strings.TrimSpace(words) && !strings.ContainsAny(words, "<>\r\n")
}

func (d Environment) openSession(id string) (*session, error) {
	s, err := openSession(d.State, id)
	if err != nil {
		return nil, fault.Usage("cannot write the session data", "make it writable, or set XDG_CACHE_HOME", err)
	}
	return s, nil
}

func isLoopActive(path string) bool {
	if path == "" {
		return false
	}
	entries, err := workspace.Run{ID: filepath.Base(path), Path: path}.Entries()
	return err == nil && len(entries) > 0 && journal.Fold(journal.Run{}, entries...).Stop == nil
}

func (d Environment) beginLoop(request LoopRequest) (*loopJournal, workspace.Run, error) {
	project := projectOf(request.Dir)
	if err := workspace.CheckNotHome(project, d.Env("HOME")); err != nil {
		return nil, workspace.Run{}, err
	}
	folder := workspace.Folder{Path: filepath.Join(project, ".ralph")}
	release, err := folder.Lock()
	if err != nil {
		return nil, workspace.Run{}, err
	}
	defer release() //nolint:errcheck // the kernel releases it anyway
	home, first, err := d.loopRun(folder, request)
	if err != nil {
		return nil, home, err
	}
	r, err := d.openLoop(home)
	if err != nil {
		return nil, home, err
	}
	if err := r.beginIteration(first, request); err != nil {
		r.close()
		return nil, home, err
	}
	return r, home, nil
}

func (d Environment) loopRun(folder workspace.Folder, request LoopRequest) (workspace.Run, journal.Event, error) {
	if request.Resume {
		return unfinishedLoop(folder, request)
	}
	p := policy.ForPreset(policy.ByPromise)
	checks, err := d.Checks(filepath.Dir(folder.Path))
	if err != nil {
		return workspace.Run{}, nil, fault.Usage("cannot read the checks of the settings",
			"correct .ralph/settings.json", err)
	}
	p.Checks = checks
	id := workspace.RunName("run", d.Now())
	home, err := folder.NewRun(id)
	if err != nil {
		return home, nil, err
	}
	task := strings.TrimSpace(request.Task)
	title, _, _ := strings.Cut(task, "\n")
	return home, journal.RunBegan{
		Run:    id,
		Policy: request.ApplyTo(p),
		Level:  "none",
		Task:   plan.Task{Kind: plan.KindPrompt, Title: plan.Slug(title, 60), Body: task},
	}, nil
}

// unfinishedLoop returns the newest unfinished loop of the project.
func unfinishedLoop(folder workspace.Folder, request LoopRequest) (workspace.Run, journal.Event, error) {
	home, old := folder.Newest(func(run journal.Run) bool {
		completed := run.Stop != nil && run.Stop.Reason.Status() == policy.StatusCompleted
		return run.Policy.Done == policy.ByPromise && !completed
	})
	if home.ID == "" {
		return home, nil, fault.Usage("no loop to resume", `begin one: /ralph-loop "TASK"`, nil)
	}
	p := request.ApplyTo(old.Policy)
	return home, journal.Resumed{Why: "/ralph-loop --resume", Policy: &p}, checkPolicy(p)
}

func (r *loopJournal) beginIteration(first journal.Event, request LoopRequest) error {
	if err := r.Append(first); err != nil {
		return err
	}
	step, err := r.takeSteps()
	if err != nil {
		return err
	}
	number := len(r.Run.Iterations) // after interrupted checks the agent has to promise again
	switch next := step.(type) {    //nolint:gochecksumtype // other steps do not continue a loop
	case verdict.Iterate:
		number = next.Number
	case verdict.Check:
	default:
		return fmt.Errorf("the loop %s cannot be resumed", r.Run.ID)
	}
	return r.Append(journal.IterationBegan{Number: number, Session: request.Session, Heard: request.transcriptSize()})
}

// transcriptSize returns the size of the session's transcript, or 0 if it does not exist yet.
func (a LoopRequest) transcriptSize() int64 {
	glob := filepath.Join(a.AgentHome, "projects", "*", a.Session+".jsonl")
	found, err := filepath.Glob(glob) //nolint:forbidigo // only folders in the user's home
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
	s, err := d.openSession(session)
	if err != nil {
		return "", err
	}
	defer s.close()
	if !isLoopActive(s.Loop) {
		s.Loop = ""
		return "There is no Ralph loop in this session. Tell the user.", nil
	}
	r, err := d.openLoop(runAt(s.Loop))
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
	s.Loop = ""
	times := view.Plural(max(r.Run.UsedIterations()-1, 0), "continuation")
	return "The Ralph loop was cancelled after " + times + ". Tell the user, and stop working on its task.", nil
}

func (d Environment) project(in input) string {
	if dir := d.Env("CLAUDE_PROJECT_DIR"); filepath.IsAbs(dir) {
		return filepath.Clean(dir)
	}
	return projectOf(in.Dir)
}

// projectOf returns the nearest folder above dir with a .ralph or a .git, or else dir.
func projectOf(dir string) string {
	for at := dir; filepath.IsAbs(at); at = filepath.Dir(at) {
		for _, name := range []string{".ralph", ".git"} {
			if _, err := os.Lstat(filepath.Join(at, name)); err == nil {
				return at
			}
		}
		if at == filepath.Dir(at) {
			break
		}
	}
	return dir
}

// Words splits the text after a slash command into words as a shell does, with quotes and
// backslashes. It expands and runs nothing: a task can contain $HOME, `id` and #12.
func Words(line string) ([]string, error) {
	var words []string
	word := ""
	begun := false // also of an empty word in quotes
	for _, m := range wordPart.FindAllStringSubmatch(line, -1) {
		openQuote, blanks := m[6], m[5]
		switch {
		case openQuote != "":
			return nil, errors.New("a " + openQuote + " is not closed")
		case blanks == "":
			word += escaped.ReplaceAllString(m[1], "$1") + m[2] + m[3] + m[4]
			begun = true
		case begun:
			words = append(words, word)
			word = ""
			begun = false
		}
	}
	if begun {
		words = append(words, word)
	}
	return words, nil
}

var (
	// wordPart matches text in double or single quotes, an escaped character, plain text, blanks, or an open quote.
	wordPart = pattern.Of(`(?s)"((?:\\.|[^"\\])*)"|'([^']*)'|\\(.)|([^\s"'\\]+|\\$)|(\s+)|(.)`)
	escaped  = pattern.Of("\\\\([$`\"\\\\])") // in double quotes
)
