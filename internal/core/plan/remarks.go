package plan

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/lib/clean"
	"github.com/ralph-loop/ralph/internal/lib/jsontree"
)

// SourceReview is for stories from the remarks on a pull request.
const SourceReview Source = "review"

// Remark is a requested change of a pull request: a comment, a review's text, or a red check.
type Remark struct {
	Thread int64  `json:"thread,omitempty"` // id of its first comment; 0: not on a line
	Path   string `json:"path,omitempty"`
	Line   int    `json:"line,omitempty"`
	By     string `json:"by,omitempty"` // empty: a check
	Text   string `json:"text"`
	ID     int64  `json:"id,omitempty"` // of the comment
}

const maxRemark = 400 // characters in a criterion; the context has the whole remark

// Criterion returns the remark as a criterion of a story.
func (r Remark) Criterion() string {
	text := jsontree.Clip(strings.Join(strings.Fields(r.Text), " "), maxRemark)
	switch {
	case r.By == "":
		return text
	case r.Path == "":
		return fmt.Sprintf("%s (review by %s)", text, r.By)
	}
	return fmt.Sprintf("`%s`: %s (%s)", r.where(), text, r.By)
}

// where returns the file and line, without characters that end a code span.
func (r Remark) where() string {
	if r.Line == 0 {
		return r.file()
	}
	return fmt.Sprintf("%s:%d", r.file(), r.Line)
}

func (r Remark) file() string { return strings.ReplaceAll(clean.OneLine(r.Path), "`", "'") }

// groupTitle returns the same title for all remarks of one story.
func (r Remark) groupTitle() string {
	switch {
	case r.Path != "":
		return r.file()
	case r.By != "":
		return "Review by " + r.By
	}
	return "Red checks"
}

// CanBeAnswered reports whether the story has remarks of people. Then an answer can complete it.
func (t Task) CanBeAnswered(story Story) bool {
	return slices.ContainsFunc(t.Remarks, func(r Remark) bool {
		return r.By != "" && slices.Contains(story.AcceptanceCriteria, r.Criterion())
	})
}

// reviewPlan makes a story for the remarks on each file, one for the review and one for the checks.
func (t Task) reviewPlan() (Plan, Source, error) {
	p := Plan{
		Project:     clean.OneLine(t.Repo),
		Description: joinParagraphs(clean.OneLine(clean.Visible(t.Title)), clean.Visible(t.Body)),
	}
	var topics []string
	for _, r := range t.Remarks {
		at := slices.Index(topics, r.groupTitle())
		if at < 0 {
			at = len(topics)
			topics = append(topics, r.groupTitle())
			p.UserStories = append(p.UserStories, Story{
				ID:       fmt.Sprintf("US-%03d", at+1),
				Title:    jsontree.Clip(r.groupTitle()+": "+clean.OneLine(r.Text), 72),
				Priority: at + 1,
			})
		}
		story := &p.UserStories[at]
		if !slices.Contains(story.AcceptanceCriteria, r.Criterion()) {
			story.AcceptanceCriteria = append(story.AcceptanceCriteria, r.Criterion())
		}
	}
	if _, err := p.Marshal(); err != nil {
		return Plan{}, SourceReview, fmt.Errorf("%s: %w", t, err)
	}
	return p, SourceReview, nil
}

// compareRemarks sorts remarks by file and line, then a review's own text, then checks.
func compareRemarks(a, b Remark) int {
	rank := func(r Remark) int {
		switch {
		case r.Path != "":
			return 0
		case r.By != "":
			return 1
		}
		return 2
	}
	return cmp.Or(rank(a)-rank(b), strings.Compare(a.Path, b.Path), a.Line-b.Line)
}

// isSameRemark reports whether two remarks ask for the same.
func isSameRemark(a, b Remark) bool {
	a.ID, b.ID = 0, 0
	return a == b
}

// WithRemarks returns the task with the remarks in order.
func (t Task) WithRemarks(remarks []Remark) Task {
	t.Remarks = slices.SortedStableFunc(slices.Values(remarks), compareRemarks)
	return t
}

// The limits for runs on red checks of one head, and of one pull request.
const (
	MaxOfHead = 3
	MaxOfPull = 5
)

// Attempts counts the runs for red checks of one pull request.
type Attempts struct {
	Head   string `json:"head"` // the newest head with red checks
	OfHead int    `json:"of_head"`
	OfPull int    `json:"of_pull"`
}

// Next counts one more run on head. ok is false if the limit is exceeded.
func (a Attempts) Next(head string) (next Attempts, ok bool) {
	if a.Head != head {
		a.Head = head
		a.OfHead = 0
	}
	a.OfHead++
	a.OfPull++
	return a, a.OfHead <= MaxOfHead && a.OfPull <= MaxOfPull
}

// SourceUpdate is for a task that only asks to merge the base branch.
const SourceUpdate Source = "update"

// updatePlan returns the plan of such a task. ralph itself merges, so the only story passes.
func (t Task) updatePlan() Plan {
	return Plan{
		Project:     clean.OneLine(t.Repo),
		Description: clean.OneLine(clean.Visible(t.Title)),
		UserStories: []Story{{
			ID:                 "US-001",
			Title:              "update the branch",
			AcceptanceCriteria: []string{"The branch holds the newest commit of its base branch."},
			Priority:           1,
			Passes:             true,
			Notes:              "The program merges the base branch.",
		}},
	}
}

// WithMerge adds a story for a merge that the agent has to finish, or replaces the story with that id.
func (p Plan) WithMerge(id, base, branch string, files []string) (Plan, string) {
	names := make([]string, 0, len(files))
	for _, name := range files {
		names = append(names, "`"+strings.ReplaceAll(clean.OneLine(name), "`", "'")+"`")
	}
	story := Story{
		ID:        id,
		Title:     clean.OneLine(fmt.Sprintf("merge %s into %s", base, branch)),
		NeedsTest: new(false),
		Description: "The program has begun this merge and committed it. These files hold conflict markers of " +
			"both sides: " + strings.Join(names, ", ") + ". " +
			"Resolve each so that it keeps what both sides are for, and commit. Do not merge again, and do " +
			"not rewrite history: the program makes the merge commit.",
		AcceptanceCriteria: []string{"No file holds conflict markers.", "What each side changed still works."},
	}
	p.UserStories = slices.Clone(p.UserStories)
	for _, other := range p.UserStories {
		story.Priority = max(story.Priority, other.Priority+1)
	}
	if at := slices.IndexFunc(p.UserStories, func(s Story) bool { return id != "" && s.ID == id }); at >= 0 {
		p.UserStories[at] = story
		return p, id
	}
	p.UserStories = append(p.UserStories, story)
	numberStories(p.UserStories)
	return p, p.UserStories[len(p.UserStories)-1].ID
}
