package laptop

import (
	"fmt"

	"github.com/ralph-loop/ralph/internal/core/journal"
	"github.com/ralph-loop/ralph/internal/core/policy"
	"github.com/ralph-loop/ralph/internal/git/workspace"
	"github.com/ralph-loop/ralph/internal/lib/fault"
	"github.com/ralph-loop/ralph/internal/show/view"
)

// ShownRun are the flags that name a run to show.
type ShownRun struct {
	ProjectDir string `short:"d" default:"." type:"folder" placeholder:"DIR" help:"Project directory (default: current directory)."`
	ID         string `arg:"" optional:"" name:"run" help:"ID of the run (default: the newest)."`
}

// Find returns the run, as its journal has it now. A note on standard error doubts a journal
// that ralph did not write here.
func (r ShownRun) Find(w World) (workspace.Run, journal.Run, error) {
	if err := workspace.CheckDir(r.ProjectDir, "-d"); err != nil {
		return workspace.Run{}, journal.Run{}, err
	}
	folder := workspace.FindFolder(r.ProjectDir)
	if err := folder.CheckJournal(r.ID); err != nil {
		return workspace.Run{}, journal.Run{}, err
	}
	home, found := folder.Newest(func(run journal.Run) bool { return r.ID == "" || r.ID == run.ID })
	switch {
	case home.ID == "" && r.ID != "":
		return home, found, fault.Usage("there is no run "+r.ID,
			"the runs are in .ralph/runs; without an ID, ralph status shows the newest", nil)
	case home.ID == "":
		return home, found, fault.Usage("no run in this project", "start one: ralph run", nil)
	}
	found.Resume = continuation(r.ProjectDir, r.ID)
	return home, found, nil
}

func (d *Project) runs() workspace.Folder {
	return workspace.Folder{Path: d.folder(), StateDir: workspace.UserStateDir(d.World.Getenv("HOME"))}
}

// Unfinished returns the run of that ID, or else the newest one, if this command can continue it.
func (d *Project) Unfinished(id string) (workspace.Run, journal.Run, error) {
	folder := d.runs()
	if err := folder.CheckJournal(id); err != nil {
		return workspace.Run{}, journal.Run{}, err
	}
	if id != "" {
		home, old := folder.Newest(func(run journal.Run) bool { return run.ID == id })
		switch {
		case home.ID == "":
			return home, old, fault.Usage("there is no run "+id,
				"the runs are in .ralph/runs; without an ID, the newest one goes on", nil)
		case supervised(old), inSession(old) && !old.IsCompleted():
			return home, old, elsewhereError(old)
		case !isOpen(old):
			return home, old, fault.Usage(fmt.Sprintf("the run %s is complete", id), "start a new one: ralph run", nil)
		}
		return home, old, nil
	}
	home, old := folder.Newest(func(run journal.Run) bool { return isOpen(run) && !isElsewhere(run) })
	if home.ID != "" {
		return home, old, nil
	}
	home, old = folder.Newest(func(run journal.Run) bool { return isElsewhere(run) && !run.IsCompleted() })
	if home.ID != "" {
		return home, old, elsewhereError(old)
	}
	return home, old, fault.Usage("no run to resume", "start a run: ralph run", nil)
}

// isOpen reports a run with work to do, or with work to deliver.
func isOpen(run journal.Run) bool { return !run.IsCompleted() || run.Box.Delivered.IsPartial() }

// isElsewhere reports a run that another command continues.
func isElsewhere(run journal.Run) bool { return supervised(run) || inSession(run) }

// unfinishedOnBranch returns the newest run that ralph recorded on the current branch, if it did not complete.
func (d *Project) unfinishedOnBranch() journal.Run {
	_, old := d.runs().Newest(func(run journal.Run) bool {
		return run.Branch == d.Place.Branch && run.Policy.Done == policy.ByStories
	})
	if old.IsCompleted() {
		return journal.Run{}
	}
	old.Resume = d.Continuation(old.ID)
	return old
}

// ReuseAgent takes the run's agent by default, and its command, which no journal has: it may hold keys.
func (d *Project) ReuseAgent(id string, old policy.Policy) error {
	if d.Worktree && !old.Worktree {
		return fault.Usage("this run has no worktree",
			"resume it without --worktree, or start a new run: ralph run --worktree", nil)
	}
	if d.Agent != "" || d.AgentCommand != "" {
		return nil
	}
	if old.Agent != "command" {
		d.Agent = old.Agent
	}
	d.AgentCommand = d.runs().SavedCommand(id) // before that of the settings
	if d.AgentCommand != "" {
		return nil
	}
	noAgent := d.Agent == "" && d.Settings.Agent.Command == ""
	if d.Agent == "scripted" || noAgent {
		return fault.Usage("the run does not record its agent command",
			"give it again: "+d.Continuation(id).Command("--agent-command", "COMMAND"), nil)
	}
	return nil
}

// elsewhereError returns how to continue a run that this command cannot continue.
func elsewhereError(run journal.Run) error {
	switch {
	case supervised(run):
		return fault.Usage(fmt.Sprintf("the run %s supervises a command that is not recorded", run.ID),
			"start it again: ralph supervise -- COMMAND", nil)
	case run.Stop == nil:
		return fault.Usage(fmt.Sprintf("the run %s %s", run.ID, view.Headline(run)), view.Next(run), nil)
	}
	return fault.Usage(fmt.Sprintf("the run %s is a loop within a session of Claude Code", run.ID),
		"continue it there: /ralph-loop --resume", nil)
}

// supervised: its command is not recorded, so only a person can start it again.
func supervised(run journal.Run) bool { return run.Policy.Done == policy.ByFile }

// inSession: only the agent's own session can continue such a loop.
func inSession(run journal.Run) bool { return run.Policy.Done == policy.ByPromise }

// Abandoned reports a run that has not ended but has no process: one would hold the project's
// lock. A loop within a session never has one.
func (r ShownRun) Abandoned(run journal.Run) bool {
	if run.Stop != nil || inSession(run) {
		return false
	}
	folder := workspace.FindFolder(r.ProjectDir)
	if supervised(run) {
		folder.LockName = workspace.Task{}.Runs().LockName
	}
	return folder.CheckUnlocked() == nil
}
