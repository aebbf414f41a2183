package laptop

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"

	"github.com/ralph-loop/ralph/internal/core/policy"
	"github.com/ralph-loop/ralph/internal/entry/eval"
	"github.com/ralph-loop/ralph/internal/git/git"
	"github.com/ralph-loop/ralph/internal/git/workspace"
	"github.com/ralph-loop/ralph/internal/lib/clean"
	"github.com/ralph-loop/ralph/internal/lib/fault"
	"github.com/ralph-loop/ralph/internal/lib/process"
	"github.com/ralph-loop/ralph/internal/lib/untrusted"
	"github.com/ralph-loop/ralph/internal/proof/checkout"
)

// Eval are the flags of `ralph eval`.
type Eval struct {
	Commits []string `arg:"" optional:"" help:"Commits to try (default: the newest on HEAD that change a program and tests)."`
	Repo    string   `default:"." type:"folder" placeholder:"DIR" help:"A clone of the repository."`
	Last    int      `default:"30" placeholder:"N" help:"How many commits to try (default: 30)."`

	Agent        string `required:"" xor:"agent" placeholder:"NAME" help:"The agent: ${agents}; gold applies the commit itself, none changes nothing."`
	AgentCommand string `required:"" xor:"agent" placeholder:"CMD" help:"The program to run as the agent."`
	Model        string `placeholder:"MODEL" help:"The model, as the agent calls it."`

	Check []string `sep:"none" placeholder:"CMD" help:"A command that verifies the work. Repeatable."`
	Setup []string `sep:"none" placeholder:"CMD" help:"A command that prepares a checkout for the checks. Repeatable."`

	MaxCost float64 `placeholder:"USD" help:"Start no more tasks when this many dollars are spent (default: no limit)."`

	MaxTime policy.Duration `default:"30m" placeholder:"TIME" help:"End a task's run after this long (default: 30m)."`

	MaxIterations int `short:"n" default:"5" placeholder:"N" help:"End a task's run after this many iterations (default: 5)."`

	Results string `type:"path" placeholder:"FILE" help:"File outside of the clone to which results are appended; tasks in it are not tried again (default: one for each clone, in ~/.local/state/ralph/eval)."`
	JSON    bool   `name:"json" help:"Print the result as one JSON object."`
	Fence
	Passing `group:"all"`
}

const largestResults = 1 << 30

// Try has the agent work on the tasks that are not among the results yet.
func (c Eval) Try(ctx context.Context, w World) (sum eval.Sum, err error) {
	w = w.PathOutside(c.Repo)
	around, err := c.Around(w, c.Repo)
	if err != nil {
		return sum, err
	}
	c.Sandbox, c.Allow = around.Level, around.Allow
	tool, err := w.SoundGit(ctx, c.Repo)
	if err != nil {
		return sum, err
	}
	dir, remove, err := w.Room(c.Repo, "eval")
	if err != nil {
		return sum, err
	}
	defer remove()
	e := c.series(w, tool, dir)
	if e.Store, err = tool.OpenShared(ctx, c.Repo, filepath.Join(dir, "trusted.git")); err != nil {
		return sum, err
	}
	tasks, err := c.tasks(ctx, e)
	if err != nil {
		return sum, fault.Usage("nothing to try", "name commits, or another repository with --repo", err)
	}
	results, err := c.results(w)
	if err != nil {
		return sum, err
	}
	defer func() { err = errors.Join(err, results.Close()) }()
	data, err := untrusted.ReadAll(results, largestResults)
	if err != nil {
		return sum, err
	}
	e.Began = func(number, of int, task eval.Task) {
		line := fmt.Sprintf("commit %d of %d: %s\n", number, of, git.OneLine(task.Title, 100))
		fmt.Fprint(w.Stderr, clean.LogLines(line))
	}
	e.Done = func(row eval.Row) error {
		fmt.Fprint(w.Stderr, clean.LogLines(row.Line()+"\n"))
		return record(results, row)
	}
	rows, err := e.Run(ctx, tasks, eval.Rows(data))
	sum = eval.Add(len(tasks), rows)
	if err != nil {
		return sum, err
	}
	if left := len(tasks) - len(rows); left > 0 {
		fmt.Fprintf(w.Stderr, "eval stopped: $%.2f of $%.2f spent; tasks not begun: %d\n", sum.CostUSD, c.MaxCost, left)
	}
	return sum, nil
}

