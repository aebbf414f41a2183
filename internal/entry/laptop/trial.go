package laptop

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ralph-loop/ralph/internal/box/sandbox"
	"github.com/ralph-loop/ralph/internal/core/journal"
	"github.com/ralph-loop/ralph/internal/core/policy"
	"github.com/ralph-loop/ralph/internal/lib/environ"
	"github.com/ralph-loop/ralph/internal/lib/fault"
	"github.com/ralph-loop/ralph/internal/lib/process"
	"github.com/ralph-loop/ralph/internal/proof/check"
	"github.com/ralph-loop/ralph/internal/proof/checkout"
	"github.com/ralph-loop/ralph/internal/run/job"
	"github.com/ralph-loop/ralph/internal/show/view"
)

// trialTime bounds a trial of the checks: what a sandbox breaks fails early.
const trialTime = time.Minute

// prepare returns a job for a run by p, if its checks can start. The first run in a sandbox tries them there.
func (d *Project) prepare(ctx context.Context, p policy.Policy) (*job.Job, error) {
	j, err := d.job(ctx, p)
	if err != nil || len(p.Checks) == 0 {
		return j, err
	}
	if err := d.requireRunnableChecks(ctx, j, p); err != nil {
		d.closeSandbox(j.Machine.Sandbox)
		return nil, err
	}
	return j, nil
}

// requireRunnableChecks refuses checks that cannot start, here or in the sandbox.
func (d *Project) requireRunnableChecks(ctx context.Context, j *job.Job, p policy.Policy) error {
	if err := d.checkPrograms(ctx, p); err != nil {
		return err
	}
	if j.Machine.Sandbox == nil || d.namedLevel() != "" || !d.isFirstRun() {
		return nil
	}
	return d.tryChecks(ctx, j, p)
}

// isFirstRun reports that no run was confined here. What an agent wrote must not run outside of a sandbox as a trial.
func (d *Project) isFirstRun() bool {
	home, _ := d.runs().Newest(func(run journal.Run) bool { return run.Policy.Boxed })
	return home.ID == ""
}

// SuggestedChecks returns the policy with the checks and the setup that the project's own files suggest, as doctor
// lists them.
func (d *Project) SuggestedChecks(ctx context.Context, p policy.Policy) (policy.Policy, []journal.Noted, error) {
	dir, remove, err := d.World.Room(d.Root(), "survey")
	if err != nil {
		return p, nil, err
	}
	defer remove()
	var notes []journal.Noted
	keepNote := func(_ journal.Run, event journal.Event) {
		if note, ok := event.(journal.Noted); ok {
			notes = append(notes, note)
		}
	}
	v := checkout.Verifier{Git: d.Tool, Dir: dir, Tell: keepNote}
	run, err := v.Find(ctx, d.ProjectDir, d.Place.Head, p)
	if err != nil {
		return run.Policy, notes, err
	}
	if len(run.Policy.Checks) == 0 {
		return run.Policy, notes, fault.Usage("no check is configured, and the project's files suggest none",
			`name a command that checks the work, for example: ralph run --check "make test"`, nil)
	}
	return run.Policy, notes, nil
}

// checkPrograms refuses a check whose program is not installed. With setup, which may install the program, the
// checks at the base show that.
func (d *Project) checkPrograms(ctx context.Context, p policy.Policy) error {
	hasBase := p.Worktree || p.Done == policy.ByStories
	runsSetup := hasBase && len(p.Setup) > 0
	if d.DryRun || runsSetup {
		return nil
	}
	hand := check.Hand{Run: d.World.Runner.Run, Env: d.envOutside()}
	where := check.Job{Dir: d.ProjectDir}
	for _, rule := range p.Checks {
		program, err := hand.FirstMissing(ctx, where, rule.Command)
		if err != nil {
			return fmt.Errorf("look for the program of %s: %w", rule.Name, err)
		}
		if program != "" && !rule.Detected { // else the base shows whether another check can do
			return fault.Usage(fmt.Sprintf("the check %s cannot start: %s is not installed", rule.Name, program),
				"install "+program+", or correct the command of the check", nil)
		}
	}
	return nil
}

// envOutside returns the environment of checks outside of a sandbox.
func (d *Project) envOutside() []string {
	return slices.Concat(environ.Harmless(d.World.Environ()), d.Needs.Env)
}

// tryChecks runs the checks in a box. It refuses a run if one fails there twice, and passes outside.
func (d *Project) tryChecks(ctx context.Context, j *job.Job, p policy.Policy) error {
	d.line(fmt.Sprintf("trying the checks in the sandbox, for at most %s", policy.FormatDuration(trialTime)))
	room, remove, err := d.World.Room(d.Root(), "trial")
	if err != nil {
		return err
	}
	defer remove()
	b, err := job.OpenBox(ctx, d.Tool, j.Machine.Sandbox, d.ProjectDir, room)
	if err != nil {
		return err
	}
	limited, cancel := context.WithTimeout(ctx, trialTime)
	defer cancel()
	exitOf := func(run sandbox.Exec, dir string, env []string, command string) (int, error) {
		result, err := run(limited, process.Command{Argv: []string{"sh", "-c", command}, Dir: dir, Env: env})
		if limited.Err() != nil && errors.Is(err, limited.Err()) { // what was under way was cut off
			return 0, nil
		}
		return result.Exit, err
	}
	inside := j.Machine.Sandbox.Around(b.Access)
	env := j.Machine.Sandbox.Env(j.Machine.CheckEnv, false)
	exitInside := func(command string) (int, error) {
		exit, err := exitOf(inside, b.Folder, env, command)
		if err != nil || exit == 0 {
			return exit, err
		}
		return exitOf(inside, b.Folder, env, command) // it may have failed by chance
	}
	for _, rule := range p.Checks {
		exit, err := exitInside(rule.Command)
		if err != nil {
			return err
		}
		if exit == 0 {
			continue
		}
		exitOutside, err := exitOf(d.World.Runner.Run, d.ProjectDir, d.envOutside(), rule.Command)
		if err != nil {
			return err
		}
		if exitOutside != 0 || limited.Err() != nil {
			continue
		}
		j.Machine.Sandbox.Flush(func(refusal journal.Event) {
			d.line(strings.TrimSpace(view.Line(journal.Run{}, refusal)))
		})
		return fault.Usage(
			fmt.Sprintf("the check %s fails in the sandbox (exit code %d), and passes outside of it", rule.Name, exit),
			"install in the project what the check needs, or name variables in sandbox.env of the settings; "+
				"--no-sandbox runs without a sandbox", nil)
	}
	return ctx.Err()
}
