package laptop

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/ralph-loop/ralph/internal/check"
	"github.com/ralph-loop/ralph/internal/checkout"
	"github.com/ralph-loop/ralph/internal/fault"
	"github.com/ralph-loop/ralph/internal/job"
	"github.com/ralph-loop/ralph/internal/journal"
	"github.com/ralph-loop/ralph/internal/policy"
	"github.com/ralph-loop/ralph/internal/view"
	"github.com/ralph-loop/ralph/internal/workspace"
)

// trialTime bounds a trial of the checks: what a sandbox breaks fails early.
const trialTime = time.Minute

// prepare returns a job for a run by p, if its checks can start. The first run in a sandbox tries them there.
func (d *Project) prepare(ctx context.Context, p policy.Policy) (*job.Job, error) {
	j, err := d.job(ctx, p)
	if err != nil || len(p.Checks) == 0 {
		return j, err
	}
	isFirst := j.Sandbox != nil && d.namedLevel() == "" && d.isFirstRun()
	err = d.checkPrograms(ctx, j, p, isFirst)
	if err == nil && isFirst {
		err = d.tryChecks(ctx, j, p)
	}
	if err != nil {
		d.closeSandboxes(j.Sandbox, j.ModelServer)
		return nil, err
	}
	return j, nil
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
	tell := func(_ journal.Run, event journal.Event) {
		if note, is := event.(journal.Noted); is {
			notes = append(notes, note)
		}
	}
	v := checkout.Verifier{Git: d.Tool, Dir: dir, Tell: tell}
	run, err := v.Find(ctx, d.ProjectDir, d.Place.Head, p)
	if err == nil && len(run.Policy.Checks) == 0 {
		err = fault.Usage("no check is configured, and the project's files suggest none", `name a command that checks the work, for example: ralph run --check "make test"`, nil)
	}
	return run.Policy, notes, err
}

// checkPrograms refuses a check whose program is not installed, and notes one whose file does not exist yet. With
// setup, which may install the program, the checks at the base show that. Before a trial it looks outside of the
// sandbox: the trial finds what fails only inside.
func (d *Project) checkPrograms(ctx context.Context, j *job.Job, p policy.Policy, beforeTrial bool) error {
	ownTree := !p.Worktree && p.Done != policy.ByStories
	if d.DryRun || len(p.Setup) > 0 && !ownTree {
		return nil
	}
	open := *j
	if beforeTrial {
		open = d.withoutSandbox(j)
	}
	room, remove, err := d.World.Room(d.Root(), "checks")
	if err != nil {
		return err
	}
	defer remove()
	hand, dir, err := d.handAround(ctx, &open, room)
	if err != nil {
		return err
	}
	where := check.Job{Dir: dir}
	for _, rule := range p.Checks {
		program, err := hand.FirstMissing(ctx, where, rule.Command)
		if err != nil {
			return fmt.Errorf("look for the program of %s: %w", rule.Name, err)
		}
		if program != "" && !rule.Detected { // else the base shows whether another check can do
			hint := "install " + program + ", or correct the command of the check"
			return fault.Usage(fmt.Sprintf("the check %s cannot start: %s is not installed", rule.Name, program), hint+d.packagesHint(ownTree), nil)
		}
		if err := d.noteNoFile(ctx, hand, where, rule, p); err != nil {
			return err
		}
	}
	return nil
}

// noteNoFile says which check is red because the file that it runs does not exist yet. For stories, the baseline says it.
func (d *Project) noteNoFile(ctx context.Context, hand check.Hand, where check.Job, rule policy.Check, p policy.Policy) error {
	if p.Done == policy.ByStories {
		return nil
	}
	file, err := hand.NoFile(ctx, where, rule.Command)
	if err != nil {
		return fmt.Errorf("look for the file of %s: %w", rule.Name, err)
	}
	if file != "" {
		d.line(fmt.Sprintf("note: %s does not exist yet, so the check %s fails until the agent has written it", file, rule.Name))
	}
	return nil
}

// packagesHint returns what to add to a hint if the packages of package.json are not installed.
func (d *Project) packagesHint(ownTree bool) string {
	_, noManifest := os.Lstat(filepath.Join(d.ProjectDir, "package.json"))
	_, noModules := os.Lstat(filepath.Join(d.ProjectDir, journal.NodeModules))
	switch {
	case noManifest != nil || noModules == nil:
		return ""
	case ownTree:
		return "; install the packages of package.json: npm ci"
	}
	return "; install the packages of package.json: `\"setup\": [\"npm ci\"]` in .ralph/settings.json"
}

// withoutSandbox returns the job as it is without a sandbox.
func (d *Project) withoutSandbox(j *job.Job) job.Job {
	open := *j
	open.Sandbox, open.Kept, open.CheckEnv = nil, checkout.Kept{}, slices.Concat(d.World.EnvironInside(nil), d.Needs.Env)
	return open
}

