package verdict

import (
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/journal"
	"github.com/ralph-loop/ralph/internal/policy"
)

// NeedsInspection tells whether somebody has yet to look at a tree.
func NeedsInspection(run journal.Run, tree string) bool {
	_, found := run.InspectionOf(tree)
	return !found && tree != "" && run.Policy.Tamper != ""
}

// WhyTampered is why a tree may not count where existing tests have to pass; empty
// where it may count. A tree whose existing tests could not be run may not.
func WhyTampered(run journal.Run, tree string) string {
	inspected, found := run.InspectionOf(tree)
	if !found || run.Policy.Tamper != policy.TamperBlock {
		return ""
	}
	return describeFindings(inspected)
}

// InspectionConcern is why a person has to look at the work before any story of it is
// called proven: what the inspection of its tests and settings found, or why it
// could not run. Empty if it found nothing, or if that is allowed. A tree that was not inspected yet is
// as the one before it was.
func InspectionConcern(run journal.Run) string {
	if run.Policy.Tamper == "" || run.Policy.Tamper == policy.TamperAllow {
		return ""
	}
	return describeFindings(LatestInspection(run))
}

// LatestInspection is the inspection of the newest tree, or of the one before.
func LatestInspection(run journal.Run) journal.ChangeInspected {
	inspected, found := run.InspectionOf(run.Tree)
	if !found && len(run.Inspections) > 0 {
		inspected = run.Inspections[len(run.Inspections)-1]
	}
	return inspected
}

// describeFindings is what was found, or why the inspection failed; empty: nothing.
func describeFindings(e journal.ChangeInspected) string {
	if e.Why != "" {
		return FindingKinds(e) + ": " + e.Why
	}
	var places []string
	for _, place := range e.Found {
		places = append(places, place.String())
	}
	if len(places) == 0 {
		return ""
	}
	return FindingKinds(e) + ": " + journal.Few(places)
}

// FindingKinds name the kinds of findings that hold a change back; empty: there are none.
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

// NeedsReview tells whether a second opinion of a story's commit is wanted, and
// not there.
func NeedsReview(run journal.Run, story, commit string) bool {
	reviewed, found := run.ReviewOf(story)
	return run.Policy.Review.Agent != "" && (!found || reviewed.Commit != commit)
}

// Objections are why a second opinion holds a story's commit back; empty where
// none does.
func Objections(run journal.Run, story, commit string) string {
	reviewed, found := run.ReviewOf(story)
	if !found || reviewed.Commit != commit || len(reviewed.Missed) == 0 {
		return ""
	}
	var all []string
	for _, missed := range reviewed.Missed {
		all = append(all, missed.String())
	}
	return "a second opinion, by " + reviewed.By + ": " + journal.Few(all)
}
