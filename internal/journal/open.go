package journal

import "slices"

// OpenWork is work that is not proven.
type OpenWork struct {
	Since   string      `json:"since"` // the newest commit before it
	Stories []OpenStory `json:"open"`
	Work    []StoryWork `json:"work,omitempty"`   // on these, in order
	Tree    string      `json:"tree,omitempty"`   // of Start: what passes there shows nothing of what people ask for besides
	Proved  []Proven    `json:"proved,omitempty"` // stories, by title, that are proven by tests beside it
	Judges  []Joined    `json:"judges,omitempty"` // what of it hid nothing, with what people changed since: the last one judges, too
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

// OpenSpans returns the commits that an earlier run left unproven of a story, and what people pushed since if no other is
// open: it may be a test of this one.
func (r Run) OpenSpans(story string) []CommitsTaken {
	spans, isOpen := r.openWork(story)
	if !isOpen {
		return nil
	}
	for _, ground := range r.Grounds {
		if len(r.Open.Stories) == 1 && ground.With == r.Start {
			spans = append(spans, CommitsTaken{From: ground.From, To: ground.With})
		}
	}
	return spans
}

// StartProof returns the results of the checks on what the run began with, also on what an earlier one left open.
func (r Run) StartProof() (Proof, bool) {
	if len(r.Open.Stories) == 0 {
		return r.OntoProof()
	}
	return r.ProofOf(r.Open.Tree)
}

// Unclear returns what people changed where the checks do not tell which tests pass, each with what they changed later: what
// was proven before judges without it, too.
func (r Run) Unclear() (all [][]Joined) {
	for _, changes := range [][]Joined{r.Grounds, r.Open.Judges} {
		for i, ground := range changes {
			proof, known := r.ProofOf(ground.Onto.Tree)
			if known && !proof.TellsTests() && ground.SoundTree != "" && ground.Sound != r.Base {
				all = append(all, changes[i:])
			}
		}
	}
	return all
}

// openWork returns the commits that an earlier run left unproven of a story, and whether people still ask for the same.
func (r Run) openWork(story string) (work []CommitsTaken, isOpen bool) {
	here, _ := r.Plan.Find(story)
	for _, span := range r.Open.Work {
		if span.Title == here.Title {
			work = append(work, CommitsTaken{From: span.From, To: span.To})
		}
	}
	return work, slices.Contains(r.Open.Stories, OpenStory{Title: here.Title, Meaning: r.Task.Meaning(here, r.Plan)})
}

// ProvesAnother reports whether a test, or a file of tests, of an earlier run's open work proved another story there.
func (r Run) ProvesAnother(story, test string) bool {
	here, _ := r.Plan.Find(story)
	return slices.ContainsFunc(r.Open.Proved, func(p Proven) bool { return p.Request != here.Title && slices.Contains(p.Tests, test) })
}
