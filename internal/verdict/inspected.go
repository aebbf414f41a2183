package verdict

import (
	"cmp"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/journal"
	"github.com/ralph-loop/ralph/internal/policy"
)

// NeedsInspection reports whether the change's effect on the tests of a tree is still unknown.
func NeedsInspection(run journal.Run, tree string) bool {
	_, found := run.InspectionOf(tree)
	return !found && tree != "" && run.Policy.Tamper != ""
}

// WhyTampered returns why a tree does not count under the rule that existing tests must pass, and that they could
// run; empty if it counts.
func WhyTampered(run journal.Run, tree string) string {
	inspected, found := run.InspectionOf(tree)
	if !found || run.Policy.Tamper != policy.TamperBlock {
		return ""
	}
	return describeFindings(inspected)
}

// InspectionConcern returns why a person must look at the work before any story is called proven: what the inspection
// found, or why it could not run. A tree without one has the findings of the tree before it.
func InspectionConcern(run journal.Run) string {
	if run.Policy.Tamper == "" || run.Policy.Tamper == policy.TamperAllow {
		return ""
	}
	return describeFindings(LatestInspection(run))
}

// LatestInspection returns the inspection of the newest tree, or of the tree before it.
func LatestInspection(run journal.Run) journal.ChangeInspected {
	inspected, found := run.InspectionOf(run.Tree)
	if !found && len(run.Inspections) > 0 {
		inspected = run.Inspections[len(run.Inspections)-1]
	}
	return inspected
}

// describeFindings returns the findings with their kinds, or nothing.
func describeFindings(e journal.ChangeInspected) string {
	if !e.Holds() {
		return ""
	}
	return FindingKinds(e) + ": " + Findings(e)
}

// Findings lists what an inspection found, or says why it failed.
func Findings(e journal.ChangeInspected) string {
	var places []string
	for _, place := range e.Found {
		places = append(places, place.String())
	}
	return cmp.Or(e.Why, journal.ShortList(places))
}

// FindingKinds names the kinds of findings that block a change, if any.
func FindingKinds(e journal.ChangeInspected) string {
	if e.Why != "" {
		return "the existing tests could not be run on the new code"
	}
	var all []string
	for _, place := range e.Found {
		text := "existing tests fail or no longer run"
		switch place.Kind {
		case journal.TestsSteered:
			text = "the change affects how tests or checks run"
		case journal.AsksForTests:
			text = "the code may treat tests specially"
		}
		if !slices.Contains(all, text) {
			all = append(all, text)
		}
	}
	return strings.Join(all, ", and ")
}

// NeedsReview reports whether a required second opinion of a story's commit is missing. One that the budget ended is:
// else an agent could use the budget up, and pass without an opinion.
func NeedsReview(run journal.Run, story, commit string) bool {
	reviewed, found := run.ReviewOf(story)
	return run.Policy.Review.Agent != "" && (!found || reviewed.Commit != commit || reviewed.Overspent)
}

// Objections returns why a second opinion blocks a story's commit, or nothing.
func Objections(run journal.Run, story, commit string) string {
	reviewed, found := run.ReviewOf(story)
	if !found || reviewed.Commit != commit || len(reviewed.Missed) == 0 {
		return ""
	}
	var all []string
	for _, missed := range reviewed.Missed {
		all = append(all, missed.String())
	}
	return "a second opinion, by " + reviewed.By + ": " + journal.ShortList(all)
}
