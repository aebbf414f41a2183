package prompt

import (
	"fmt"
	"strings"

	"github.com/ralph-loop/ralph/internal/clean"
	"github.com/ralph-loop/ralph/internal/plan"
)

// Change is what a second opinion is of.
type Change struct {
	Diff string
	Cut  bool // there is more of it
}

// Review asks another agent for its opinion of a story.
func Review(story plan.Story, change Change) (string, error) {
	story = told(story)
	var criteria []string
	for i, criterion := range story.AcceptanceCriteria {
		criteria = append(criteria, fmt.Sprintf("%d. %s", i+1, criterion))
	}
	var text strings.Builder
	err := texts().ExecuteTemplate(&text, "review.md", struct {
		Story    plan.Story
		Criteria []string
		Diff     string
		Cut      bool
	}{story, criteria, clean.Fence(change.Diff), change.Cut})
	if err != nil {
		return "", fmt.Errorf("write the review's prompt: %w", err)
	}
	return text.String(), nil
}
