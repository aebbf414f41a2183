package view

import (
	"fmt"
	"strconv"
	"strings"
	"sync"
	"text/template"

	"github.com/ralph-loop/ralph/internal/clean"
	"github.com/ralph-loop/ralph/internal/journal"
	"github.com/ralph-loop/ralph/internal/plan"
	"github.com/ralph-loop/ralph/internal/policy"
	"github.com/ralph-loop/ralph/templates"
)

// Archived is a loop that is put away, for those who come upon it later.
type Archived struct {
	Name    string
	Plan    plan.Plan // as people and agents left it
	Started string    // a date; empty where nobody wrote it down
	Date    string
	Run     *journal.Run // the newest one of the plan; nil where there is none
}

var archived = sync.OnceValue(func() *template.Template {
	return template.Must(template.New("summary.md").Funcs(template.FuncMap{
		"cell":     func(s string) string { return clean.Inline(s, 160) },
		"code":     func(s string) string { return Code(s, 160) },
		"headline": func(r *journal.Run) string { return headline(*r) },
		"plural":   plural,
		"spent":    spent,
		"time":     func(r *journal.Run) string { return policy.Short(r.Now.Sub(r.Began)) },
	}).ParseFS(templates.Files, "archive/summary.md"))
})

// Summary is what summary.md says.
func (a Archived) Summary() (string, error) {
	var text strings.Builder
	if err := archived().Execute(&text, shelf{a, a.stories()}); err != nil {
		return "", fmt.Errorf("write summary: %w", err)
	}
	return blank(text.String()), nil
}

// Done counts the stories that the plan calls passed.
func (a Archived) Done() int { return len(a.Plan.UserStories) - len(a.Plan.Open()) }

// shelf is what the summary is filled in with.
type shelf struct {
	Archived
	Stories []kept
}

// kept is a story of the plan, with what the run spent on it.
type kept struct {
	plan.Story
	Iterations string // or a dash
	Cost       string
}

func (a Archived) stories() []kept {
	all := make([]kept, 0, len(a.Plan.UserStories))
	for _, s := range a.Plan.UserStories {
		k := kept{Story: s, Iterations: "–", Cost: "–"}
		if a.Run != nil {
			told := tell(*a.Run, s)
			k.Iterations, k.Cost = strconv.Itoa(told.Iterations), told.Cost
		}
		all = append(all, k)
	}
	return all
}
