package view

import (
	"fmt"

	"github.com/ralph-loop/ralph/internal/core/journal"
	"github.com/ralph-loop/ralph/internal/core/verdict"
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

// testSummary returns whether the check ran twice, and how many tests passed and failed, if its output names any.
func testSummary(run journal.Run, check journal.CheckEnded) string {
	text := ""
	switch {
	case check.Flaky:
		text = ", flaky: it failed first"
	case check.First != nil:
		text = ", twice"
	}
	if check.Tests == nil {
		return text
	}
	text += fmt.Sprintf(": %d passed, %d failed", check.Tests.Passed, check.Tests.Failed)
	if check.Where == journal.AtBase || check.Passed {
		return text
	}
	return text + pick(verdict.BlocksStory(run, check), newFailuresText(run, check, oneLine), ", nothing new")
}
