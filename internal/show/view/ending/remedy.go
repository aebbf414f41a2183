package ending

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/core/journal"
	"github.com/ralph-loop/ralph/internal/core/plan"
	"github.com/ralph-loop/ralph/internal/core/verdict"
	"github.com/ralph-loop/ralph/internal/lib/clean"
	"github.com/ralph-loop/ralph/internal/lib/pattern"
	"github.com/ralph-loop/ralph/internal/proof/results"
)

// Base is the result of a check before any work, and what it can prove.
type Base struct {
	State  string // at most three words
	Gap    string // why it can prove nothing, if so
	Remedy string
	Note   string // its limits, if it can prove something
}

// What to do if nothing can be proven.
var (
	configureChecks = remedy{
		"name commands that verify the work: the input `checks`, or `guardrails` in `.ralph/settings.json` of the base",
		"name commands that verify the work: `guardrails` in `.ralph/settings.json`, or `--check`",
	}
	installProgram = remedy{
		"install the program that it starts: with `setup`, in your own image, " +
			"or with `ralph-loop/ralph/host` after setup steps",
		"install the program that it starts (`setup` in `.ralph/settings.json` can), or correct its command",
	}
	installPackages = remedy{
		"install its packages: the input `setup: npm ci`",
		"install its packages: `\"setup\": [\"npm ci\"]` in `.ralph/settings.json`",
	}
	allowTime = remedy{
		"name a quicker command, or raise `github.checkTimeout`",
		"name a quicker command, or raise its `timeout` in `.ralph/settings.json`",
	}
	fixOrAllow = remedy{
		"fix the check on the base branch first, or let only new failures count: the setting `baseline: new`",
		"fix the check on the base branch first, or let only new failures count: " +
			"`\"baseline\": \"new\"` in `.ralph/settings.json`",
	}
	configureCheck = remedy{
		"name it in the input `checks`, where a review sees it change",
		"name it in `.ralph/settings.json`",
	}
	fixOnBase = anywhere("fix the check on the base branch first, " +
		"or use a test runner that names the tests that fail")
	provideFiles = remedy{
		"commit the files that the checks need, or create them with the input `setup`",
		"commit the files that the checks need, or create them with `setup` in `.ralph/settings.json`",
	}
	fixSetup = anywhere("make `setup` work on a fresh clone, which has committed files only")
)

// remedy has the text for a job, and the text for a person's own machine.
type remedy struct{ job, local string }

func anywhere(text string) remedy { return remedy{text, text} }

func (r remedy) text(run journal.Run) string {
	if run.Policy.Publish && (!run.Policy.NoPull || run.Task.Kind == plan.KindPull) {
		return r.job
	}
	return r.local
}

// AtBase returns the result of the check of that name at the base, and what it can prove.
func AtBase(run journal.Run, name string) Base {
	check, ran := run.BaseCheck(name)
	switch {
	case !ran:
		return Base{State: "not tried"}
	case check.TimedOut:
		return Base{State: "out of time", Gap: "it ran out of time", Remedy: allowTime.text(run)}
	case check.CannotRun:
		gap := fmt.Sprintf("it cannot start (exit %d)%s", check.Exit, lastLine(check))
		return Base{State: "cannot start", Gap: gap, Remedy: installRemedy(check).text(run)}
	case verdict.IsAddedByTask(run, name):
		gap := "the task itself names it, so it proves nothing"
		return Base{State: "from the task", Gap: gap, Remedy: configureCheck.text(run)}
	case check.Passed:
		return Base{State: "green"}
	case verdict.MustBeGreenAtBase(run, name):
		gap := fmt.Sprintf("it fails before any work (exit %d), and `baseline` is strict, so no run starts", check.Exit)
		if check.HasNamedFailures() {
			gap += ": " + check.Tests.FailureList()
		}
		return Base{State: "red before", Gap: gap, Remedy: fixOrAllow.text(run)}
	case check.HasNamedFailures():
		note := "red before: " + check.Tests.FailureList() + "; only new failures block a story"
		return Base{State: "red before", Note: note}
	}
	fix := fixOnBase
	if missingModule.MatchString(check.Excerpt) {
		fix = installProgram
	}
	gap := fmt.Sprintf("it fails before any work (exit %d) and names no failed tests, so it does not count", check.Exit)
	if check.NoFile != "" {
		gap = fmt.Sprintf("it fails before any work (exit %d), as %s does not exist yet, so it does not count",
			check.Exit, check.NoFile)
	}
	return Base{State: "red before", Remedy: fix.text(run), Gap: gap}
}