// results opens the file of results, to which no commit of the clone and no agent may write: a row
// counts as a task that was tried.
func (c Eval) results(w World) (*os.File, error) {
	path, err := c.resultsPath(w)
	if err != nil {
		return nil, err
	}
	file, err := openResults(path)
	if err != nil {
		return nil, fault.Usage("cannot write to "+path, "name another file with --results", err)
	}
	fmt.Fprintln(w.Stderr, "results: "+clean.LogLines(path))
	return file, nil
}

// resultsPath returns the file of --results, or else one for the clone, whose folder it makes.
func (c Eval) resultsPath(w World) (string, error) {
	if c.Results != "" {
		if process.Within(resolved(filepath.Dir(c.Results)), []string{resolved(c.Repo)}) {
			return "", fault.Usage("a commit of the clone, or an agent, can write "+c.Results,
				"name a file outside of the clone with --results, or leave it out", nil)
		}
		return c.Results, nil
	}
	home := w.Getenv("HOME")
	if home == "" {
		return "", fault.Usage("no home folder for the results", "set HOME, or name a file with --results", nil)
	}
	sum := sha256.Sum256([]byte(c.Repo))
	name := filepath.Base(c.Repo) + "-" + hex.EncodeToString(sum[:4]) + ".jsonl"
	folder := filepath.Join(workspace.UserStateDir(home), "eval")
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return "", fault.Usage("cannot make the folder of the results", "name a file with --results", err)
	}
	return filepath.Join(folder, name), nil
}

func openResults(path string) (*os.File, error) {
	root, err := untrusted.OpenRoot(filepath.Dir(path))
	if err != nil {
		return nil, err
	}
	defer root.Close() //nolint:errcheck // only a handle
	return root.OpenFile(filepath.Base(path), os.O_APPEND|os.O_CREATE|os.O_RDWR, 0o644)
}

// record writes a row behind the others, of which the last may be cut off.
func record(to io.Writer, row eval.Row) error {
	line, err := json.Marshal(row)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(to, "\n%s\n", line)
	return err
}

// tasks returns at least one task.
func (c Eval) tasks(ctx context.Context, e *eval.Eval) ([]eval.Task, error) {
	tasks, err := e.History(ctx, c.Last, c.Commits)
	if err != nil {
		return nil, err
	}
	if len(tasks) == 0 {
		return nil, errors.New("no commit changes both a program and tests")
	}
	return tasks, nil
}

// series returns how the tasks are worked on.
func (c Eval) series(w World, tool git.Git, dir string) *eval.Eval {
	return &eval.Eval{
		Repo:     c.Repo,
		Dir:      dir,
		Self:     w.Self,
		Agent:    c.Agent + c.AgentCommand,
		Flags:    c.flags(),
		MaxCost:  c.MaxCost,
		MaxTime:  c.MaxTime.Std(),
		Settings: eval.Settings{Setup: c.Setup, Hosts: c.Allow, Env: c.Env},
		Rules:    Clone{ProjectDir: dir}.Rules(c.Check, c.Setup),
		Verify: func(ctx context.Context, project string, do func(*checkout.Verifier) error) error {
			return Clone{ProjectDir: project, Fence: c.Fence, Passing: c.Passing}.Verify(ctx, w, tool, do)
		},
		Exec: w.Runner.Run,
		Env:  w.Environ(),
		Now:  w.Now,
	}
}

// flags returns those of `ralph run`.
func (c Eval) flags() []string {
	flags := []string{"--sandbox=" + string(c.Sandbox)}
	switch {
	case c.Agent == eval.Gold || c.Agent == eval.None: // a second iteration would do the same
		c.MaxIterations = 1
	case c.AgentCommand != "":
		flags = append(flags, "--agent-command", c.AgentCommand)
	default:
		flags = append(flags, "--agent", c.Agent)
	}
	flags = append(flags, "-m", strconv.Itoa(c.MaxIterations))
	if c.Model != "" {
		flags = append(flags, "--model", c.Model)
	}
	for _, check := range c.Check {
		flags = append(flags, "--check", check)
	}
	return flags
}
