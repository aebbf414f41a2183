package plan

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/jsontree"
)

// SourceReview is for stories made of what people said of a pull request.
const SourceReview Source = "review"

// Remark is one thing that people want changed in a pull request: a comment in a
// thread, a review's own words, or a check that is to pass.
type Remark struct {
	Thread int64  `json:"thread,omitempty"` // its first comment; 0: it stands on no line
	Path   string `json:"path,omitempty"`
	Line   int    `json:"line,omitempty"`
	By     string `json:"by,omitempty"` // empty: a check says it
	Text   string `json:"text"`

	Suggestion Suggestion `json:"suggestion,omitzero"`
}

// Suggestion is what a reviewer wants lines of a file to be.
type Suggestion struct {
	Commit string `json:"commit"` // whose file has these lines
	From   int    `json:"from"`
	To     int    `json:"to"`
	Text   string `json:"text"` // empty: the lines are to go
	ByID   int64  `json:"by_id,omitempty"`
	Made   string `json:"made,omitempty"` // the commit that applied it, as it is
}

// maxRemark is how much of a remark stands in a criterion. All of it is in the
// context.
const maxRemark = 400

// Criterion is the remark as a criterion of a story.
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

// where is the line, in words that cannot end a code span: files are called what
// somebody likes.
func (r Remark) where() string {
	where := r.file()
	if r.Line != 0 {
		where = fmt.Sprintf("%s:%d", where, r.Line)
	}
	return where
}

func (r Remark) file() string { return strings.ReplaceAll(oneLine(r.Path), "`", "'") }

// groupTitle is what the remarks of one story have in common.
func (r Remark) groupTitle() string {
	switch {
	case r.Suggestion != Suggestion{}:
		return fmt.Sprintf("Suggestion by %s for %s", r.By, r.where())
	case r.Path != "":
		return r.file()
	case r.By != "":
		return "Review by " + r.By
	}
	return "Red checks"
}

// CanBeAnswered tells whether people asked for a story who can be answered instead: it
// is about their remarks and not about a check.
func (t Task) CanBeAnswered(story Story) bool {
	return slices.ContainsFunc(t.Remarks, func(r Remark) bool {
		return r.By != "" && slices.Contains(story.AcceptanceCriteria, r.Criterion())
	})
}

// reviewPlan is a plan with one story for the remarks on each file, one for the
// review's own words, and one for the checks.
func (t Task) reviewPlan() (Plan, Source, error) {
	p := Plan{Project: oneLine(t.Repo), Description: joinParagraphs(oneLine(normalize(t.Title)), normalize(t.Body))}
	var topics []string
	for _, r := range t.Remarks {
		at := slices.Index(topics, r.groupTitle())
		if at < 0 {
			at, topics = len(topics), append(topics, r.groupTitle())
			p.UserStories = append(p.UserStories, Story{
				ID: fmt.Sprintf("US-%03d", at+1), Title: jsontree.Clip(r.groupTitle()+": "+oneLine(r.Text), 72), Priority: at + 1,
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

// compareRemarks has remarks on lines first, by file and line, then a review's words, then
// checks: a story that is answered last can build on the others.
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

// WithSuggestion is the plan where a suggestion was applied as it is, which is all that its
// story asks for.
func (p Plan) WithSuggestion(r Remark) Plan {
	p.UserStories = slices.Clone(p.UserStories)
	for i, story := range p.UserStories {
		if slices.Contains(story.AcceptanceCriteria, r.Criterion()) && len(story.AcceptanceCriteria) == 1 {
			p.UserStories[i].Passes, p.UserStories[i].Notes = true, fmt.Sprintf("Applied as suggested in %.7s.", r.Suggestion.Made)
		}
	}
	return p
}

// isSameRemark compares what was said, and not what came of it.
func isSameRemark(a, b Remark) bool {
	a.Suggestion.Made, b.Suggestion.Made = "", ""
	return a == b
}

// WithRemarks is the task with what people want changed.
func (t Task) WithRemarks(remarks []Remark) Task {
	t.Remarks = slices.SortedStableFunc(slices.Values(remarks), compareRemarks)
	return t
}
