package journal

import (
	"slices"

	"github.com/ralph-loop/ralph/internal/plan"
)

// OpenWork is work that is not proven.
type OpenWork struct {
	Since   string      `json:"since"` // the newest commit before it
	Stories []OpenStory `json:"open"`
	Tree    string      `json:"tree,omitempty"`   // of Start, if people ask for more: what passes there shows nothing of that
	Proved  []Proven    `json:"proved,omitempty"` // stories, by title, that are proven by tests beside it
}

// OpenStory is a story whose work is not proven.
type OpenStory struct {
	Title   string         `json:"title"`
	Meaning string         `json:"meaning"` // what the task said about it, as a digest
	Work    []CommitsTaken `json:"work,omitempty"`
}

// IsShownByOpenWork reports whether tests can show a story that an earlier run left unproven: if a comment asks for more,
// only tests that are known to be red there.
func (r Run) IsShownByOpenWork(story string) bool {
	began, _ := r.ProofOf(r.Open.Tree)
	_, isOpen := r.findOpen(story)
	return isOpen && (r.Task.Added == "" || !began.Passed && slices.ContainsFunc(began.Checks, CheckEnded.HasNamedFailures))
}

// AsksMore reports whether people ask for something that no earlier run worked on.
func (r Run) AsksMore() bool {
	return r.Task.Added != "" || slices.ContainsFunc(r.Plan.UserStories, func(s plan.Story) bool {
		_, isOpen := r.findOpen(s.ID)
		return !isOpen && len(r.ProvedBefore(s.ID)) == 0
	})
}

// OpenSpans returns the commits that an earlier run left unproven of a story. If no other is open, all are: people may have
// pushed a test since.
func (r Run) OpenSpans(story string) []CommitsTaken {
	open, found := r.findOpen(story)
	if found && len(r.Open.Stories) == 1 {
		return []CommitsTaken{{From: r.Open.Since, To: r.Start}}
	}
	return open.Work
}

// KnowsOpenWork reports whether it is known which tests are red only for lack of what is open of other stories.
func (r Run) KnowsOpenWork(story string) bool {
	_, isOpen := r.findOpen(story)
	if isOpen {
		return len(r.Open.Stories) == 1
	}
	return len(r.Open.Stories) == 0 || r.Open.Tree != ""
}

// findOpen returns the work that an earlier run left unproven of a story, if people still ask for the same.
func (r Run) findOpen(story string) (OpenStory, bool) {
	here, _ := r.Plan.Find(story)
	at := slices.IndexFunc(r.Open.Stories, func(o OpenStory) bool { return o.Title == here.Title && o.Meaning == r.Task.Meaning(here, r.Plan) })
	if at < 0 {
		return OpenStory{}, false
	}
	return r.Open.Stories[at], true
}

// ProvesAnother reports whether a test, or a file of tests, of an earlier run's open work proved another story there.
func (r Run) ProvesAnother(story, test string) bool {
	here, _ := r.Plan.Find(story)
	return slices.ContainsFunc(r.Open.Proved, func(p Proven) bool { return p.Request != here.Title && slices.Contains(p.Tests, test) })
}
