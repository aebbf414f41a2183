package laptop

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/ralph-loop/ralph/internal/core/journal"
	"github.com/ralph-loop/ralph/internal/core/policy"
	"github.com/ralph-loop/ralph/internal/git/git"
	"github.com/ralph-loop/ralph/internal/git/remote"
	"github.com/ralph-loop/ralph/internal/git/workspace"
	"github.com/ralph-loop/ralph/internal/lib/clean"
	"github.com/ralph-loop/ralph/internal/lib/fault"
	"github.com/ralph-loop/ralph/internal/lib/process"
	"github.com/ralph-loop/ralph/internal/lib/shell"
	"github.com/ralph-loop/ralph/internal/run/job"
	"github.com/ralph-loop/ralph/internal/show/result"
	"github.com/ralph-loop/ralph/internal/show/view"
)

func (d *Project) execute(
	ctx context.Context, j *job.Job, p policy.Policy, run func() (job.Outcome, error),
) (int, error) {
	release, err := d.lock(ctx, j, p)
	if err != nil {
		return 0, err
	}
	defer func() {
		if err := release(); err != nil {
			d.line(err.Error())
		}
	}()
	d.World.StopGrace.Store(int64(policy.Given(d.Settings.StopGrace, DefaultStopGrace)))
	d.line(d.sandboxLine(j))
	if j.Agents.Agent.CallsHooks {
		d.line("guard: dangerous commands of " + j.Agents.Agent.Name +
			" are refused; this prevents accidents, but is not a sandbox")
	}
	outcome, err := run()
	ended := outcome.Run.Stop != nil && !process.IsClosed(j.Abort)
	if err != nil && !ended { // nothing was begun, or all of it was ended at once
		return 0, errors.Join(err, d.printCutOff(ctx, outcome, err))
	}
	return d.finish(ctx, outcome, err)
}

// lock keeps other runs away. For stories it writes .ralph-active, by which hooks know of the run.
func (d *Project) lock(ctx context.Context, j *job.Job, p policy.Policy) (release func() error, err error) {
	var active *workspace.Active
	if p.Done == policy.ByStories {
		active = &workspace.Active{
			Timestamp:     d.World.Now().UTC(),
			PID:           os.Getpid(),
			MaxIterations: p.Limits.Iterations,
			Mode:          d.mode(),
		}
		if err := d.ignoreActive(ctx); err != nil {
			return nil, err
		}
	}
	j.Machine.Folder, release, err = j.Machine.Folder.Hold(active)
	return release, err
}

// ignoreActive keeps .ralph-active out of the user's commits, unless a .gitignore does, as after ralph init.
func (d *Project) ignoreActive(ctx context.Context) error {
	if d.Place == nil {
		return nil
	}
	_, err := d.Place.Ask(ctx, "check-ignore", "-q", ".ralph-active")
	if git.SaidNo(err) {
		return d.Tool.Exclude(ctx, *d.Place, "/.ralph-active")
	}
	return err
}

func (d *Project) commitPRD(ctx context.Context, run journal.Run, home workspace.Run) error {
	if run.Policy.Done != policy.ByStories {
		return nil
	}
	return job.UserRepository{Git: d.Tool, Place: *d.Work}.CommitPRD(ctx, run, home, d.line)
}

// printCutOff prints a result for scripts of a run that was not begun, or was ended at once.
func (d *Project) printCutOff(ctx context.Context, outcome job.Outcome, cause error) error {
	run := outcome.Run
	if !d.JSON || run.ID == "" {
		return nil
	}
	stopped := journal.RunStopped{Reason: policy.FatalError, Why: cause.Error()}
	if ctx.Err() != nil || errors.Is(cause, process.ErrStopped) {
		stopped.Reason = policy.Cancelled
	}
	if run.Stop == nil {
		run.Stop = &stopped
	}
	return PrintResult(d.World.Stdout, run, outcome.Home)
}

// finish returns the exit code. A run that broke has an error beside its reason.
func (d *Project) finish(ctx context.Context, outcome job.Outcome, cause error) (int, error) {
	run := outcome.Run
	ctx = context.WithoutCancel(ctx)
	commitError := d.commitPRD(ctx, run, outcome.Home)
	printError := d.printEnd(outcome)
	err := errors.Join(brief(cause, run), commitError, printError)
	code := run.Stop.Reason.Status().ExitCode(false)
	if err != nil && code != fault.ExitDone {
		err = &fault.Fault{What: err.Error(), Fix: Hint(err), Exit: code}
	}
	return code, err
}

