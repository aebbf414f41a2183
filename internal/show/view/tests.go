package view

import (
	"fmt"
	"slices"

	"github.com/ralph-loop/ralph/internal/core/journal"
	"github.com/ralph-loop/ralph/internal/core/verdict"
	"github.com/ralph-loop/ralph/internal/lib/clean"
)

// proofCheckText returns how one check of a proof ended, compared with the base.
func proofCheckText(run journal.Run, check journal.CheckEnded) string {
	base, found := run.BaseCheck(check.Name)
	before := pick(found && !base.Passed, " before the work, too", "")
	switch {
	case check.Skipped != "":
		return "➖ skipped: nothing in " + Code(check.Skipped, 80) + " is changed"
	case check.Flaky:
		return warnSign + " flaky: failed, and had no such failure when run again"
	case check.Passed:
		return "✅ passed" + pick(before != "", ", failed before the work", "")
	case verdict.BlocksStory(run, check):
		return "❌ failed" + newFailuresText(run, check, func(name string) string { return Code(name, 80) })
	}
	return "➖ failed" + before
}

// newFailuresText names what failed only now, if the check failed at the base.
func newFailuresText(run journal.Run, check journal.CheckEnded, format func(string) string) string {
	var names []string
	for _, name := range verdict.NewFailures(run, check) {
		names = append(names, format(name))
	}
	return appendNonEmpty("", ", new: ", journal.ShortList(names))
}

// testCountText returns how many tests passed and failed, if the check's output names any.
func testCountText(run journal.Run, check journal.CheckEnded) string {
	text := pick(check.Flaky, ", flaky: it failed first", pick(check.First != nil, ", twice", ""))
	if check.Tests == nil {
		return text
	}
	text += fmt.Sprintf(": %d passed, %d failed", check.Tests.Passed, check.Tests.Failed)
	if check.Where == journal.AtBase || check.Passed {
		return text
	}
	return text + pick(verdict.BlocksStory(run, check), newFailuresText(run, check, oneLine), ", nothing new")
}

type redCheck struct {
	Name  string
	Tests []string
	More  int // failed tests that are not shown
}

// redAtBase lists the checks with named failed tests at the base.
func redAtBase(run journal.Run) []redCheck {
	var all []redCheck
	for _, check := range run.BaseChecks[:min(len(run.BaseChecks), maxListed)] {
		names := verdict.FailedAtBase(run, check.Name)
		if len(names) == 0 {
			continue
		}
		shown := redCheck{Name: clean.Inline(check.Name, 80), More: max(len(names)-maxListed, 0)}
		for _, name := range names[:min(len(names), maxListed)] {
			shown.Tests = append(shown.Tests, Code(name, 160)+currentTestText(run, check.Name, name))
		}
		if check.Tests.Cut {
			shown.More = max(shown.More, check.Tests.Failed-len(shown.Tests))
		}
		all = append(all, shown)
	}
	return all
}

// currentTestText returns whether a test that failed at the base still fails, if its check ran on the newest tree.
func currentTestText(run journal.Run, check, test string) string {
	proof, _ := run.ProofOf(run.Tree)
	atHead, ran := journal.FindCheck(proof.Checks.Head, check)
	switch {
	case !ran:
		return ""
	case slices.Contains(atHead.Tests.Failing(), test):
		return ", still fails"
	}
	return ", does not fail now"
}
