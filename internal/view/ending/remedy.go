package ending

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/clean"
	"github.com/ralph-loop/ralph/internal/journal"
	"github.com/ralph-loop/ralph/internal/plan"
	"github.com/ralph-loop/ralph/internal/policy"
	"github.com/ralph-loop/ralph/internal/verdict"
)

// Base is what a check said before any work, and what it is worth for that.
type Base struct {
	State  string // in two words
	Gap    string // why it can prove nothing; empty: it can
	Remedy string
	Note   string // what people should know where there is no gap
}

// What to do where nothing can be proven, in a job and elsewhere.
var (
	nameChecks = cure{
		"name commands that judge the work: the input `checks`, or `guardrails` in `.ralph/settings.json` of the base",
		"name commands that judge the work: `guardrails` in `.ralph/settings.json`, or `--check`",
	}
	haveStart = cure{
		"install the program that it starts: with `setup`, in your own image, or with `ralph-loop/ralph/host` after setup steps",
		"install the program that it starts (`setup` in `.ralph/settings.json` can), or correct its command",
	}
	haveTried = cure{"", "; `ralph doctor --checks` tries it"}
	haveTime  = cure{"name a quicker command, or raise `check-timeout`", "name a quicker command, or raise its `timeout` in `.ralph/settings.json`"}
	haveOwn   = cure{"name it in the input `checks`, where a review sees it change", "name it in `.ralph/settings.json`"}
	haveNames = same("fix the check on the base branch first, or use a test runner that names the tests that fail")
	haveFiles = cure{
		"commit the files that the checks need, or create them with the input `setup`",
		"commit the files that the checks need, or create them with `setup` in `.ralph/settings.json`",
	}
	haveSetup = same("make `setup` work on a fresh clone, which has committed files only")
)

// cure is a remedy as people need it for a job, and for their own machine.
type cure struct{ job, own string }

func same(text string) cure { return cure{text, text} }

func (c cure) of(run journal.Run) string {
	if run.Policy.Publish && (!run.Policy.NoPull || run.Task.Kind == plan.KindPull) {
		return c.job
	}
	return c.own
}

// AtBase is what the check named name is worth by what it said at the base.
func AtBase(run journal.Run, name string) Base {
	check, ran := run.BaseCheck(name)
	switch {
	case !ran:
		return Base{State: "not tried"}
	case check.TimedOut:
		return Base{State: "out of time", Gap: "it ran out of time", Remedy: haveTime.of(run)}
	case check.CannotRun:
		return Base{State: "cannot start", Gap: fmt.Sprintf("it cannot start (exit %d)%s", check.Exit, lastly(check)), Remedy: haveStart.of(run)}
	case verdict.IsAddedByTask(run, name):
		return Base{State: "of the task", Gap: "the task itself names it, so it proves nothing", Remedy: haveOwn.of(run)}
	case check.Passed:
		return Base{State: "green"}
	case check.HasNamedFailures():
		return Base{State: "red before", Note: "red before: " + check.Tests.FailureList() + "; " + holding(run, name)}
	}
	return Base{
		State: "red before", Remedy: haveNames.of(run),
		Gap: fmt.Sprintf("it fails before any work (exit %d) and names no failed tests, so %s", check.Exit, holding(run, name)),
	}
}

// holding is what a check that was red before can hold back.
func holding(run journal.Run, name string) string {
	switch {
	case !verdict.MayBlock(run, name):
		return "it does not count"
	case run.Policy.Baseline == policy.BaselineStrict:
		return "no story passes until it is green (`baseline: strict`)"
	}
	return "only new failures block a story"
}

// CannotStart tells of a check whose program is not there.
func CannotStart(check journal.CheckEnded) bool { return check.CannotRun && !check.TimedOut }

// ToStart is what to do about a check that cannot start, and how to try it.
func ToStart(run journal.Run) string { return haveStart.of(run) + Tried(run) }

// Tried is how to see that a mended check starts.
func Tried(run journal.Run) string { return haveTried.of(run) }

func lastly(check journal.CheckEnded) string {
	lines := strings.Split(strings.TrimSpace(check.Excerpt), "\n")
	if last := one(lines[len(lines)-1]); last != "" {
		return ": " + last
	}
	return ""
}

// Mend is what to do about a base where checks can prove nothing. It holds no foreign text.
func Mend(run journal.Run) string {
	switch {
	case len(run.Policy.Checks) == 0:
		return nameChecks.of(run)
	case len(run.BaseChecks) == 0 && run.Baseline != nil && !run.Baseline.Usable: // the checkout was not made ready
		return haveSetup.of(run) + "; " + haveStart.of(run)
	}
	var all []string
	for _, check := range run.BaseChecks {
		if remedy := AtBase(run, check.Name).Remedy; remedy != "" && !slices.Contains(all, remedy) {
			all = append(all, remedy)
		}
	}
	return strings.Join(all, "; ")
}

// unstartable are the checks that cannot start in the newest iteration or, without any, at the base.
func unstartable(run journal.Run) []string {
	checks := run.BaseChecks
	if it, found := run.LastJudged(); found && len(it.Checks) > 0 {
		checks = it.Checks
	}
	var names []string
	for _, check := range checks {
		if CannotStart(check) {
			names = append(names, one(check.Name))
		}
	}
	return names
}

// redSince tells whether a check failed before the work began, without names of tests, and no story has passed since:
// then it is the cause, not the limit.
func redSince(run journal.Run) bool {
	red := run.Baseline != nil && !run.Baseline.Usable && slices.ContainsFunc(run.BaseChecks, func(c journal.CheckEnded) bool { return !c.Passed })
	return red && len(run.Plan.UserStories) > 0 && !slices.ContainsFunc(run.Plan.UserStories, func(s plan.Story) bool { return s.Passes })
}

// refused are hosts that the sandbox refused, and the inputs that would allow them.
func refused(run journal.Run) (hosts, fix string) {
	var names, inputs []string
	for _, e := range run.Refused {
		if e.Input == "" || slices.Contains(inputs, e.Input) || len(inputs) == 3 {
			continue
		}
		names, inputs = append(names, one(e.What)), append(inputs, clean.Inline(e.Input, 100))
	}
	if inputs == nil {
		return "", ""
	}
	return strings.Join(names, ", "), "allow the hosts that the work needs: " + strings.Join(inputs, ", ")
}

func one(text string) string { return strings.Join(strings.Fields(text), " ") }
