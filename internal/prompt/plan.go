package prompt

import (
	"fmt"
	"strings"

	"github.com/ralph-loop/ralph/internal/clean"
	"github.com/ralph-loop/ralph/internal/journal"
)

// Plan asks an agent to make a plan of what was asked. What was wrong with its
// last one it is told.
func Plan(run journal.Run) (string, error) {
	wrong := ""
	if n := len(run.Misplans); n > 0 {
		wrong = clean.Fence(run.Misplans[n-1])
	}
	var text strings.Builder
	err := texts().ExecuteTemplate(&text, "plan.md", struct {
		page
		Wrong string
	}{page{Checks: commands(run), Said: said(run.Said), Task: task(run.Task), Others: others(run.Task)}, wrong})
	if err != nil {
		return "", fmt.Errorf("write the plan's prompt: %w", err)
	}
	return strings.TrimSpace(text.String()) + "\n", nil
}