// brief leaves out what the cause wraps if the run's end has named it.
func brief(cause error, run journal.Run) error {
	f, ok := errors.AsType[*fault.Fault](cause)
	if !ok || f.Error() != cause.Error() || run.Stop.Why != cause.Error() {
		return cause
	}
	return &fault.Fault{What: f.What, Fix: f.Fix, Exit: f.Exit}
}

func (d *Project) printEnd(outcome job.Outcome) error {
	run := outcome.Run
	run.Resume = d.Continuation("")
	if d.JSON {
		return PrintResult(d.World.Stdout, run, outcome.Home)
	}
	text := ""
	if d.Quiet {
		text = view.Text(run, false)
	}
	diff := "git diff " + shell.Quote(run.BaseRef+"..."+run.Branch)
	switch {
	case run.Worktree != "":
		text += fmt.Sprintf("the work is in %s, on the branch %s\n", run.Worktree, run.Branch)
	case strings.Contains(view.WithoutMarkup(view.Next(run)), diff): // the next step names the branch
	case run.Head != run.Start && run.Branch != run.BaseRef && run.Policy.Done == policy.ByStories:
		text += fmt.Sprintf("the work is on the branch %s: %s\n", run.Branch, diff)
	}
	_, err := fmt.Fprint(d.World.Stdout, d.secrets.String(text+undelivered(run, outcome.Home)))
	return err
}

// undelivered returns which work is not in the user's folder, and how to get it.
func undelivered(run journal.Run, home workspace.Run) string {
	d := run.Box.Delivered
	if d == nil {
		return ""
	}
	text := ""
	if d.Branch != "" {
		text = fmt.Sprintf("%s has moved or is not checked out, so the commits are on the branch %s: git log %s\n",
			run.Branch, d.Branch, shell.Quote(d.Branch))
	}
	if len(d.Ignored) > 0 {
		text += "changed in the box only, as git ignores it: " + journal.ShortList(d.Ignored)
		for _, setup := range run.Policy.Setup {
			text += "; to have it here, run " + setup.Command
		}
		text += "\n"
	}
	if len(d.Left) == 0 {
		return text
	}
	checks := "the checks did not pass"
	if run.Stop.Reason.Status() == policy.StatusCompleted {
		checks = "the checks passed in the box"
	}
	names := d.LeftPaths()
	files := "1 file is"
	if len(names) > 1 {
		files = fmt.Sprintf("%d files are", len(names))
	}
	return text + fmt.Sprintf("%s; %s not in your folder (%s); git apply %s makes yours the box's\n",
		checks, files, clean.LogLine(journal.ShortList(names)), shell.Quote(home.File(d.Patch)))
}

// PrintResult prints a run for scripts.
func PrintResult(to io.Writer, run journal.Run, home workspace.Run) error {
	result := result.Of(run)
	result.JournalPath = home.Journal()
	result.EvidencePath = job.ExistingFile(home, job.EvidenceName)
	if run.Worktree != "" {
		result.WorktreePath = filepath.Join(home.Project(), run.Worktree)
	}
	result.ReportPath = job.ExistingFile(home, workspace.PageFile)
	return clean.JSON(to, result)
}

// Hint returns the remedy for err: for the system's refusals it is always the same.
func Hint(err error) string {
	if hint := fault.Hint(err); hint != "" {
		return hint
	}
	gitError, isGit := errors.AsType[*git.Error](err)
	if isGit && gitError.TimedOut && gitError.Command == "add" {
		return "a file here may be too large for git: add it to .gitignore"
	}
	for _, known := range remedies {
		if errors.Is(err, known.err) {
			return known.fix
		}
		if isGit && strings.HasSuffix(strings.ToLower(gitError.Said), known.err.Error()) {
			return known.fix
		}
	}
	return ""
}

// remedies are for refusals, which git has at the end of what it says: it is always asked in English.
var remedies = []struct {
	err error
	fix string
}{
	{
		remote.ErrNetwork,
		"check that this machine reaches the repository, through https_proxy if there is a proxy, and try again",
	},
	{syscall.ENOSPC, freeSpace},
	{errors.New("out of diskspace"), freeSpace}, // git's own words
	{syscall.EDQUOT, freeSpace},
	{syscall.EROFS, "nothing can be written there: work on a copy elsewhere"},
	{fs.ErrPermission, "make it readable and writable for you"},
}

const freeSpace = "make room on the disk, and try again"
