//go:build !windows

package main

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/ralph-loop/ralph/internal/core/journal"
	"github.com/ralph-loop/ralph/internal/core/plan"
	"github.com/ralph-loop/ralph/internal/core/policy"
	"github.com/ralph-loop/ralph/internal/entry/laptop"
	"github.com/ralph-loop/ralph/internal/git/workspace"
	"github.com/ralph-loop/ralph/internal/lib/clean"
	"github.com/ralph-loop/ralph/internal/lib/fault"
	"github.com/ralph-loop/ralph/internal/lib/redact"
	"github.com/ralph-loop/ralph/internal/run/job"
	"github.com/ralph-loop/ralph/internal/show/view"
)

type superviseCommand struct {
	TaskDir       string           `default:"." type:"folder" placeholder:"DIR" help:"Directory in which the agent writes DONE."`
	MaxIterations *int             `short:"m" aliases:"max-restarts" placeholder:"N" help:"Limit of attempts (default: 100; 0: no limit)."`
	RestartDelay  *policy.Duration `placeholder:"TIME" help:"Pause between two attempts (default: 1s)."`
	PollInterval  *policy.Duration `placeholder:"TIME" help:"Interval between two checks of a finished task's child processes (default: 1s)."`
	WaitTimeout   *policy.Duration `placeholder:"TIME" help:"Time for a finished task's child processes to end (default: 5m; 0: no limit). If set, it limits an attempt too."`
	ProjectID     string           `name:"project-id" placeholder:"ID" help:"Project ID in messages (default: name of the directory above the task's)."`
	TaskID        string           `name:"task-id" placeholder:"ID" help:"Task ID in messages (default: name of the task's directory)."`
	JSON          bool             `name:"json" help:"Print the result as one JSON object; the command's output goes to stderr."`
	Command       []string         `arg:"" optional:"" passthrough:"partial" help:"Command, after --."`
}

func (c superviseCommand) run(ctx context.Context, w world) (int, error) {
	asked, err := c.newRun(w)
	if err != nil {
		return 0, err
	}
	dir, err := w.Folder(".")
	if err != nil {
		return 0, err
	}
	for _, folder := range []string{dir, c.TaskDir} {
		if err := workspace.CheckNotHome(folder, w.Getenv("HOME")); err != nil {
			return 0, err
		}
	}
	outcome, err := c.job(w).Start(ctx, asked)
	if err != nil {
		return 0, err
	}
	if c.JSON {
		err = laptop.PrintResult(w.Stdout, outcome.Run, outcome.Home)
	}
	return outcome.Run.Stop.Reason.Status().ExitCode(true), err
}

func (c superviseCommand) newRun(w world) (job.NewRun, error) {
	argv := behindDashes(c.Command)
	if len(argv) == 0 || argv[0] == "" {
		return job.NewRun{}, fault.Usage("no command given", "for example: ralph supervise -- ./agent.sh", nil)
	}
	p := c.policy()
	p.Agent = filepath.Base(argv[0])
	if err := workspace.CheckDir(c.task().Dir, "--task-dir"); err != nil {
		return job.NewRun{}, err
	}
	return job.NewRun{RunBegan: journal.RunBegan{
		Run:    workspace.RunName("run", w.Now()),
		Policy: p,
		Level:  "none",
		Task:   plan.Task{Kind: plan.KindPrompt, Title: p.Supervision.Task},
	}}, nil
}

// behindDashes drops dashes that begin a command: they separate it from flags.
func behindDashes(words []string) []string {
	if len(words) > 0 && words[0] == "--" {
		return words[1:]
	}
	return words
}

func (c superviseCommand) policy() policy.Policy {
	p := policy.ForPreset(policy.ByFile)
	p.Limits.Iterations = policy.Given(c.MaxIterations, p.Limits.Iterations)
	p.Limits.Iteration = policy.Given(c.WaitTimeout, p.Limits.Iteration)
	task := c.task()
	s := &p.Supervision
	s.Dir = task.Dir
	s.Project = task.Project
	s.Task = task.ID
	s.Delay = policy.Given(c.RestartDelay, s.Delay)
	s.Poll = max(policy.Given(c.PollInterval, s.Poll), policy.Duration(time.Millisecond))
	s.Wait = policy.Given(c.WaitTimeout, s.Wait)
	return p
}

func (c superviseCommand) task() workspace.Task {
	return workspace.Task{
		Dir:     c.TaskDir,
		Project: cmp.Or(c.ProjectID, filepath.Base(filepath.Dir(c.TaskDir))),
		ID:      cmp.Or(c.TaskID, filepath.Base(c.TaskDir)),
	}
}

// job leaves the standard streams to the command, except the output for a requested result.
func (c superviseCommand) job(w world) *job.Job {
	out := w.Stdout
	if c.JSON {
		out = w.Stderr
	}
	log := func(text string) {
		for line := range strings.Lines(text) {
			line = clean.LogLine(strings.TrimSuffix(line, "\n"))
			fmt.Fprintf(w.Stderr, "[%s] %s\n", w.Now().Format("2006-01-02 15:04:05"), line)
		}
	}
	return &job.Job{
		Machine: job.Machine{Folder: c.task().Runs(), Exec: w.Runner.Run, Now: w.Now, Secrets: redact.Values()},
		Code:    job.Code{Dir: c.TaskDir},
		Agents: job.Agents{Supervised: &job.Supervised{
			Task:   c.task(),
			Argv:   behindDashes(c.Command),
			Env:    w.Environ(),
			Stdin:  w.Stdin,
			Stdout: out,
			Stderr: w.Stderr,
		}},
		Audience: job.Audience{
			OnEvent: func(run journal.Run, event journal.Event) { log(view.Line(run, event)) },
			Log:     log,
		},
		Abort:       w.Runner.Hard,
		SaveTimeout: laptop.Rescue,
	}
}