// tryChecks runs the checks in the sandbox, and outside of it if some fail inside twice. It refuses a run whose checks
// fail only inside.
func (d *Project) tryChecks(ctx context.Context, j *job.Job, p policy.Policy) error {
	d.line(fmt.Sprintf("trying the checks in the sandbox, for at most %s", policy.FormatDuration(trialTime)))
	inside, err := d.runTrial(ctx, j, p)
	if err == nil && !inside.passed() {
		inside, err = d.runTrial(ctx, j, p)
	}
	if err != nil || inside.passed() {
		d.tried = "the checks pass inside"
		if inside.cut {
			d.tried = "the checks were tried inside until the time was up, and none failed"
		}
		return err
	}
	open := d.withoutSandbox(j)
	outside, err := d.runTrial(ctx, &open, p)
	if err != nil {
		return err
	}
	if why := inside.broken(outside); why != "" {
		j.Sandbox.Flush(func(event journal.Event) { d.line(strings.TrimSpace(view.Line(journal.Run{}, event))) }) // what was refused
		return fault.Usage(why, "install in the project what the check needs (for stories, by setup), or name variables in sandbox.env of the settings; --no-sandbox runs without a sandbox", nil)
	}
	d.tried = "the checks fail with and without it"
	if p.Done != policy.ByStories { // for these the baseline says it
		d.sayRed(outside.checks)
	}
	return nil
}

// sayRed says which checks are red before any work.
func (d *Project) sayRed(checks []journal.CheckEnded) {
	for _, check := range checks {
		if check.Passed {
			continue
		}
		text := fmt.Sprintf("the check %s is red before the work (exit %d)", check.Name, check.Exit)
		if check.HasNamedFailures() {
			text += ": " + check.Tests.FailureList()
		}
		d.line(text)
	}
}

// attempt is what a trial has seen until its time was up.
type attempt struct {
	unready string // why setup left nothing to check; empty: it did not
	checks  []journal.CheckEnded
	cut     bool // the time was up
}

func (a attempt) passed() bool {
	return a.unready == "" && !slices.ContainsFunc(a.checks, func(c journal.CheckEnded) bool { return !c.Passed })
}

// broken returns what fails in this attempt and not in the other; empty: nothing.
func (a attempt) broken(other attempt) string {
	if a.unready != "" && other.unready == "" && len(other.checks) > 0 {
		return "setup fails in the sandbox, and not outside of it"
	}
	for _, red := range a.checks {
		passes := func(c journal.CheckEnded) bool { return c.Name == red.Name && c.Passed }
		if !red.Passed && slices.ContainsFunc(other.checks, passes) {
			return fmt.Sprintf("the check %s fails in the sandbox (exit code %d), and passes outside of it", red.Name, red.Exit)
		}
	}
	return ""
}

// runTrial runs the checks where the run will: on a clean checkout or in the project.
func (d *Project) runTrial(ctx context.Context, j *job.Job, p policy.Policy) (seen attempt, err error) {
	ctx, done := d.untilAsked(ctx)
	defer done()
	dir, remove, err := d.World.Room(d.Root(), "trial")
	if err != nil {
		return seen, err
	}
	defer remove()
	if p.Worktree || p.Done == policy.ByStories {
		seen, err = d.trialOnCheckout(ctx, j, p, dir)
	} else {
		seen, err = d.trialInPlace(ctx, j, p, dir)
	}
	if ctx.Err() != nil { // what was under way was cut off
		seen.cut = true
		return seen, nil
	}
	return seen, err
}

func (a *attempt) take(event journal.Event) {
	switch e := event.(type) { //nolint:gochecksumtype // nothing else is a result
	case journal.CheckEnded:
		a.checks = append(a.checks, e)
	case journal.BaselineEnded:
		if len(a.checks) == 0 {
			a.unready = e.Why
		}
	}
}

// trialInPlace runs the checks in a box of the project, or in the project if there is no sandbox.
func (d *Project) trialInPlace(ctx context.Context, j *job.Job, p policy.Policy, room string) (seen attempt, err error) {
	hand, dir, err := d.handAround(ctx, j, room)
	if err != nil {
		return seen, err
	}
	hand.Log, hand.Veil = workspace.Folder{Path: room}.Create, j.Redact
	err = hand.Do(ctx, check.Job{Where: journal.AtWork, Dir: dir, Label: "trial", Checks: p.Checks}, seen.take)
	return seen, err
}

// handAround returns what runs commands in the project, or in a box of it below room if the job has a sandbox.
func (d *Project) handAround(ctx context.Context, j *job.Job, room string) (hand check.Hand, dir string, err error) {
	hand = check.Hand{Run: j.Exec, Env: j.Sandbox.Env(j.CheckEnv, false)}
	if j.Sandbox == nil {
		return hand, d.ProjectDir, nil
	}
	b, err := d.World.OpenBox(ctx, d.Tool, j.Sandbox, d.ProjectDir, room)
	if err != nil {
		return hand, "", err
	}
	hand.Run = j.Sandbox.Around(b.Access)
	return hand, b.Dir, nil
}

// trialOnCheckout runs setup and checks on a clean checkout of HEAD.
func (d *Project) trialOnCheckout(ctx context.Context, j *job.Job, p policy.Policy, dir string) (seen attempt, err error) {
	v := checkout.Verifier{
		Sandbox: j.Sandbox, Git: d.Tool, Dir: dir, Hand: check.Hand{Run: d.World.Runner.Run},
		Tell: func(_ journal.Run, event journal.Event) { seen.take(event) }, Kept: j.Kept,
	}
	needs := d.Needs
	needs.Env = nil // the job's variables have them
	v.Confide(j.CheckEnv, needs)
	_, err = v.Look(ctx, d.ProjectDir, d.Place.Head, p)
	return seen, err
}

// untilAsked returns a context for the time of a trial, which ends when a person ends the run.
func (d *Project) untilAsked(ctx context.Context) (context.Context, func()) {
	ctx, cancel := context.WithTimeout(ctx, trialTime)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		select {
		case <-d.World.Drain:
			cancel()
		case <-ctx.Done():
		}
	}()
	return ctx, func() { cancel(); <-ended }
}