func installRemedy(check journal.CheckEnded) remedy {
	if check.Missing == journal.NodeModules {
		return installPackages
	}
	return installProgram
}

// missingModule matches what Python says of -m with a module that is not installed.
var missingModule = pattern.Of(`(?m)^\S*python\S*: No module named `)

// notFound matches what a shell says of a program that is missing.
var notFound = pattern.Of(`(?m)^.*not found\r?$`)

// lastLine returns the line that names what is missing, or else the first that states a failure, or else the last one.
func lastLine(check journal.CheckEnded) string {
	lines := results.Essential(strings.TrimSpace(check.Excerpt))
	if i := slices.IndexFunc(lines, results.StatesFailure); i >= 0 {
		lines = lines[:i+1]
	}
	if missing := notFound.FindAllString(check.Excerpt, -1); len(missing) > 0 { // npm adds lines of its own
		lines = missing
	}
	if len(lines) == 0 {
		return ""
	}
	return ": " + oneLine(lines[len(lines)-1])
}

// BaseRemedy returns what to do if checks at the base can prove nothing. It has no foreign text.
func BaseRemedy(run journal.Run) string {
	switch {
	case len(run.Policy.Checks) == 0:
		return configureChecks.text(run)
	case run.HasSetupFailedAtBase():
		return fixSetup.text(run) + "; " + installProgram.text(run)
	}
	var all []string
	for _, check := range run.BaseChecks {
		if remedy := AtBase(run, check.Name).Remedy; remedy != "" && !slices.Contains(all, remedy) {
			all = append(all, remedy)
		}
	}
	return strings.Join(all, "; ")
}

// unstartable returns the checks that cannot start in the newest iteration, or at the base if that stopped the run or
// no check ran since.
func unstartable(run journal.Run) []journal.CheckEnded {
	checks := run.BaseChecks
	it, found := run.LastJudged()
	if found && len(it.NewestChecks()) > 0 && verdict.BaseObstacle(run) == "" {
		checks = it.NewestChecks()
	}
	var all []journal.CheckEnded
	for _, check := range checks {
		if check.CannotRun && !check.TimedOut {
			all = append(all, check)
		}
	}
	return all
}

func namesOf(checks []journal.CheckEnded) []string {
	var names []string
	for _, check := range checks {
		name := oneLine(check.Name)
		if check.Missing != "" {
			name += " (" + check.Missing + " is not installed)"
		}
		names = append(names, name)
	}
	return names
}

// isStillRed reports whether a check failed at the base without names of tests, and no story has passed since. Then
// the check is the cause, not the limit.
func isStillRed(run journal.Run) bool {
	if run.Baseline == nil || run.Baseline.Usable {
		return false
	}
	if !slices.ContainsFunc(run.BaseChecks, func(c journal.CheckEnded) bool { return !c.Passed }) {
		return false
	}
	return len(run.Plan.UserStories) > 0 && run.PassedStories() == 0
}

// refused returns hosts that the sandbox refused, and how to allow them.
func refused(run journal.Run) (hosts, fix string) {
	var names, inputs []string
	for _, e := range run.Box.Refused {
		if e.Input == "" || slices.Contains(inputs, e.Input) || len(inputs) == 3 {
			continue
		}
		names = append(names, oneLine(e.What))
		inputs = append(inputs, clean.Inline(e.Input, 100))
	}
	if inputs == nil {
		return "", ""
	}
	return strings.Join(names, ", "), "allow the hosts that the work needs: " + strings.Join(inputs, ", ")
}

func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }
