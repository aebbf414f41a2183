package journal

import (
	"slices"

	"github.com/ralph-loop/ralph/internal/plan"
)

// OpenWork is work that is not proven.
type OpenWork struct {
	Since   string      `json:"since"` // the newest commit before it
	Stories []OpenStory `json:"open"`
	Work    []StoryWork `json:"work,omitempty"`   // on these, in order
	Tree    string      `json:"tree,omitempty"`   // of Start, if people ask for more: what passes there shows nothing of that
	Proved  []Proven    `json:"proved,omitempty"` // stories, by title, that are proven by tests beside it
}

// OpenStory is a story whose work is not proven.
type OpenStory struct {
	Title   string `json:"title"`
	Meaning string `json:"meaning"` // what the task said about it, as a digest
}

// StoryWork are commits of an iteration.
type StoryWork struct {
	Title string `json:"title"`
	From  string `json:"from"`
	To    string `json:"to"`
}

// IsShownByOpenWork reports whether tests can show a story that an earlier run left unproven: if a comment asks for more,
// only tests that are known to be red there.
func (r Run) IsShownByOpenWork(story string) bool {
	began, _ := r.ProofOf(r.Open.Tree)
	_, isOpen := r.openWork(story)
	return isOpen && (r.Task.Added == "" || !began.Passed && slices.ContainsFunc(began.Checks, CheckEnded.HasNamedFailures))
}

// AsksMore reports whether people ask for something that no earlier run worked on.
func (r Run) AsksMore() bool {
	return r.Task.Added != "" || slices.ContainsFunc(r.Plan.UserStories, func(s plan.Story) bool {
		_, isOpen := r.openWork(s.ID)
		return !isOpen && len(r.ProvedBefore(s.ID)) == 0
	})
}

// OpenSpans returns the commits that an earlier run left unproven of a story, and what people pushed since if no other is
// open: it may be a test of this one.
func (r Run) OpenSpans(story string) []CommitsTaken {
	spans, found := r.openWork(story)
	for _, ground := range r.Grounds {
		if found && len(r.Open.Stories) == 1 && ground.With == r.Start {
			spans = append(spans, CommitsTaken{From: ground.From, To: ground.With})
		}
	}
	return spans
}

// KnowsOpenWork reports whether it is known which tests are red only for lack of open work, or of what was proven after it.
func (r Run) KnowsOpenWork(story string) bool {
	_, isOpen := r.openWork(story)
	return len(r.Open.Stories) == 0 || !isOpen && r.Open.Tree != ""
}

// openWork returns the commits that an earlier run left unproven of a story, if people still ask for the same.
func (r Run) openWork(story string) (work []CommitsTaken, isOpen bool) {
	here, _ := r.Plan.Find(story)
	if !slices.Contains(r.Open.Stories, OpenStory{Title: here.Title, Meaning: r.Task.Meaning(here, r.Plan)}) {
		return nil, false
	}
	for _, span := range r.Open.Work {
		if span.Title == here.Title {
			work = append(work, CommitsTaken{From: span.From, To: span.To})
		}
	}
	return work, true
}

// ProvesAnother reports whether a test, or a file of tests, of an earlier run's open work proved another story there.
func (r Run) ProvesAnother(story, test string) bool {
	here, _ := r.Plan.Find(story)
	return slices.ContainsFunc(r.Open.Proved, func(p Proven) bool { return p.Request != here.Title && slices.Contains(p.Tests, test) })
}
