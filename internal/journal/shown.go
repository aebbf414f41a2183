package journal

import (
	"strings"
	"unicode"

	"github.com/ralph-loop/ralph/internal/plan"
)

// Shown is, for each criterion of a story, the test that the agent names for it
// as far as that went from red to green; empty where nothing bears its word out.
func (r Run) Shown(story plan.Story) []string {
	shown := make([]string, len(story.AcceptanceCriteria))
	graded, _ := r.GradeOf(story.ID)
	for i, named := range story.TestedBy[:min(len(story.TestedBy), len(shown))] {
		shown[i] = Named(graded.Tests, named)
	}
	return shown
}

// calls tells whether a name is a test's: all of it, or its end, as runners put
// files, packages and classes before it.
func calls(test, name string) bool {
	before, is := strings.CutSuffix(test, strings.TrimSpace(name))
	if !is || len(before) == len(test) {
		return false
	}
	runes := []rune(before)
	return len(runes) == 0 || !unicode.IsLetter(runes[len(runes)-1]) && !unicode.IsDigit(runes[len(runes)-1]) && runes[len(runes)-1] != '_'
}
