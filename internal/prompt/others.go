package prompt

import (
	"strings"
	"time"

	"github.com/ralph-loop/ralph/internal/clean"
	"github.com/ralph-loop/ralph/internal/plan"
)

// others is what people said of the task, each fenced, under a line that says
// whose it is.
func others(t plan.Task) []string {
	var all []string
	for _, said := range t.Context {
		var head []string
		if said.Author != "" {
			head = append(head, clean.Inline(said.Author, 60))
		}
		if !said.At.IsZero() {
			head = append(head, said.At.UTC().Format(time.DateTime))
		}
		if said.Where != "" {
			head = append(head, "`"+strings.ReplaceAll(line(said.Where), "`", "'")+"`")
		}
		parts := []string{strings.Join(head, ", ") + ":"}
		if said.Hunk != "" {
			parts = append(parts, clean.Fence(said.Hunk))
		}
		all = append(all, strings.Join(append(parts, clean.Fence(said.Text)), "\n\n"))
	}
	return all
}
